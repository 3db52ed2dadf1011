/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_halo.kernel.h
 *  Kernels that read ghosts, see test_user_halo.c. */
#define META_KERNEL_TYPES META_KERNEL_I32
#include <meta_kernel.h>

#define ring_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, add) A(MAX, T, most)
META_CELLS(ring)
{
    const T x = (AT(now, -1, 0, 0) + AT(now, 0, 0, 0) + 2 * AT(now, 1, 0, 0) + add) % 100000;
    AT(next, 0, 0, 0) = x;
    RAISE(most, x);
}

/* As many arrays as there may be, and nearly as many results. */
#define throng_ARGS(A)                                                                             \
    A(OUT, T, a00) A(IN, T, a01, CELL) A(IN, T, a02, CELL) A(IN, T, a03, CELL)                     \
    A(IN, T, a04, CELL) A(IN, T, a05, CELL) A(IN, T, a06, CELL) A(IN, T, a07, CELL)                \
    A(IN, T, a08, CELL) A(IN, T, a09, CELL) A(IN, T, a10, CELL) A(IN, T, a11, CELL)                \
    A(IN, T, a12, CELL) A(IN, T, a13, CELL) A(IN, T, a14, CELL) A(IN, T, a15, CELL)                \
    A(IN, T, a16, CELL) A(IN, T, a17, CELL) A(IN, T, a18, CELL) A(IN, T, a19, CELL)                \
    A(IN, T, a20, CELL) A(IN, T, a21, CELL) A(IN, T, a22, CELL) A(IN, T, a23, CELL)                \
    A(IN, T, a24, CELL) A(IN, T, a25, CELL) A(IN, T, a26, CELL) A(IN, T, a27, CELL)                \
    A(IN, T, a28, CELL) A(IN, T, a29, CELL) A(IN, T, a30, CELL) A(IN, T, a31, STAR(1))             \
    A(SUM, T, r01) A(MAX, T, r02) A(SUM, T, r03) A(MAX, T, r04) A(SUM, T, r05) A(MAX, T, r06)      \
    A(SUM, T, r07) A(MAX, T, r08) A(SUM, T, r09) A(MAX, T, r10) A(SUM, T, r11) A(MAX, T, r12)      \
    A(SUM, T, r13) A(MAX, T, r14) A(SUM, T, r15) A(MAX, T, r16) A(SUM, T, r17) A(MAX, T, r18)      \
    A(SUM, T, r19) A(MAX, T, r20) A(SUM, T, r21) A(MAX, T, r22) A(SUM, T, r23) A(MAX, T, r24)      \
    A(SUM, T, r25) A(MAX, T, r26) A(SUM, T, r27) A(MAX, T, r28) A(SUM, T, r29) A(MAX, T, r30)      \
    A(SUM, T, r31)
META_CELLS(throng)
{
    AT(a00, 0, 0, 0) = AT(a31, -1, 0, 0) + AT(a31, 1, 0, 0);
    ADD(r01, AT(a01, 0, 0, 0));
    RAISE(r02, AT(a02, 0, 0, 0));
    ADD(r03, AT(a03, 0, 0, 0));
    RAISE(r04, AT(a04, 0, 0, 0));
    ADD(r05, AT(a05, 0, 0, 0));
    RAISE(r06, AT(a06, 0, 0, 0));
    ADD(r07, AT(a07, 0, 0, 0));
    RAISE(r08, AT(a08, 0, 0, 0));
    ADD(r09, AT(a09, 0, 0, 0));
    RAISE(r10, AT(a10, 0, 0, 0));
    ADD(r11, AT(a11, 0, 0, 0));
    RAISE(r12, AT(a12, 0, 0, 0));
    ADD(r13, AT(a13, 0, 0, 0));
    RAISE(r14, AT(a14, 0, 0, 0));
    ADD(r15, AT(a15, 0, 0, 0));
    RAISE(r16, AT(a16, 0, 0, 0));
    ADD(r17, AT(a17, 0, 0, 0));
    RAISE(r18, AT(a18, 0, 0, 0));
    ADD(r19, AT(a19, 0, 0, 0));
    RAISE(r20, AT(a20, 0, 0, 0));
    ADD(r21, AT(a21, 0, 0, 0));
    RAISE(r22, AT(a22, 0, 0, 0));
    ADD(r23, AT(a23, 0, 0, 0));
    RAISE(r24, AT(a24, 0, 0, 0));
    ADD(r25, AT(a25, 0, 0, 0));
    RAISE(r26, AT(a26, 0, 0, 0));
    ADD(r27, AT(a27, 0, 0, 0));
    RAISE(r28, AT(a28, 0, 0, 0));
    ADD(r29, AT(a29, 0, 0, 0));
    RAISE(r30, AT(a30, 0, 0, 0));
    ADD(r31, AT(a31, 0, 0, 0));
}

#include META_AGAIN
