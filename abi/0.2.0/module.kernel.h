/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel of a module, which a program loads after it has begun; see program.c. */
#define META_KERNEL_TYPES META_KERNEL_F64
#include <meta_kernel.h>

#define module_axpy_ARGS(A) A(INOUT, T, y) A(IN, T, x, CELL) A(VALUE, T, a) A(SUM, T, sum)
META_CELLS(module_axpy)
{
    ON(y) += a * ON(x);
    ADD(sum, ON(y));
}

#include META_AGAIN
