/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plan.h
 *  The halo plans to be measured: ghost cells of the same width on every side of a box. */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

#include <stdbool.h>

#include "meta_comm.h"

/** Collective. A plan for @p fields arrays with these own cells and @p ghosts round them, of faces
 * or, if @p all, edges and corners too. Notes a failure. */
void plan_create(meta_halo *plan, MPI_Comm cart, const meta_box *own, int ghosts, int fields,
                 meta_type type, bool all);
/** Free it where it was created. */
void plan_free(meta_halo *plan);
/** How many messages this rank's plans have sent so far, to itself included. */
int64_t plan_messages(void);

#endif
