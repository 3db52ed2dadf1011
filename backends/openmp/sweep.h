/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sweep.h
 *  Traversal of a thread's share of a grid by a stencil: cache-sized blocks, four rows at a time
 *  that are neighbours along the stencil's last dimension. A plane loaded from memory is used for
 *  four planes of results at once, and is still cached when the next four need it. (Tiling:
 *  G. Rivera and C.-W. Tseng, Tiling optimizations for 3D scientific computations, 2000;
 *  unroll-and-jam: S. Carr and K. Kennedy, Improving the ratio of memory operations to
 *  floating-point operations in loops, 1994.)
 *
 *  Rows are added to the same accumulators in the same order whichever way memory is accessed, so
 * that a sum does not depend on what was found to be faster. */
#ifndef META_OPENMP_SWEEP_H
#define META_OPENMP_SWEEP_H

#include "lang_c.h"

enum { SWEEP_ROWS = 4 };
/** Ways of accessing memory: requesting rows ahead of their use, and storing results past the
 * caches. */
enum { SWEEP_REQUESTS = 1, SWEEP_STREAMS = 2 };

/** The unit of work of a stencil: one row or SWEEP_ROWS rows, and so on with their neighbours in a
 *  plane. Strides are in elements. */
typedef struct sweep_piece {
    void *out;                    /**< first cell of the first row */
    const void *in;               /**< the same cell of the input */
    meta_i64 cells;               /**< per row */
    meta_i64 out_apart, in_apart; /**< from one row to the next: planes of a 3D stencil */
    meta_i64 out_across, across;  /**< of out and in, between neighbouring rows of a plane */
    meta_i64 times;               /**< how many neighbours */
    meta_i64 ahead;               /**< in elements, from a row to one that is requested; 0: none */
    int rows;
    int aligned; /**< 1: result rows have the same alignment, and whole cache lines are stored */
    int stream;  /**< not 0: use nontemporal stores; implies aligned */
    void *sum;   /**< NULL, or SWEEP_ROWS accumulators of the new values, of which a single row uses
                    the first */
} sweep_piece;

typedef void sweep_function(const sweep_piece *piece);

/** A stencil as sweep() sees it. */
typedef struct sweep_stencil {
    sweep_function *run; /**< computes a piece */
    /** The sum of @p cells of each of @p rows rows, @p across elements from one to the next. */
    double (*sum_of)(const void *first, meta_i64 cells, meta_i64 rows, meta_i64 across);
    int flat;     /**< 1: 2D; rows of a piece need not be neighbours */
    size_t bytes; /**< element size */
} sweep_stencil;

/** Whether all rows of a result of elements of @p bytes begin at the same place in a cache line. */
int sweep_is_aligned(const meta_space *space, meta_i64 bytes);
/** Apply @p stencil to a thread's share in @p work; @p sum becomes the pieces' accumulators. */
void sweep(const meta_work *work, const sweep_stencil *stencil, void *sum);

#endif
