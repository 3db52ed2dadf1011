/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_laden.kernel.h
 *  A kernel with more bytes of arguments than a GPU takes as parameters; see test_user_laden.c. */
#define META_KERNEL_TYPES META_KERNEL_I32
#define META_KERNEL_FILE  "user_laden.kernel.h"
#include <meta_kernel.h>

#ifndef LADEN_BLOCK
#define LADEN_BLOCK
typedef struct laden_block {
    int64_t number[8];
} laden_block;
#endif

#define laden_ARGS(A)                                                                              \
    A(OUT, T, out) A(IN, T, a00, CELL) A(IN, T, a01, CELL) A(IN, T, a02, CELL)                     \
    A(IN, T, a03, CELL) A(IN, T, a04, CELL) A(IN, T, a05, CELL) A(IN, T, a06, CELL)                \
    A(IN, T, a07, CELL) A(IN, T, a08, CELL) A(IN, T, a09, CELL) A(IN, T, a10, CELL)                \
    A(IN, T, a11, CELL) A(IN, T, a12, CELL) A(IN, T, a13, CELL) A(IN, T, a14, CELL)                \
    A(IN, T, a15, CELL) A(IN, T, a16, CELL) A(IN, T, a17, CELL) A(IN, T, a18, CELL)                \
    A(IN, T, a19, CELL) A(IN, T, a20, CELL) A(IN, T, a21, CELL) A(IN, T, a22, CELL)                \
    A(IN, T, a23, CELL) A(IN, T, a24, CELL) A(IN, T, a25, CELL) A(IN, T, a26, CELL)                \
    A(IN, T, a27, CELL) A(IN, T, a28, CELL) A(IN, T, a29, CELL) A(IN, T, a30, CELL)                \
    A(VALUE, laden_block, v00) A(VALUE, laden_block, v01) A(VALUE, laden_block, v02)               \
    A(VALUE, laden_block, v03) A(VALUE, laden_block, v04) A(VALUE, laden_block, v05)               \
    A(VALUE, laden_block, v06) A(VALUE, laden_block, v07) A(VALUE, laden_block, v08)               \
    A(VALUE, laden_block, v09) A(VALUE, laden_block, v10) A(VALUE, laden_block, v11)               \
    A(VALUE, laden_block, v12) A(VALUE, laden_block, v13) A(VALUE, laden_block, v14)               \
    A(VALUE, laden_block, v15) A(SUM, int64_t, sum) A(MAX_AT, T, most)
META_CELLS(laden)
{
    const int64_t k = INDEX(0) % 8;
    T x = ON(a00) + 2 * ON(a01) + 3 * ON(a02) + 4 * ON(a03) + 5 * ON(a04) + 6 * ON(a05) +
          7 * ON(a06) + 8 * ON(a07) + 9 * ON(a08) + 10 * ON(a09) + 11 * ON(a10) + 12 * ON(a11) +
          13 * ON(a12) + 14 * ON(a13) + 15 * ON(a14) + 16 * ON(a15) + 17 * ON(a16) + 18 * ON(a17) +
          19 * ON(a18) + 20 * ON(a19) + 21 * ON(a20) + 22 * ON(a21) + 23 * ON(a22) + 24 * ON(a23) +
          25 * ON(a24) + 26 * ON(a25) + 27 * ON(a26) + 28 * ON(a27) + 29 * ON(a28) + 30 * ON(a29) +
          31 * ON(a30);
    x += (T)(v00.number[k] + 2 * v01.number[k] + 3 * v02.number[k] + 4 * v03.number[k] +
             5 * v04.number[k] + 6 * v05.number[k] + 7 * v06.number[k] + 8 * v07.number[k] +
             9 * v08.number[k] + 10 * v09.number[k] + 11 * v10.number[k] + 12 * v11.number[k] +
             13 * v12.number[k] + 14 * v13.number[k] + 15 * v14.number[k] + 16 * v15.number[k]);
    ON(out) = x;
    ADD(sum, x);
    RAISE(most, x);
}

#include META_AGAIN
