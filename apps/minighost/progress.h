/* SPDX-License-Identifier: BSD-3-Clause */
/** @file progress.h
 *  A progress line on standard error: how far the run is, its speed and the remaining time. All
 *  other output erases it first. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "problem.h"

/** Begin it on this rank, where the options and the terminal say so, for @p steps time steps. */
void progress_begin(const problem *p, int64_t steps);
/** After @p done of them. Prints at most a few times a second. */
void progress_step(int64_t done, int round, int64_t step);
/** Take the line away; it comes back with the next step. Does nothing if there is none. */
void progress_clear(void);
void progress_end(void);

#endif
