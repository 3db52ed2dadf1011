/* SPDX-License-Identifier: BSD-3-Clause */
/** @file group.h
 *  The benchmark groups, one file each. */
#ifndef BENCH_GROUP_H
#define BENCH_GROUP_H

#include "options.h"
#include "place.h"
#include "sample.h"

/** A run of the program: what its groups measure with. */
typedef struct bench {
    const options *o;
    const place *here;
    int rows; /**< printed so far */
} bench;

typedef struct group {
    const char *name;
    const char *meaning; /**< for --help */
    int64_t sizes[8];    /**< measured where none are given, 0 at the end */
    int least_ranks;
    void (*run)(bench *b, int64_t size); /**< NULL: this build does not have it */
    const char *peers[8];                /**< whose ratios its rows have, NULL at the end */
    const char *extra;                   /**< a further column's name, or NULL */
} group;

/** All of them, in the order they are run. */
extern const group groups[];
extern const int group_count;

/* The runs: each prints its rows of that size. */
void memory_run(bench *b, int64_t size);
void stencil_run(bench *b, int64_t size);
void reduce_run(bench *b, int64_t size);
void pack_run(bench *b, int64_t size);
void halo_run(bench *b, int64_t size);
void dispatch_run(bench *b, int64_t size);
void schedule_run(bench *b, int64_t size);
void alloc_run(bench *b, int64_t size);
void kernels_run(bench *b, int64_t size);
void advice_run(bench *b, int64_t size);
/** Row cg of group kernels. */
void cg_run(bench *b, int64_t size);
void app_run(bench *b, int64_t size);
void euler_run(bench *b, int64_t size);
void files_run(bench *b, int64_t size);

/** An empty row called GROUP.WHAT.TYPE.SIZE. */
void row_begin(row *r, const char *name, const char *what, number type, int64_t size);
/** Collective. Time the row and print it; everything it holds is given back. */
void row_end(bench *b, row *r);
/** Collective. Whether a rank has noted why rows called GROUP.….SIZE cannot be; then it is printed.
 */
bool rows_impossible(const char *name, int64_t size);

#endif
