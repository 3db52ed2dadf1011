/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_access.kernel.h
 *  A kernel that runs on more memory than a core's cache holds; see test_user_access.c. */
#define META_KERNEL_TYPES (META_KERNEL_F64)
#include <meta_kernel.h>

#define spread_ARGS(A) A(OUT, T, out) A(IN, T, in, STAR(1)) A(SUM, T, total)
META_CELLS(spread)
{
    const T now = AT(in, -1, 0, 0) + AT(in, 1, 0, 0) + AT(in, 0, -1, 0) + AT(in, 0, 1, 0) +
                  AT(in, 0, 0, -1) + AT(in, 0, 0, 1);
    AT(out, 0, 0, 0) = now;
    ADD(total, now);
}

#include META_AGAIN
