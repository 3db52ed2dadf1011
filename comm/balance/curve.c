/* SPDX-License-Identifier: BSD-3-Clause */
/** @file curve.c
 *  A rank's time as a monotone, piecewise linear function of its cells (a functional performance
 * model: Lastovetsky and Reddy, Int. J. High Perform. Comput. Appl. 21, 2007). Noise makes a
 * measurement longer far more often than shorter, so the least counts, and no size takes longer
 * than a larger one was measured to take. */
#include "balance/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The index of the first point with @p cells or more. */
static int find(const curve *c, int64_t cells)
{
    int k = 0;
    while (k < c->points && c->cells[k] < cells) ++k;
    return k;
}

static void forget_farthest(curve *c, int64_t cells)
{
    const size_t kept = (size_t)--c->points;
    if (llabs(c->cells[0] - cells) <= llabs(c->cells[kept] - cells)) return;
    memmove(c->cells, c->cells + 1, kept * sizeof *c->cells);
    memmove(c->measured, c->measured + 1, kept * sizeof *c->measured);
}

void curve_add(curve *c, int64_t cells, double seconds)
{
    int at = find(c, cells);
    if (at == c->points || c->cells[at] != cells) {
        if (c->points == CURVE_POINTS) forget_farthest(c, cells);
        at = find(c, cells);
        const size_t after = (size_t)(c->points++ - at);
        memmove(c->cells + at + 1, c->cells + at, after * sizeof *c->cells);
        memmove(c->measured + at + 1, c->measured + at, after * sizeof *c->measured);
        c->cells[at] = cells;
        c->measured[at] = seconds;
    }
    c->measured[at] = fmin(c->measured[at], seconds);
    double least = INFINITY;
    for (int k = c->points - 1; k >= 0; --k) c->seconds[k] = least = fmin(least, c->measured[k]);
}

/* Seconds a cell between two neighbouring points. */
static double slope(const curve *c, int k)
{
    return (c->seconds[k + 1] - c->seconds[k]) / (double)(c->cells[k + 1] - c->cells[k]);
}

/* Seconds a cell from 0 to a point. */
static double average(const curve *c, int k)
{
    return c->seconds[k] / (double)c->cells[k];
}

/* Two points near each other say little of a slope: it is kept within twice and half the average.
 */
static double behind(const curve *c, int64_t cells)
{
    const int last = c->points - 1;
    const double mean = average(c, last);
    const double rise = fmax(mean / 2, fmin(slope(c, last - 1), 2 * mean));
    return c->seconds[last] + rise * (double)(cells - c->cells[last]);
}

/* Before the first point the slope may be 0, where launching kernels takes most of the time; and
 * what is left at 0 cells is not negative. */
static double before(const curve *c, int64_t cells)
{
    const double rise = fmin(slope(c, 0), 2 * average(c, 0));
    const double line = c->seconds[0] - rise * (double)(c->cells[0] - cells);
    return fmax(line, average(c, 0) * (double)cells / 1024);
}

double curve_expected(const curve *c, int64_t cells)
{
    const int k = find(c, cells);
    if (c->points == 0) return 0;
    if (c->points == 1) return average(c, 0) * (double)cells;
    if (k == c->points) return behind(c, cells);
    if (c->cells[k] == cells) return c->seconds[k];
    if (k == 0) return before(c, cells);
    /* Rounding may leave the line at its end. */
    const double line = c->seconds[k - 1] + slope(c, k - 1) * (double)(cells - c->cells[k - 1]);
    return fmin(line, c->seconds[k]);
}

double curve_least(const curve *c, int64_t cells)
{
    const int k = find(c, cells);
    if (k < c->points && c->cells[k] == cells) return c->seconds[k];
    return k > 0 ? c->seconds[k - 1] : 0;
}
