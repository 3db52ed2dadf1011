/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_many.kernel.h
 *  A kernel of many results, see test_user_results.c. */
#define META_KERNEL_TYPES META_KERNEL_I32
#include <meta_kernel.h>

#define many_ARGS(A)                                                                               \
    A(IN, T, in, CELL) A(SUM, T, r00) A(MIN, T, r01) A(MAX, T, r02) A(SUM, T, r03)                 \
    A(MIN, T, r04) A(MAX, T, r05) A(SUM, T, r06) A(MIN, T, r07) A(MAX, T, r08) A(SUM, T, r09)      \
    A(MIN, T, r10) A(MAX, T, r11) A(SUM, T, r12) A(MIN, T, r13) A(MAX, T, r14) A(SUM, T, r15)      \
    A(MIN, T, r16) A(MAX, T, r17) A(SUM, T, r18) A(MIN, T, r19) A(MAX, T, r20) A(SUM, T, r21)      \
    A(MIN, T, r22) A(MAX, T, r23) A(SUM, T, r24) A(MIN, T, r25) A(MAX, T, r26) A(SUM, T, r27)      \
    A(MIN, T, r28) A(MAX, T, r29) A(SUM, T, r30) A(MIN, T, r31) A(MAX, T, r32) A(SUM, T, r33)      \
    A(MIN, T, r34) A(MAX, T, r35) A(SUM, T, r36) A(MIN, T, r37) A(MAX, T, r38) A(SUM, T, r39)
META_CELLS(many)
{
    const T x = AT(in, 0, 0, 0);
    ADD(r00, x + 0);
    LOWER(r01, x + 1);
    RAISE(r02, x + 2);
    ADD(r03, x + 3);
    LOWER(r04, x + 4);
    RAISE(r05, x + 5);
    ADD(r06, x + 6);
    LOWER(r07, x + 7);
    RAISE(r08, x + 8);
    ADD(r09, x + 9);
    LOWER(r10, x + 10);
    RAISE(r11, x + 11);
    ADD(r12, x + 12);
    LOWER(r13, x + 13);
    RAISE(r14, x + 14);
    ADD(r15, x + 15);
    LOWER(r16, x + 16);
    RAISE(r17, x + 17);
    ADD(r18, x + 18);
    LOWER(r19, x + 19);
    RAISE(r20, x + 20);
    ADD(r21, x + 21);
    LOWER(r22, x + 22);
    RAISE(r23, x + 23);
    ADD(r24, x + 24);
    LOWER(r25, x + 25);
    RAISE(r26, x + 26);
    ADD(r27, x + 27);
    LOWER(r28, x + 28);
    RAISE(r29, x + 29);
    ADD(r30, x + 30);
    LOWER(r31, x + 31);
    RAISE(r32, x + 32);
    ADD(r33, x + 33);
    LOWER(r34, x + 34);
    RAISE(r35, x + 35);
    ADD(r36, x + 36);
    LOWER(r37, x + 37);
    RAISE(r38, x + 38);
    ADD(r39, x + 39);
}

#include META_AGAIN
