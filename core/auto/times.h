/* SPDX-License-Identifier: BSD-3-Clause */
/** @file times.h
 *  Learned times of kernels, by kernel, element type, device and number of cells. */
#ifndef META_TIMES_H
#define META_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "auto/pace.h"

typedef struct meta_times meta_times;

/** Seconds of a run on a device that cannot run the kernel. */
#define META_TIME_NEVER 1e6

/** NULL: memory is out. */
meta_times *meta_times_new(int devices);
void meta_times_free(meta_times *times);
/** The number of a kernel for an element type, counted from 0 in the order of the first calls; -1:
 * memory is out. @p identity differs where two kernels of one name do. */
int meta_times_kernel(meta_times *times, const char *name, uint32_t type, uint64_t identity);
/** The newest kernel of that name for an element type; -1: there is none. */
int meta_times_find(const meta_times *times, const char *name, uint32_t type);
/** How many kernels have a number. */
int meta_times_kernels(const meta_times *times);
/** A run over @p cells cells, which moved @p bytes bytes at least, took @p seconds. */
void meta_times_add(meta_times *times, int kernel, int device, uint64_t cells, uint64_t bytes,
                    double seconds);
/** The same of a run that others may have slowed down or not: it does not count as the best one. */
void meta_times_add_unsure(meta_times *times, int kernel, int device, uint64_t cells,
                           uint64_t bytes, double seconds);

/** What an expectation rests on. */
typedef enum meta_time_basis {
    META_TIME_BOUND,  /**< no run of the kernel there: its bytes at twice the device's best rate, or
                           beyond the run that had it, at twice the rate of what longer runs add */
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

/* ------------------------------------------------------------------ from one process to the next
 */

typedef struct meta_time_run {
    double cells, seconds;
} meta_time_run;
/** Runs of a kernel on a device over numbers of cells that are within one octave. */
enum { META_TIMES_WINDOW = 7 };
typedef struct meta_time_runs {
    int device, octave, count;
    meta_time_run run[META_TIMES_WINDOW];
} meta_time_runs;

/** Keep @p most of the runs in their order: the median, and others evenly spread around it. */
void meta_times_thin(meta_time_runs *runs, int most);
/** Add runs of an earlier process, of which a few count, until this one has runs of its own. */
void meta_times_import(meta_times *times, int kernel, const meta_time_runs *runs);
/** The last runs of this process in an octave. @return false if there are none */
bool meta_times_export(const meta_times *times, int kernel, int device, int octave,
                       meta_time_runs *runs);
void meta_times_identify(const meta_times *times, int kernel, const char **name, uint32_t *type,
                         uint64_t *identity);
/** How fast a device moves bytes. */
const meta_pace *meta_times_pace(const meta_times *times, int device);
/** What an earlier process has measured of it. */
void meta_times_raise_pace(meta_times *times, int device, const meta_pace_run *one);
/** From now on nothing is learned: what was imported is known, at other numbers of cells by the
 * line through it, and where no run is known a kernel is not thought to be faster than where one
 * is. */
void meta_times_fix(meta_times *times);

#endif
