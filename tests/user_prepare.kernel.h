/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_prepare.kernel.h
 *  A few kernels that are built ahead of their first run. */
#define META_KERNEL_TYPES (META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

#define twice_ARGS(A) A(INOUT, T, x)
META_CELLS(twice)
{
    AT1(x, 0) = 2 * AT1(x, 0);
}

#define plus_ARGS(A) A(INOUT, T, x) A(VALUE, T, a)
META_CELLS(plus)
{
    AT1(x, 0) = AT1(x, 0) + a;
}

#define squared_ARGS(A) A(INOUT, T, x)
META_CELLS(squared)
{
    AT1(x, 0) = AT1(x, 0) * AT1(x, 0);
}

#include META_AGAIN
