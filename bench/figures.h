/* SPDX-License-Identifier: BSD-3-Clause */
/** @file figures.h
 *  What a row's samples say. Ratios are formed in each round, of what was timed side by side, and
 * their median is taken. What cannot be said is NaN. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "sample.h"

typedef struct figures {
    spread seconds;
    double gbps;
    const char *limit; /**< the fastest of the row's limits; NULL where it has none */
    double limit_gbps, fraction;
    double sector_fraction, over_raw_seconds, hidden;
    int peers;
    struct {
        const char *name;
        double ratio; /**< its time over libmeta's */
    } peer[MOST_CONTENDERS];
} figures;

/** Of a row that was sampled in @p rounds rounds. */
figures figures_of(const row *r, int rounds);

#endif
