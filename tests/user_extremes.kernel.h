/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_extremes.kernel.h
 *  Kernels with extremes and their places, for every element type; see test_user_extremes.c. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_U64 | META_KERNEL_I32 |     \
     META_KERNEL_U32)
#define META_KERNEL_FILE "user_extremes.kernel.h"
#include <meta_kernel.h>

/* Beside an output and other results: contributions of every cell; of some, by bits 0 and 1 of
 * `which`, and of some a second one, by bit 2. */
#define extremes_ARGS(A)                                                                           \
    A(OUT, T, copy) A(IN, T, in, CELL) A(IN, T, other, CELL) A(IN, uint32_t, which, CELL)          \
    A(MIN_AT, T, low) A(SUM, uint64_t, cells) A(MAX_AT, T, high) A(MIN_AT, T, low_some)            \
    A(MAX, T, most) A(MAX_AT, T, high_some) A(MAX_AT, int64_t, last) A(MIN, T, least)
META_CELLS(extremes)
{
    const T x = ON(in), y = ON(other);
    ON(copy) = x;
    LOWER(low, x);
    RAISE(high, x);
    ADD(cells, 1);
    if (ON(which) & 1) LOWER(low_some, x);
    if (ON(which) & 2) RAISE(high_some, x);
    if (ON(which) & 4) {
        LOWER(low_some, y);
        RAISE(high_some, y);
        RAISE(last, INDEX(0) % 7);
    }
    RAISE(most, x);
    LOWER(least, x);
}

/* The place alone, of what is computed from neighbours. */
#define steepest_ARGS(A) A(IN, T, u, STAR(1)) A(MAX_AT, T, slope)
META_CELLS(steepest)
{
    RAISE(slope, AT2(u, 1, 0) - AT2(u, -1, 0));
}

#include META_AGAIN
