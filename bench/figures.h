/* SPDX-License-Identifier: BSD-3-Clause */
/** @file figures.h
 *  Statistics of a row's samples. A ratio is computed within each round, from contenders timed
 *  side by side; the median of the ratios is reported. An undefined figure is NaN. */
#ifndef BENCH_FIGURES_H
#define BENCH_FIGURES_H

#include "sample.h"

typedef struct figures {
    spread seconds;
    double gbps;
    const char *limit; /**< the fastest of the row's limits; NULL where it has none */
    double limit_gbps, fraction;
    double sector_fraction, over_raw_seconds, over_fixed_seconds, hidden;
    spread peer_seconds; /**< of the first peer, where the row says so */
    int peers;
    struct {
        const char *name;
        double ratio; /**< its time over libmeta's */
    } peer[MOST_CONTENDERS];
} figures;

/** Of a row that was sampled in @p rounds rounds. */
figures figures_of(const row *r, int rounds);

#endif
