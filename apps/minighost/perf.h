/* SPDX-License-Identifier: BSD-3-Clause */
/** @file perf.h
 *  Statistics for --report_perf: the time of each part of the time steps, floating-point
 *  operations and messages, over all ranks. */
#ifndef PERF_H
#define PERF_H

#include <stdio.h>

#include "json.h"
#include "laps.h"
#include "problem.h"
#include "traffic.h"

/** Of one rank. */
typedef struct perf_rank {
    double seconds, lap[LAP_COUNT];
    traffic sent; /**< in a time step */
} perf_rank;

typedef struct perf {
    const problem *p;
    int ranks, checked; /**< variables summed in each time step */
    int64_t steps;
    perf_rank *rank; /**< of all, on rank 0; NULL on the others */
} perf;

/** A figure over all ranks. */
typedef struct spread {
    double average, deviation, least, most;
} spread;

/** What a time step sends, over all ranks. */
typedef struct perf_traffic {
    double messages[WAY_KINDS + 1], cells[WAY_KINDS + 1];          /**< the last one is the sum */
    double least, most;                                            /**< cells of a message */
    double least_messages, most_messages, least_cells, most_cells; /**< of a rank */
} perf_traffic;

/** Sets of parts, a bit for each. */
#define PERF_PART(part) (1u << (part))
#define PERF_AXIS(axis) (((1u << AXIS_PARTS) - 1) << LAP_OF(axis, 0))
#define PERF_WHAT(part)                                                                            \
    (PERF_PART(LAP_OF(0, part)) | PERF_PART(LAP_OF(1, part)) | PERF_PART(LAP_OF(2, part)))
#define PERF_PLAN     (PERF_PART(LAP_START) | PERF_PART(LAP_FINISH))
#define PERF_EXCHANGE (PERF_PLAN | PERF_AXIS(0) | PERF_AXIS(1) | PERF_AXIS(2))
#define PERF_ALL      ((1u << LAP_COUNT) - 1)

/** Collective. Gather what the laps have counted in @p steps time steps of @p seconds. False, and
 *  the failure printed, if there is no room. */
bool perf_gather(perf *f, const problem *p, double seconds, int64_t steps);
void perf_free(perf *f);

/* On rank 0: */
spread perf_seconds(const perf *f);
/** Of the sum of the @p parts of each rank. */
spread perf_laps(const perf *f, unsigned parts);
/** Whether the solver exchanges axis after axis, so that it counts these parts. */
bool perf_by_axis(const perf *f);
void perf_sum_traffic(const perf *f, perf_traffic *t);
/** Floating point operations of all stencils; they are additions but for one division a cell. */
double perf_operations(const perf *f);
double perf_divisions(const perf *f);

/** As text; the lines about each rank where --report_perf is 2. */
void perf_text(const perf *f, FILE *to);
void perf_json(const perf *f, json *j);
/** With the keys of MiniGhost 1.0's results.yaml. */
void perf_yaml(const perf *f, FILE *to);
/** Note a failure if perf_files() could not write. */
void perf_check_files(void);
/** Write results.txt and results.yaml in the current folder; failures are noted. */
void perf_files(const perf *f);

#endif
