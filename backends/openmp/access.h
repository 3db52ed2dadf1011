/* SPDX-License-Identifier: BSD-3-Clause */
/** @file access.h
 *  How a kernel accesses memory: whether it requests rows ahead of their use, which processors do
 *  by themselves, but begin anew at each row and page of a grid, and follow only so many streams;
 *  and whether a stencil stores past the caches, which saves reading each line of the result first.
 *  Where a call's operands are in a core's own cache, as the reuse distance tells, both take time
 *  and bring nothing; where they are in memory, a call may take half as long. Beyond a core's cache
 *  it depends on the machine what is faster, so the first calls of each kernel and distance try all
 *  ways, and some later ones again.
 *
 *  What is packed for another process is stored past the caches where that is much faster: a cached
 *  store waits until the other process's core gives up the line, which it read last. How long that
 *  takes depends on where the two cores lie. */
#ifndef META_OPENMP_ACCESS_H
#define META_OPENMP_ACCESS_H

#include "openmp.h"

#include "reuse.h"

/** The times of a kernel's calls by each way, for each distance. */
typedef struct access_paces access_paces;

/** For a kernel of the program's; NULL: the host has no memory. Freed by free(). */
access_paces *access_paces_create(void);

/** The ways that calls may take. */
typedef struct access_ways {
    int first, last;
    double gain; /**< not 0: the first, unless the last takes less than this fraction of its time */
    const char *const *name; /**< of each way */
} access_ways;

/** How a call is run, and, if that is a trial, when it began. */
typedef struct access_trial {
    int way; /**< SWEEP_REQUESTS, SWEEP_STREAMS, both or neither; of packs FACES_PAST_CACHES or 0 */
    access_ways ways;
    struct access_pace *of; /**< where its time counts; NULL: it does not */
    const meta_call *call;  /**< or the first of several */
    meta_i64 cells;
    uint64_t begin;
} access_trial;

/** Before a stencil of floating-point elements runs on @p threads. */
access_trial access_begin(const meta_call *call, reuse_of_call reuse, int threads);
/** Before a kernel of the program's, which stores through the caches, runs on @p threads. */
access_trial access_begin_user(const meta_call *call, reuse_of_call reuse, int threads);
/** Before packs of @p cells elements in all for another process. Those of equal @p shape, a hash,
 * are compared with each other. */
access_trial access_begin_packs(const meta_call *first, meta_i64 cells, uint64_t shape);
/** After any of them. */
void access_end(const access_trial *trial);
/** The same, where what is compared took @p nanoseconds. */
void access_end_after(const access_trial *trial, uint64_t nanoseconds);

#endif
