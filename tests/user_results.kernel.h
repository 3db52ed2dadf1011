/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_results.kernel.h
 *  Kernels with results, for every element type; see test_user_results.c. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_U64 | META_KERNEL_I32 |     \
     META_KERNEL_U32)
#include <meta_kernel.h>

/* Results beside outputs, of T and of other types, to which not every cell contributes. */
#define statistics_ARGS(A)                                                                         \
    A(OUT, T, copy) A(IN, T, in, CELL) A(VALUE, T, limit) A(SUM, T, total) A(MIN, T, least)        \
    A(MAX, T, most) A(SUM, uint64_t, above) A(MIN, T, least_above) A(MAX, int64_t, last)
META_CELLS(statistics)
{
    const T x = AT(in, 0, 0, 0);
    AT(copy, 0, 0, 0) = x;
    ADD(total, x);
    LOWER(least, x);
    RAISE(most, x);
    if (x > limit) {
        ADD(above, 1);
        LOWER(least_above, x);
        RAISE(last, INDEX(0) + 1000 * INDEX(1));
    }
}

/* A sum alone, of more than one contribution a cell, and from neighbours. */
#define twice_ARGS(A) A(IN, T, in, STAR(1)) A(SUM, T, total)
META_CELLS(twice)
{
    ADD(total, AT(in, -1, 0, 0));
    ADD(total, AT(in, 1, 0, 0));
}

#include META_AGAIN
