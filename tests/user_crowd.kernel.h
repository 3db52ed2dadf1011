/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_crowd.kernel.h
 *  A kernel with many extremes and their places; see test_user_extremes.c. */
#define META_KERNEL_TYPES META_KERNEL_U32
#define META_KERNEL_FILE  "user_crowd.kernel.h"
#include <meta_kernel.h>

#define crowd_ARGS(A)                                                                              \
    A(IN, T, u, CELL)                                                                              \
    A(MIN_AT, T, a0) A(MAX_AT, T, b0) A(MIN_AT, T, a1) A(MAX_AT, T, b1) A(MIN_AT, T, a2)           \
    A(MAX_AT, T, b2) A(MIN_AT, T, a3) A(MAX_AT, T, b3) A(MIN_AT, T, a4) A(MAX_AT, T, b4)           \
    A(MIN_AT, T, a5) A(MAX_AT, T, b5) A(MIN_AT, T, a6) A(MAX_AT, T, b6) A(MIN_AT, T, a7)           \
    A(MAX_AT, T, b7) A(MIN_AT, T, a8) A(MAX_AT, T, b8) A(MIN_AT, T, a9) A(MAX_AT, T, b9)
META_CELLS(crowd)
{
    const T x = ON(u);
    LOWER(a0, x);
    RAISE(b0, x);
    if (INDEX(0) % 2 == 1) LOWER(a1, x);
    if (INDEX(0) % 2 == 1) RAISE(b1, x);
    if (INDEX(0) % 3 == 2) LOWER(a2, x);
    if (INDEX(0) % 3 == 2) RAISE(b2, x);
    if (INDEX(0) % 4 == 3) LOWER(a3, x);
    if (INDEX(0) % 4 == 3) RAISE(b3, x);
    if (INDEX(0) % 5 == 4) LOWER(a4, x);
    if (INDEX(0) % 5 == 4) RAISE(b4, x);
    if (INDEX(0) % 6 == 5) LOWER(a5, x);
    if (INDEX(0) % 6 == 5) RAISE(b5, x);
    if (INDEX(0) % 7 == 6) LOWER(a6, x);
    if (INDEX(0) % 7 == 6) RAISE(b6, x);
    if (INDEX(0) % 8 == 7) LOWER(a7, x);
    if (INDEX(0) % 8 == 7) RAISE(b7, x);
    if (INDEX(0) % 9 == 8) LOWER(a8, x);
    if (INDEX(0) % 9 == 8) RAISE(b8, x);
    if (INDEX(0) % 10 == 9) LOWER(a9, x);
    if (INDEX(0) % 10 == 9) RAISE(b9, x);
}

#include META_AGAIN
