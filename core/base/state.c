/* SPDX-License-Identifier: BSD-3-Clause */
/** @file state.c
 *  Whether the library is started, and the switches that every room reads. */
#include "base/base.h"

bool meta_check_on;
_Atomic int meta_profile_flags;

static _Atomic bool started;
static _Atomic unsigned lives;

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

meta_err meta_enter(const char *call)
{
    meta_call_name(call);
    if (!started)
        return meta_fail(META_ERR_INIT,
                         "the library is not started: call meta_init() or "
                         "meta_comm_init() first%s",
                         lives > 0 ? " (it was finalised)" : "");
    return META_OK;
}
