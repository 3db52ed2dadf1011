/* SPDX-License-Identifier: BSD-3-Clause */
/** @file soak.kernel.h
 *  A kernel with a result, see test_soak.c. */
#define META_KERNEL_TYPES META_KERNEL_F64
#include <meta_kernel.h>

#define relax_ARGS(A) A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, part) A(SUM, T, change)
META_CELLS(relax)
{
    const T mean =
        (AT(now, -1, 0, 0) + AT(now, 1, 0, 0) + AT(now, 0, -1, 0) + AT(now, 0, 1, 0)) / 4;
    const T x = AT(now, 0, 0, 0) + part * (mean - AT(now, 0, 0, 0));
    AT(next, 0, 0, 0) = x;
    ADD(change, x - AT(now, 0, 0, 0));
}

#include META_AGAIN
