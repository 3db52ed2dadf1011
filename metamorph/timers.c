/* SPDX-License-Identifier: BSD-3-Clause */
/** @file timers.c
 *  MetaMorph's timers, as libmeta's profile. */
#define _GNU_SOURCE /* secure_getenv() */
#include "inside.h"

#include <stdlib.h>

#include "metamorph_profiling.h"

static bool running;

/* 0 where nothing is to be printed. */
static int level_wanted(void)
{
    const char *level = secure_getenv("METAMORPH_TIMER_LEVEL");
    if (!level) return 0;
    if (level[0] >= '0' && level[0] <= '3' && !level[1]) return level[0] - '0';
    metamorph_refuse("metaTimersInit", "METAMORPH_TIMER_LEVEL is '%s': use 0, 1, 2 or 3", level);
    return 0;
}

void metamorph_timers_init(void)
{
    if (running || level_wanted() == 0) return;
    const meta_err err = meta_timers_init();
    running = err == META_OK || err == META_ERR_STATE;
    if (!running) metamorph_report("metaTimersInit", err);
}

/* Print, and discard what was measured. */
static meta_err print_and_stop(void)
{
    if (!running) return META_OK;
    running = false;
    const meta_err err = meta_timers_print(), stopped = meta_timers_finalize();
    return err != META_OK ? err : stopped;
}

metamorph_err metamorph_timers_flush(void)
{
    const bool was_running = running;
    const metamorph_err err = metamorph_report("metaTimersFlush", print_and_stop());
    if (was_running) metamorph_timers_init();
    return err;
}

metamorph_err metamorph_timers_finish(void)
{
    return metamorph_report("metaTimersFinish", print_and_stop());
}
