/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_module.kernel.h
 *  A kernel that comes and goes with a shared object, see user_module.c. */
#define META_KERNEL_TYPES META_KERNEL_I32
#include <meta_kernel.h>

#define modular_ARGS(A) A(OUT, T, out) A(VALUE, T, add) A(SUM, T, total)
META_CELLS(modular)
{
    const T x = (T)INDEX(0) + add;
    AT(out, 0, 0, 0) = x;
    ADD(total, x);
}

#include META_AGAIN
