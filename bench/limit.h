/* SPDX-License-Identifier: BSD-3-Clause */
/** @file limit.h
 *  The hardware limits that kernels are measured against: the memory bandwidth that the peer's
 *  plain copy, triad and read reach on libmeta's buffers. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include "place.h"
#include "sample.h"

/** A peer's plain memory operation, as a contender of a row. */
typedef struct plain_work {
    const place *here;
    meta_peer_work work;
    int64_t count;             /**< of doubles */
    const buffer *out, *a, *b; /**< those that the work uses */
    int arrays;                /**< one after the other, of as many buffers from each on */
} plain_work;

/** The run function of such a contender; @p with is a plain_work. */
void plain_work_run(void *with, int64_t times);

/** A copy as a limit of a row. */
typedef struct copy_limit {
    plain_work copy, copy_nt, one;
} copy_limit;
/** Add the copies of @p bytes, at least 8, from @p from to @p to as limits of @p r. */
void copy_limit_add(row *r, copy_limit *limit, const place *here, const buffer *to,
                    const buffer *from, double bytes);
/** The same of each of @p arrays buffers from @p from and @p to on. */
void copies_limit_add(row *r, copy_limit *limit, const place *here, const buffer *to,
                      const buffer *from, int arrays, double bytes);

/** Add reading @p bytes at @p from as a limit of @p r, if there is a peer that can. */
void read_limit_add(row *r, plain_work *work, const place *here, const buffer *from, double bytes);

#endif
