/* SPDX-License-Identifier: BSD-3-Clause */
/** @file faces.h
 *  The order in which a thread moves its share of a face, an edge or any other strided space. What
 *  lies side by side in both operands is a run of bytes; runs are moved by a loop that is made for
 *  their length and knows nothing but two steps, so that no index is computed for an element. */
#ifndef META_OPENMP_FACES_H
#define META_OPENMP_FACES_H

#include "lang_c.h"

/** Runs in two nested loops, the first the inner one; steps are in bytes. Operand 0 is written. */
typedef struct faces_block {
    char *to;
    const char *from;
    meta_i64 bytes; /**< of a run */
    meta_i64 count[2], to_step[2], from_step[2];
} faces_block;

/** Move the runs of a block, which do not overlap. */
typedef void faces_loop(const faces_block *block);

/** The loop for runs of so many bytes. */
typedef faces_loop *faces_loop_for(meta_i64 bytes);

/** Move a thread's share of the space in @p work, of elements of @p bytes. */
void faces_move(const meta_work *work, meta_i64 bytes, faces_loop_for *loop_for);

#endif
