/* SPDX-License-Identifier: BSD-3-Clause */
/** @file times.h
 *  Learned times of kernels, by kernel, element type, device and number of cells. */
#ifndef META_TIMES_H
#define META_TIMES_H

#include <stdint.h>

typedef struct meta_times meta_times;

/** NULL: memory is out. */
meta_times *meta_times_new(int devices);
void meta_times_free(meta_times *times);
/** The number of a kernel for an element type; -1: memory is out. */
int meta_times_kernel(meta_times *times, const char *name, uint32_t type);
/** A run over @p cells cells, which moved @p bytes bytes at least, took @p seconds. */
void meta_times_add(meta_times *times, int kernel, int device, uint64_t cells, uint64_t bytes,
                    double seconds);

/** What an expectation rests on. */
typedef enum meta_time_basis {
    META_TIME_BOUND,  /**< no run of the kernel there: the bytes, at twice the device's best rate */
    META_TIME_FITTED, /**< runs over other numbers of cells */
    META_TIME_SAMPLED /**< runs over about as many */
} meta_time_basis;
/** Expected seconds of a run. */
double meta_times_expect(const meta_times *times, int kernel, int device, uint64_t cells,
                         uint64_t bytes, meta_time_basis *basis);
/** Seconds of a run at the best rate ever seen over about as many cells, and at the rate seen last;
 *  0: none was. */
double meta_times_best(const meta_times *times, int kernel, int device, uint64_t cells);
double meta_times_last(const meta_times *times, int kernel, int device, uint64_t cells);
/** How many runs over about @p cells cells are known, at most 255. */
uint32_t meta_times_samples(const meta_times *times, int kernel, int device, uint64_t cells);

#endif
