/* SPDX-License-Identifier: BSD-3-Clause */
/** @file worker.c
 *  OpenMP computes while its caller waits. Here a thread calls it instead: what the caller would
 *  wait for is queued as a job.
 *
 *  Handing a job over takes longer than a short kernel, and the thread computes with a team of
 *  OpenMP's threads of its own. So it runs what takes long, while other devices than the cores are
 *  in use, and what is queued behind that; all other work is the caller's as without a worker. */
#include "config.h"

#include <string.h>

#include "auto/auto.h"
#include "auto/jobs.h"
#include "auto/worker.h"

/* RECENT: another device is in use if work was queued there so many calls ago. BEHIND: work of
 * others behind which the next job runs. */
enum { RECENT = 256, BEHIND = 64 };

static struct {
    const meta_auto_device *of; /* NULL: there is no worker */
    const meta_ops *real;       /* of its back end */
    meta_ops ops;
    bool is_forced, is_off; /* META_TEST_WORKER */
    bool takes;             /* what is queued next is a job */
    meta_auto_work *behind[BEHIND];
    int behinds;
} worker;

/* ------------------------------------------------------------------ in place of the back end's */

/* Whether what is queued now is a job: it was decided, or it runs behind one. */
static bool is_job(void)
{
    return worker.takes || worker.behinds > 0 || meta_jobs_left();
}

static meta_jobs_behind behind(void)
{
    return (meta_jobs_behind){worker.behind, worker.behinds};
}

/* The caller runs what is next. */
static void wait_for_all(void)
{
    meta_jobs_wait();
    while (worker.behinds > 0) {
        meta_auto_work *w = worker.behind[--worker.behinds];
        meta_auto_wait_work(w);
        meta_auto_drop(w);
    }
}

static meta_err launch(meta_plugin_queue *queue, const meta_launch *l)
{
    const meta_jobs_behind b = behind();
    if (is_job() && meta_jobs_launch(worker.real, queue, l, &b)) {
        worker.behinds = 0;
        return META_OK;
    }
    wait_for_all();
    return worker.real->launch(queue, l);
}

static meta_err copy(meta_plugin_queue *queue, const meta_copy *c)
{
    const meta_jobs_behind b = behind();
    if (is_job() && meta_jobs_copy(worker.real, queue, c, &b)) {
        worker.behinds = 0;
        return META_OK;
    }
    wait_for_all();
    return worker.real->copy(queue, c);
}

/* The worker waits for it, unless the caller runs what is queued next. */
static meta_err run_behind(meta_auto_work *w)
{
    if (w->complete || w->ops == &worker.ops) return META_OK;
    if (!(worker.takes || meta_jobs_left()) || worker.behinds == BEHIND)
        return META_ERR_UNSUPPORTED;
    worker.behind[worker.behinds++] = w;
    ++w->users;
    return META_OK;
}

/* ------------------------------------------------------------------ decisions */

meta_err meta_worker_read(void)
{
    const char *value = meta_variable("META_TEST_WORKER");
    worker.is_forced = worker.is_off = false;
    if (!value || strcmp(value, "auto") == 0) return META_OK;
    META_TRY(meta_variable_switch("META_TEST_WORKER", &worker.is_forced));
    worker.is_off = !worker.is_forced;
    return META_OK;
}

void meta_worker_open(void)
{
    meta_auto_device *cpu = NULL;
    bool others = worker.is_forced;
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_auto_device *device = &meta_auto.device[d];
        if (device->device->backend->mode == META_OPENMP) cpu = device;
        others |= !device->is_cpu;
    }
    worker.of = NULL;
    worker.takes = false;
    if (!cpu || !others || worker.is_off) return;
    worker.of = cpu;
    worker.real = cpu->ops;
    worker.ops = *cpu->ops;
    worker.ops.launch = launch;
    worker.ops.copy = copy;
    worker.ops.ticket_test = meta_jobs_ticket_test;
    worker.ops.ticket_wait = meta_jobs_ticket_wait;
    worker.ops.ticket_release = meta_jobs_release;
    worker.ops.stamp_read = meta_jobs_stamp_read;
    worker.ops.stamp_release = meta_jobs_release;
    cpu->ops = &worker.ops;
    cpu->run_behind = run_behind;
}

void meta_worker_close(void)
{
    while (worker.behinds > 0) meta_auto_drop(worker.behind[--worker.behinds]);
    meta_jobs_stop();
    worker.of = NULL;
}

bool meta_worker_has(const meta_auto_device *device)
{
    return device == worker.of;
}

/* Its team of threads is in the way of the caller's while both are there. */
static void stop_if_unused(void)
{
    enum { LONG_AGO = 16 * RECENT };
    if (meta_auto.calls - meta_auto.elsewhere > LONG_AGO && !meta_jobs_left()) meta_jobs_stop();
}

/* Whoever waits at once has nothing to do meanwhile. Checks of kernels look at the caller's calls.
 */
void meta_worker_decide(const meta_auto_device *device, uint64_t expected)
{
    if (device != worker.of) return;
    const bool in_use = meta_auto.elsewhere > 0 && meta_auto.calls - meta_auto.elsewhere < RECENT;
    const bool is_worth = in_use && !meta_waits_at_once && (double)expected >= META_WORKER_LONG;
    worker.takes = !meta_check_on && !worker.is_off && (is_worth || worker.is_forced);
    if (!worker.is_forced && !in_use) stop_if_unused();
}
