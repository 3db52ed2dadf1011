/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sweep.h
 *  The order in which a thread goes over its share of a grid with a stencil: four rows at a time,
 *  neighbours along the stencil's last dimension, of a block that the cache holds. So a plane that
 *  comes from memory serves four planes of results while it is at hand, and is met again, when the
 * next four need it, in the cache. (Blocking: G. Rivera and C.-W. Tseng, Tiling optimizations for
 * 3D scientific computations, 2000; unrolling several planes and jamming them: S. Carr and K.
 * Kennedy, Improving the ratio of memory operations to floating-point operations in loops, 1994.)
 *
 *  Rows go to the same accumulators in the same order whether they are taken one by one or by four,
 * so that a sum does not depend on what stream_pays() found. */
#ifndef META_OPENMP_SWEEP_H
#define META_OPENMP_SWEEP_H

#include "lang_c.h"

enum { SWEEP_ROWS = 4 };

/** A piece of `rows` rows, one or SWEEP_ROWS, for a stencil to compute. Strides are in elements. */
typedef struct sweep_piece {
    void *out;      /**< the first row's first cell */
    const void *in; /**< where the same cell is read */
    meta_i64 cells; /**< of each row */
    meta_i64 out_apart,
        in_apart;    /**< from one of the rows to the next; of a solid stencil planes */
    meta_i64 across; /**< of in, from a row to its neighbour in dimension 1 */
    int rows;
    int aligned; /**< 1: rows of results are aligned alike, and whole lines of them are stored */
    int stream;  /**< 1: results go past the caches; they are then aligned as well */
    void *sum;   /**< NULL, or SWEEP_ROWS accumulators that new values are added to … */
    int first;   /**< … the first row's to this one, the next row's to the next */
} sweep_piece;

typedef void sweep_function(const sweep_piece *piece);

/** What a stencil is to this file. */
typedef struct sweep_stencil {
    sweep_function *run; /**< computes a piece */
    int flat;            /**< 1: of two dimensions; rows of a piece need not be neighbours */
    int shares;          /**< 1: rows of a piece share sums, not only loads */
    size_t bytes;        /**< of an element */
} sweep_stencil;

/** Whether the shared kernel, a plain loop, is the better one for @p work: where rows are not
 * aligned alike, short vectors cross fewer lines than long ones. */
int sweep_is_plain(const meta_work *work, const sweep_stencil *stencil);
/** Run @p stencil on a thread's share of the space in @p work; @p sum goes into the pieces. */
void sweep(const meta_work *work, const sweep_stencil *stencil, void *sum);

#endif
