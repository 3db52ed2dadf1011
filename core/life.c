/* SPDX-License-Identifier: BSD-3-Clause */
/** @file life.c
 *  Starting and ending the library: the order of the rooms, and the hooks that connect them. */
#include "auto/auto.h"
#include "cache/cache.h"
#include "check/check.h"
#include "ops/ops.h"
#include "record/record.h"

/* Protects the transitions between the states; never held while callbacks may run. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool ending; /* a thread is in meta_finalize() */

/* The state of each room in a device, and what rooms add to those below them. */
static const meta_device_part parts[] = {
    {meta_pool_open, meta_pool_close},
    {meta_kernels_open, meta_kernels_close},
    {NULL, meta_workspace_close},
    {NULL, meta_exact_close},
    {meta_record_open, meta_record_close},
    {NULL, NULL},
};
static const meta_memory_hooks memory_hooks = {
    .guard_bytes = meta_check_guard,
    .made = meta_check_made,
    .gone = meta_check_gone,
    .freed = meta_exact_forget,
    .reclaim = meta_quarantine_some,
    .verify = meta_check_all,
    .pin = meta_auto_pin,
    .unpin = meta_auto_unpin,
    .pinned = meta_auto_pinned,
};

static meta_err start(void)
{
    if (ending) return meta_fail(META_ERR_STATE, "the library is being finalised");
    if (meta_started()) return meta_fail(META_ERR_STATE, "the library is started already");
    meta_device_parts = parts;
    meta_buffer_hooks = &memory_hooks;
    meta_automatic = &meta_auto_plugin;
    META_TRY(meta_env_read());
    META_TRY(meta_jit_read());
    META_TRY(meta_threads_read());
    META_TRY(meta_check_read());
    meta_observe(META_OBSERVER_CHECK, meta_checked() ? meta_compare_work : NULL);
    META_TRY(meta_pool_read());
    META_TRY(meta_job_read());
    META_TRY(meta_auto_read());
    META_TRY(meta_reproducible_read());
    META_TRY(meta_profile_read());
    meta_kernels_report_refused();
    meta_started_set(true);
    return META_OK;
}

meta_err meta_init(void)
{
    meta_err error;
    meta_call_name(__func__);
    META_TRY(meta_calls_prepare());
    pthread_mutex_lock(&lock);
    error = start();
    pthread_mutex_unlock(&lock);
    return error;
}

meta_err meta_finalize(void)
{
    meta_err error = META_OK;
    const meta_hooks *comm;
    const bool is_inner = meta_in_call();
    META_ENTER();
    pthread_mutex_lock(&lock);
    if (ending) error = meta_fail(META_ERR_STATE, "the library is being finalised already");
    else if (is_inner)
        error = meta_fail(META_ERR_STATE, "a function that the library called cannot end it: call "
                                          "meta_finalize() when the call has returned");
    else ending = true;
    pthread_mutex_unlock(&lock);
    META_TRY(error);
    meta_calls_refuse();
    if ((comm = meta_hooks_get())) comm->finalize();
    meta_hooks_set(NULL);
    meta_calls_wait();
    error = meta_devices_finish();
    if (error == META_OK) error = meta_check_all();
    meta_progress();
    meta_profile_end();
    meta_events_forget();
    meta_leaks_release();
    meta_quarantine_release();
    meta_devices_forget();
    meta_backends_close();
    meta_registry_forget();
    meta_job_forget();
    pthread_mutex_lock(&lock);
    meta_started_set(false);
    ending = false;
    pthread_mutex_unlock(&lock);
    meta_log_open();
    return error;
}

meta_err meta_version(int *major, int *minor, int *patch)
{
    if (major) *major = META_VERSION_MAJOR;
    if (minor) *minor = META_VERSION_MINOR;
    if (patch) *patch = META_VERSION_PATCH;
    return META_OK;
}
