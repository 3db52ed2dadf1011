/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reuse.h
 *  How long ago a call's operands were used, and so which cache may still hold them. What counts is
 *  the reuse distance: the bytes that calls have touched since (R. L. Mattson et al., Evaluation
 *  techniques for storage hierarchies, IBM Systems Journal 9, 1970), not the size of one call. */
#ifndef META_OPENMP_REUSE_H
#define META_OPENMP_REUSE_H

#include "openmp.h"

typedef struct reuse_of_call {
    meta_i64 distance; /**< of the operand that was used longest ago, in bytes */
    int known;         /**< 0: an operand may never have been used, and its pages not exist yet */
} reuse_of_call;

/** Whether @p bytes are counted: fewer move little out of a cache. */
static inline int reuse_counts(meta_i64 bytes)
{
    return bytes >= 1 << 15;
}
/** Count a call that touches @p bytes, which its reuse distance is at least. */
reuse_of_call reuse_count(const meta_call *call, meta_i64 bytes);
/** Count a copy of @p bytes between a buffer and other memory. */
void reuse_copied(meta_i64 bytes);

#endif
