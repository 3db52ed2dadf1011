/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel.h
 *  The computation of a time step on one variable after its halo exchange, as --kernel selects it:
 *  libmeta's stencil with its sum in one pass over memory, or MiniGhost 1.0's three passes; and the
 *  arrays it works on. */
#ifndef KERNEL_H
#define KERNEL_H

#include "meta.h"
#include "problem.h"

typedef struct kernel {
    const problem *p;
    meta_type type;
    meta_box own;      /**< the own cells in a grid on the device */
    meta_box side[26]; /**< and those of each flux term */
    void *work;        /**< of MiniGhost 1.0's way: the array that all variables pass through */
    int threads;       /**< of plain loops over memory that is the host's; 0: libmeta computes */
} kernel;

/** Allocate on this rank's device, in the way the kernel works, an array of the problem's block for
 * each variable at @p grid, and behind them for each the one that its new values are left in;
 * MiniGhost 1.0 leaves them where they were, and has no padding. Notes a failure. */
void kernel_create(kernel *k, const problem *p, void **grid);
/** The same by parts: without arrays yet; one array; and those for new values of the arrays @p
 * grid. */
void kernel_begin(kernel *k, const problem *p);
void kernel_allocate(kernel *k, void **array);
void kernel_allocate_next(kernel *k, void *const *grid, void **next);
/** Set all cells of an array to zero, ghost cells too. */
void kernel_clear(const kernel *k, void *grid);
void kernel_free(kernel *k, void *const *grid);
/** Those for new values alone. */
void kernel_free_next(kernel *k, void *const *next);

/** Copy the block's array @p cells, with its ghost cells, to one on the device; and back. */
void kernel_put(const kernel *k, void *grid, const void *cells);
void kernel_get(const kernel *k, void *cells, const void *grid);

/** Queue it: the average of each own cell's points in @p grid, into @p next, which may be
 *  @p grid itself, and their sum to @p sum where that is not NULL. Failures are noted. */
void kernel_apply(const kernel *k, void *next, void *grid, void *sum);
/** The same in one pass, and the sums of the cells at the domain's sides to @p sides. */
void kernel_apply_and_sum(const kernel *k, void *next, const void *grid, void *sum, void *sides);
/** The same for some own cells, where libmeta computes in one pass. */
void kernel_apply_box(const kernel *k, void *next, const void *grid, const meta_box *box,
                      void *sum);

#endif
