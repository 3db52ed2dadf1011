/* SPDX-License-Identifier: BSD-3-Clause */
/** @file regret.kernel.h
 *  Kernels of workloads on simulated machines; see test_regret.c. */
#define META_KERNEL_TYPES META_KERNEL_F64
#define META_KERNEL_FILE  "regret.kernel.h"
#include <meta_kernel.h>

#define combine_ARGS(A) A(INOUT, T, y) A(VALUE, T, alpha) A(IN, T, x, CELL) A(VALUE, T, beta)
META_CELLS(combine)
{
    ON(y) = alpha * ON(x) + beta * ON(y);
}

/* Cyclic reduction. An array has four parts of `cells` elements each, which are the diagonals and
 * the right-hand side of a tridiagonal system; the next level keeps every second equation. */
#define halve_ARGS(A)                                                                              \
    A(OUT, T, below)                                                                               \
    A(OUT, T, middle)                                                                              \
    A(OUT, T, above) A(OUT, T, right) A(IN, T, from, WHOLE) A(VALUE, int64_t, cells)
META_CELLS(halve)
{
    const int64_t i = 2 * INDEX(0) + 1;
    const T low = GET(from, i) / GET(from, cells + i - 1);
    const T high = GET(from, 2 * cells + i) / GET(from, cells + i + 1);
    ON(below) = -low * GET(from, i - 1);
    ON(middle) =
        GET(from, cells + i) - low * GET(from, 2 * cells + i - 1) - high * GET(from, i + 1);
    ON(above) = -high * GET(from, 2 * cells + i + 1);
    ON(right) = GET(from, 3 * cells + i) - low * GET(from, 3 * cells + i - 1) -
                high * GET(from, 3 * cells + i + 1);
}

/* The unknowns of a level from those of the next one. */
#define insert_ARGS(A)                                                                             \
    A(OUT, T, x) A(IN, T, from, WHOLE) A(IN, T, coarse, WHOLE) A(VALUE, int64_t, cells)
META_CELLS(insert)
{
    const int64_t i = INDEX(0);
    if (i & 1) {
        ON(x) = GET(coarse, i / 2);
    } else {
        T value = GET(from, 3 * cells + i);
        if (i > 0) value -= GET(from, i) * GET(coarse, i / 2 - 1);
        if (i < cells - 1) value -= GET(from, 2 * cells + i) * GET(coarse, i / 2);
        ON(x) = value / GET(from, cells + i);
    }
}

/* A single equation. */
#define divide_ARGS(A) A(OUT, T, x) A(IN, T, from, WHOLE)
META_CELLS(divide)
{
    ON(x) = GET(from, 3) / GET(from, 1);
}

#include META_AGAIN
