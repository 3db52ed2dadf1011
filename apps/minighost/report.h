/* SPDX-License-Identifier: BSD-3-Clause */
/** @file report.h
 *  The report of a run: printed by rank 0, and complete in the --json file. */
#ifndef REPORT_H
#define REPORT_H

#include "balance.h"
#include "checkpoint.h"
#include "json.h"
#include "perf.h"
#include "problem.h"
#include "snapshots.h"

typedef struct report {
    const problem *p;
    bool first; /**< this is rank 0, which prints */
    json j;     /**< its stream is NULL if there is no --json */
    char *text; /**< that stream's memory */
    size_t size;
    bool listing; /**< in its array of time steps */
} report;

/** The check of one variable: what should be there, and what is. */
typedef struct balance {
    double source, sum, flux, error;
} balance;

/** The error of a grid's sum and what flowed out, relative to the source total where that is not 0.
 */
void report_balance(balance *b, double source, double sum, double flux);

/** Collective. Begin with what is computed, from a checkpoint where @p from is not NULL, and the
 *  table of ranks. Failures are noted. */
void report_begin(report *r, const problem *p, const checkpoint *from);
/** Write the file of --json where @p complete, and free everything. Failures are noted. */
void report_end(report *r, bool complete);

void report_columns(report *r);
/** After time step @p step (1 …) of round @p round (1 …). */
void report_step(report *r, int round, int64_t step, int variable, const balance *b);
void report_above_tolerance(report *r, int round, int64_t step, int variable, const balance *b,
                            double tolerance);
void report_time(report *r, double seconds, int64_t steps);
/** With --balance dynamic: how often cells were moved, and the blocks where they were. */
void report_moves(report *r, const balancing *b);
/** Where any was written or could not be. */
void report_checkpoints(report *r, const checkpoints *w);
void report_snapshots(report *r, const snapshots *s);
void report_perf(report *r, const perf *f);
void report_final(report *r, int variable, const balance *b);
void report_difference(report *r, const char *path, double difference, double limit);
/** How it ended: in the file … */
void report_result(report *r, bool right);
/** … and as the last line. */
void report_verdict(const report *r, bool right);

#endif
