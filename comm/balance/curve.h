/* SPDX-License-Identifier: BSD-3-Clause */
/** @file curve.h
 *  What this rank has measured: how long it computes, over the cells that it computes. Local. */
#ifndef META_CURVE_H
#define META_CURVE_H

#include <stdint.h>

enum { CURVE_POINTS = 32 };

/** Set it to zero first. */
typedef struct curve {
    int points; /**< in order of their cells, no two alike */
    int64_t cells[CURVE_POINTS];
    double measured[CURVE_POINTS]; /**< the least of what was measured at that many cells */
    double seconds[CURVE_POINTS];  /**< no more than at any point behind it */
} curve;

/** Take in that @p cells, one or more, took @p seconds. A full curve forgets the point whose cells
 * differ most from these. */
void curve_add(curve *c, int64_t cells, double seconds);
/** How long @p cells will take: between points on the line that joins them, beyond them by the
 * nearest slope. Through 0 where there is a single point. Never falls with more cells. */
double curve_expected(const curve *c, int64_t cells);
/** How long they will take at least: as long as the largest number of cells measured that is not
 * above theirs. Never falls either. */
double curve_least(const curve *c, int64_t cells);

#endif
