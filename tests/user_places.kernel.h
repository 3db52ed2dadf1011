/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_places.kernel.h
 *  Extremes with their places beside floating-point sums, and in teams; see test_user_places.c. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32)
#define META_KERNEL_FILE "user_places.kernel.h"
#include <meta_kernel.h>

/* Between sums, so that partial results of all lengths lie before and behind each other. */
#define beside_ARGS(A)                                                                             \
    A(SUM, int64_t, cells) A(MIN_AT, T, low) A(SUM, T, total) A(IN, T, x, CELL) A(IN, T, y, CELL)  \
    A(MAX_AT, T, high) A(MAX, T, most) A(SUM, double, products) A(MIN_AT, T, low_some)
META_CELLS(beside)
{
    const T a = ON(x), b = ON(y);
    ADD(cells, 1);
    ADD(total, a);
    ADD(products, (double)a * (double)b);
    LOWER(low, a);
    RAISE(high, b);
    RAISE(most, a);
    if (b > a) {
        LOWER(low_some, b);
        LOWER(low_some, a + b);
    }
}

/* Members contribute in several phases, their own elements and, by way of shared memory, those of the
 * member opposite; few of them contribute to low_some, whose every team has some that do not. */
#define shared_ARGS(A)                                                                             \
    A(SUM, int64_t, cells) A(IN, T, x, CELL) A(IN, T, y, CELL) A(MIN_AT, T, low)                   \
    A(MAX_AT, T, high) A(MIN, T, least) A(SHARED, T, part, 6 * 5 * 2) A(MIN_AT, T, low_some)
META_TEAMS(shared, 6, 5, 2)
{
    MEMBERS
    {
        SHARED(part, MY(0) + 6 * (MY(1) + 5 * MY(2))) = ON(x);
        ADD(cells, 1);
        RAISE(high, ON(x));
    }
    MEMBERS
    {
        const T opposite = SHARED(part, EXTENT(0) - 1 - MY(0) + 6 * (MY(1) + 5 * MY(2)));
        LOWER(low, opposite);
        LOWER(least, opposite);
        RAISE(high, ON(y));
    }
    MEMBERS
    {
        if (MY(0) % 2 == 0 && ON(y) > ON(x)) LOWER(low_some, ON(y));
    }
}

#include META_AGAIN
