/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of a program of 0.2.0, with every kind of parameter; see program.c. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_I32)
#include <meta_kernel.h>

META_FUNCTION T FN(twice)(T x)
{
    return x + x;
}

#ifndef CELLS_PAIR
#define CELLS_PAIR
typedef struct cells_pair {
    int64_t a;
    int32_t b, c;
} cells_pair;
#endif

#define spread_ARGS(A)                                                                             \
    A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, k) A(SUM, T, sum) A(MIN, T, low)            \
    A(MAX, T, high)
META_CELLS(spread)
{
    const T x = FN(twice)(ON(now)) + k * (AT(now, -1, 0, 0) + AT(now, 1, 0, 0) +
                                          AT(now, 0, -1, 0) + AT(now, 0, 1, 0) +
                                          AT(now, 0, 0, -1) + AT(now, 0, 0, 1));
    ON(next) = x;
    ADD(sum, x);
    LOWER(low, x);
    RAISE(high, x);
}

/* Numbers on the device, arrays of other shapes, a structure by value. */
#define shaped_ARGS(A)                                                                             \
    A(INOUT, T, x) A(SCALAR, T, factor) A(IN, T, profile, LINE(0)) A(IN, T, layer, PLANE(1))       \
    A(IN, T, face, CELL, GROWN(1, 0, 0)) A(VALUE, cells_pair, pair) A(IN, int32_t, table, WHOLE)
META_CELLS(shaped)
{
    ON(x) = ON(x) * factor + ON(profile) + ON(layer) + ON(face) + (T)(pair.a + pair.b * pair.c) +
            (T)GET(table, INDEX(0) % 4);
}

/* Additions to cells and to bins, and the first cell with the least and the greatest element. */
#define deposit_ARGS(A)                                                                            \
    A(ADD, int32_t, charge, SIDES(0, 1, 0, 0, 0, 0)) A(ADD, int32_t, bin, WHOLE)                   \
    A(IN, int32_t, q, CELL) A(MIN_AT, int32_t, least) A(MAX_AT, int32_t, most)
META_CELLS(deposit)
{
    ADD_TO(ON(charge), ON(q));
    ADD_TO(AT(charge, 1, 0, 0), 1);
    ADD_TO(GET(bin, ON(q) & 3), 1);
    LOWER(least, ON(q));
    RAISE(most, ON(q));
}

/* Teams with shared memory. */
#define turn_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL) A(SHARED, T, tile, 4 * 4) A(SUM, int64_t, cells)
META_TEAMS(turn, 4, 4, 1)
{
    MEMBERS
    {
        SHARED(tile, MY(1) * 4 + MY(0)) = ON(in);
        ADD(cells, 1);
    }
    MEMBERS
    {
        ON(out) = SHARED(tile, (EXTENT(1) - 1 - MY(1)) * 4 + EXTENT(0) - 1 - MY(0));
    }
}

#include META_AGAIN
