/* SPDX-License-Identifier: BSD-3-Clause */
/** @file metamorph_profiling.h
 *  MetaMorph's timers, by libmeta's profile: what METAMORPH_TIMER_LEVEL asks for is printed on the
 *  standard error stream as libmeta prints it. 0 and unset: nothing; 1 to 3: the table of all
 * kernels, copies and messages, over all ranks. META_PROFILE works as well, and prints at the end.
 */
#ifndef METAMORPH_PROFILING_H
#define METAMORPH_PROFILING_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#include "metamorph.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Start the timers; a second call does nothing. Where METAMORPH_TIMER_LEVEL is 1 to 3 they start
 * with the library. */
META_API void metamorph_timers_init(void);
/** Print what METAMORPH_TIMER_LEVEL asks for, and begin from zero. Collective with several ranks.
 */
META_API metamorph_err metamorph_timers_flush(void);
/** Print what METAMORPH_TIMER_LEVEL asks for, as metaTimersFlush() does, and stop the timers. */
META_API metamorph_err metamorph_timers_finish(void);

#ifndef METAMORPH_NO_NAMES
#define metaTimersInit   metamorph_timers_init
#define metaTimersFlush  metamorph_timers_flush
#define metaTimersFinish metamorph_timers_finish
#endif

#ifdef __cplusplus
}
#endif
#endif
