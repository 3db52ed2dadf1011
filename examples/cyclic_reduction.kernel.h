/* SPDX-License-Identifier: BSD-3-Clause */
/* Cyclic reduction of a tridiagonal system (Hockney 1965). An array of a level has four parts of
 * `cells` elements each: the diagonals below, on and above the main one, and the right-hand side. */
#include <meta_kernel.h>

/* The next level: of every second equation the neighbours are eliminated. The box is the next
 * level's; `cells` is the number of equations of this one. */
#define halve_ARGS(A)                                                                              \
    A(OUT, T, below) A(OUT, T, middle) A(OUT, T, above) A(OUT, T, right) A(IN, T, from, WHOLE)     \
    A(VALUE, int64_t, cells)
META_CELLS(halve)
{
    const int64_t i = 2 * INDEX(0) + 1;
    const T low = GET(from, i) / GET(from, cells + i - 1);
    const T high = GET(from, 2 * cells + i) / GET(from, cells + i + 1);
    ON(below) = -low * GET(from, i - 1);
    ON(middle) = GET(from, cells + i) - low * GET(from, 2 * cells + i - 1) -
                 high * GET(from, i + 1);
    ON(above) = -high * GET(from, 2 * cells + i + 1);
    ON(right) = GET(from, 3 * cells + i) - low * GET(from, 3 * cells + i - 1) -
                high * GET(from, 3 * cells + i + 1);
}

/* The single equation that is left. */
#define divide_ARGS(A) A(OUT, T, x) A(IN, T, from, WHOLE)
META_CELLS(divide)
{
    ON(x) = GET(from, 3) / GET(from, 1);
}

/* The unknowns of a level: every second one is an unknown of the next level, the others follow from
 * their equations. */
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

/* The right-hand side of the next time step. */
#define advance_ARGS(A) A(OUT, T, right) A(IN, T, x, CELL)
META_CELLS(advance)
{
    ON(right) = ON(x);
}

#include META_AGAIN
