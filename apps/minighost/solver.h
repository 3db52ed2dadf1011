/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solver.h
 *  Internals of the libmeta solver: solve.c, overlap.c for --overlap, and solve_move.c for uneven
 *  blocks. */
#ifndef SOLVER_H
#define SOLVER_H

#include "kernel.h"
#include "meta_comm.h"
#include "solve.h"

/** A block's own cells are computed at once, or in its inner part and up to six more. */
enum { OVERLAP_PIECES = 7 };

struct solver {
    const problem *p;
    kernel kernel;
    meta_halo halo;
    void **grid, **next;
    bool split;   /**< the inner part is computed while ghost cells travel */
    void *pieces; /**< then: the sums of the parts, OVERLAP_PIECES for each variable */
};

/** Collective. The plan of the block's exchange. */
void solver_create_halo(solver *s);
/** Queue the sums of a variable's cells at the domain's sides. */
void solver_sum_sides(const solver *s, int v, void *sums);
/** The new values are the values now. */
void solver_swap(solver *s);

/** Whether a step is better done in parts, on this rank. */
bool overlap_pays(const problem *p);
/** A step of the variables that travel together, from @p first on, in parts. */
void overlap_step(solver *s, int first, const bool *summed, void *sums);

#endif
