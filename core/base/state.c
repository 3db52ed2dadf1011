/* SPDX-License-Identifier: BSD-3-Clause */
/** @file state.c
 *  Whether the library is started, and the switches that every room reads. */
#include "base/base.h"

bool meta_check_on;
_Atomic int meta_profile_flags;

static _Atomic bool started;
static _Atomic unsigned lives;
static _Atomic int threads_barred;
static _Thread_local const char *barred; /* why this thread must not call the library; NULL */

int meta_started(void)
{
    return started;
}

void meta_started_set(bool on)
{
    if (on) ++lives;
    started = on;
}

unsigned meta_life(void)
{
    return lives;
}

void meta_bar(const char *why)
{
    if (why && !barred) atomic_fetch_add(&threads_barred, 1);
    if (!why && barred) atomic_fetch_sub(&threads_barred, 1);
    barred = why;
}

meta_err meta_enter(const char *call)
{
    meta_call_name(call);
    if (__builtin_expect(atomic_load_explicit(&threads_barred, memory_order_relaxed) > 0, 0) &&
        barred)
        return meta_fail(META_ERR_STATE, "%s", barred);
    if (!started)
        return meta_fail(META_ERR_INIT,
                         "the library is not started: call meta_init() or "
                         "meta_comm_init() first%s",
                         lives > 0 ? " (it was finalised)" : "");
    return META_OK;
}
