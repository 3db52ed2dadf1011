/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fetch.h
 *  When a stencil requests memory ahead of its use. Processors do so by themselves, but begin anew
 * at each row and page of a grid, and follow only so many streams. Where a call's operands are in a
 * core's own cache, requests take time and bring nothing; where they are in memory, a stencil may
 * take a third less. Which of both holds is told by the reuse distance: the bytes that calls have
 * touched since an operand was last used (R. L. Mattson et al., Evaluation techniques for storage
 * hierarchies, IBM Systems Journal 9, 1970). Beyond a core's cache it depends on the machine what
 * is faster, so the first calls of each kernel and distance try both ways. */
#ifndef META_OPENMP_FETCH_H
#define META_OPENMP_FETCH_H

#include "openmp.h"

/** Count a call that touches @p bytes. @return the bytes that calls have touched since the operand
 *  that was not used for longest was used; at least @p bytes */
meta_i64 fetch_distance(const meta_call *call, meta_i64 bytes);
/** Count a copy of @p bytes between a buffer and other memory. */
void fetch_copied(meta_i64 bytes);

/** How a stencil's call is run, and what it takes if both ways are still tried. */
typedef struct fetch_trial {
    int fetches;           /**< whether memory is requested ahead */
    struct fetch_pace *of; /**< NULL: it is known what is faster */
    const meta_call *call;
    uint64_t begin;
} fetch_trial;

/** Before a stencil runs on @p threads; @p distance is that of the call. */
fetch_trial fetch_begin(const meta_call *call, meta_i64 distance, int threads);
/** After it. */
void fetch_end(const fetch_trial *trial);

#endif
