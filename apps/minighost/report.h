/* SPDX-License-Identifier: BSD-3-Clause */
/** @file report.h
 *  What a run prints, on rank 0. */
#ifndef REPORT_H
#define REPORT_H

#include "problem.h"

/** Collective. What is computed, and the table of ranks. */
void report_header(const problem *p);

/** The check of one variable: what should be there, and what is. */
typedef struct balance {
    double source, sum, flux, error;
} balance;

/** The error of a grid's sum and what flowed out, relative to the source total where that is not 0.
 */
void report_balance(balance *b, double source, double sum, double flux);

void report_columns(const problem *p);
/** After time step @p step (1 …) of round @p round (1 …). */
void report_step(const problem *p, int round, int64_t step, int variable, const balance *b);
void report_above_tolerance(const problem *p, int round, int64_t step, int variable,
                            const balance *b, double tolerance);
void report_time(const problem *p, double seconds, int64_t steps);
void report_final(const problem *p, int variable, const balance *b);
void report_difference(const problem *p, const char *path, double difference, double limit);
/** The last line. */
void report_verdict(const problem *p, bool right);

#endif
