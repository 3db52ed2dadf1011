/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solver.h
 *  The solver with libmeta from within: solve.c, its making and its data, step.c, a time step, and
 *  solve_move.c, for blocks of any size. */
#ifndef SOLVER_H
#define SOLVER_H

#include "kernel.h"
#include "meta_comm.h"
#include "solve.h"

/** A block's own cells are computed at once, or in its inner part and up to six more. */
enum { STEP_PIECES = 7 };

struct solver {
    const problem *p;
    kernel kernel;
    meta_halo halo;
    void **grid, **next;
    bool split;   /**< the inner part is computed while ghost cells travel */
    void *pieces; /**< then: the sums of the parts, STEP_PIECES for each variable */
};

/** Collective. The plan of the block's exchange. */
void solver_create_halo(solver *s);
/** Whether a step is better done in parts, on this rank. */
bool step_is_split(const problem *p);
/** Queue the sum of a region's cells. */
void step_sum_region(const solver *s, const void *from, const region *r, void *result);
/** Queue what a time step does to variable @p v once its ghost cells are there. */
void step_compute(const solver *s, int v, bool summed, void *sums);
/** The new values are the values now. */
void step_swap_grids(solver *s);

#endif
