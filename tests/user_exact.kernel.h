/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_exact.kernel.h
 *  Kernels whose sums can be made reproducible; see test_user_exact.c. */
#include <meta_kernel.h>

/* Sums of several types, to which not every cell contributes, beside other results and an output. */
#define tally_ARGS(A)                                                                              \
    A(OUT, T, copy) A(IN, T, x, CELL) A(IN, T, y, CELL) A(VALUE, T, limit) A(MAX, T, most)         \
    A(SUM, T, total) A(SUM, uint64_t, above) A(SUM, double, products) A(SUM, T, some)              \
    A(MIN, int32_t, first) A(SUM, float, narrow)
META_CELLS(tally)
{
    const T a = ON(x), b = ON(y);
    ON(copy) = a;
    RAISE(most, b);
    ADD(total, a);
    ADD(products, (double)a * (double)b);
    ADD(narrow, b);
    if (a > limit) {
        ADD(above, 1);
        ADD(some, b);
        LOWER(first, (int32_t)(INDEX(0) + INDEX(1)));
    }
}

/* A sum alone. */
#define total_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)
META_CELLS(total)
{
    ADD(sum, ON(x));
}

/* Up to four contributions of a cell. */
#define several_ARGS(A) A(IN, T, x, SIDES1(1, 1)) A(SUM, T, sum)
META_CELLS(several)
{
    ADD(sum, AT(x, -1, 0, 0));
    if (INDEX(0) % 3 == 0) {
        ADD(sum, ON(x));
        ADD(sum, 7);
    }
    ADD(sum, -AT(x, 1, 0, 0));
}

#include META_AGAIN
