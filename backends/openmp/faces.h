/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces.h
 *  Copying a thread's share of a face, an edge or any other strided space. Bytes contiguous in both
 *  operands form a run. Runs are copied by loops specialised for their length that only add a
 *  constant step per level, so that no index is computed per element. */
#ifndef META_OPENMP_FACES_H
#define META_OPENMP_FACES_H

#include "meta_backend.h"

/** Runs in two nested loops, the inner one first; steps are in bytes. Operand 0 is written. */
typedef struct faces_block {
    char *to, *also_to; /**< also: of a second space with the same loops, or NULL */
    const char *from, *also_from;
    meta_i64 bytes; /**< per run */
    meta_i64 count[2], to_step[2], from_step[2];
} faces_block;

/** Copy the runs of a block, which must not overlap. */
typedef void faces_loop(const faces_block *block);

/** How runs are stored: the way of a copy in meta_work. */
enum { FACES_PAST_CACHES = 1 };

/** The loop specialised for runs of @p bytes that are stored in @p way. */
typedef faces_loop *faces_loop_for(meta_i64 bytes, int way);

/** Copy a thread's share of the space in @p work, with elements of @p bytes, interleaved run by run
 *  with that of @p also, which is NULL or differs only in its operands' base offsets: opposite
 *  faces often share cache lines, a row of one ending where the next row of the other begins. Both
 *  are stored in the way of @p work. */
void faces_move(const meta_work *work, const meta_work *also, meta_i64 bytes,
                faces_loop_for *loop_for);

/** The first of calls [first, first + count) of @p launch that should be interleaved with call
 * @p n because they share cache lines; n itself if there is none. */
size_t faces_beside(const meta_launch *launch, size_t first, size_t count, size_t n);

#endif
