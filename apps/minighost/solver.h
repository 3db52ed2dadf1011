/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solver.h
 *  Internals of the libmeta solver: solve.c, overlap.c for --overlap, and solve_move.c for uneven
 *  blocks. */
#ifndef SOLVER_H
#define SOLVER_H

#include "kernel.h"
#include "meta_comm.h"
#include "solve.h"

struct solver {
    const problem *p;
    kernel kernel;
    meta_halo halo;
    void **grid, **next;
    bool split;   /**< the inner part is computed while ghost cells travel */
    void *pieces; /**< then: the sums of the parts, some for each variable */
};

/** Collective. The plan of the block's exchange. */
void solver_create_halo(solver *s);
/** Queue the sums of the cells at the domain's sides, of @p count variables from @p v on. */
void solver_sum_sides(const solver *s, int v, int count, void *sums);
/** The new values are the values now. */
void solver_swap(solver *s);

/** Find out whether a step is better done in parts, on this rank. Notes a failure. */
void overlap_create(solver *s);
/** A step of all variables in parts. */
void overlap_step(solver *s, const bool *summed, void *sums);

#endif
