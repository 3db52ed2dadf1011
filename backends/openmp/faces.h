/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces.h
 *  The order in which a thread moves its share of a face, an edge or any other strided space. What
 *  lies side by side in both operands is a run of bytes; runs are moved by a loop that is made for
 *  their length and knows nothing but two steps, so that no index is computed for an element. */
#ifndef META_OPENMP_FACES_H
#define META_OPENMP_FACES_H

#include "meta_backend.h"

/** Runs in two nested loops, the first the inner one; steps are in bytes. Operand 0 is written. */
typedef struct faces_block {
    char *to,
        *also_to; /**< also: of a second space with the same loops; NULL where there is none */
    const char *from, *also_from;
    meta_i64 bytes; /**< of a run */
    meta_i64 count[2], to_step[2], from_step[2];
} faces_block;

/** Move the runs of a block, which do not overlap. */
typedef void faces_loop(const faces_block *block);

/** The loop for runs of so many bytes. */
typedef faces_loop *faces_loop_for(meta_i64 bytes);

/** Move a thread's share of the space in @p work, of elements of @p bytes, and run by run beside it
 *  @p also's, which is NULL or differs in nothing but where its operands are: opposite faces often
 *  lie in the same lines of memory, one's row at the end of what the other's next begins. */
void faces_move(const meta_work *work, const meta_work *also, meta_i64 bytes,
                faces_loop_for *loop_for);

/** Of @p count moves of @p launch from number @p first on, the first that gains from being made
 * beside number @p n; n itself where there is none. */
size_t faces_beside(const meta_launch *launch, size_t first, size_t count, size_t n);

#endif
