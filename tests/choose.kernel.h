/* SPDX-License-Identifier: BSD-3-Clause */
/** @file choose.kernel.h
 *  Kernels for steps of a program whose devices the library chooses; see test_choose.c. */
#define META_KERNEL_TYPES META_KERNEL_F64
#define META_KERNEL_FILE  "choose.kernel.h"
#include <meta_kernel.h>

#define axpby_ARGS(A) A(INOUT, T, y) A(VALUE, T, alpha) A(IN, T, x, CELL) A(VALUE, T, beta)
META_CELLS(axpby)
{
    ON(y) = alpha * ON(x) + beta * ON(y);
}

/* Two kernels for which machines have factors: one device is good at the one, another one at the
 * other. */
#define grow_ARGS(A) A(INOUT, T, u) A(VALUE, T, by)
META_CELLS(grow)
{
    ON(u) = ON(u) + by;
}

#define shrink_ARGS(A) A(INOUT, T, u) A(VALUE, T, by)
META_CELLS(shrink)
{
    ON(u) = ON(u) - by;
}

#include META_AGAIN
