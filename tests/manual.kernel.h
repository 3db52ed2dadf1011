/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of the examples of meta_kernel.h's manual pages (test_manual_kernels.c).
 * EXAMPLE: meta_kernel_near meta_kernel_element meta_kernel_register meta_kernel_unregister meta_kernel */
/* manual.kernel.h: the code that META_CELLS makes calls these functions; programs do not. */
#include <meta_kernel.h>

#define smooth_ARGS(A) \
    A(OUT, T, next) A(IN, T, now, STAR(1)) A(IN, T, factor, WHOLE) A(MAX, T, change)
META_CELLS(smooth)
{
    const T d = GET(factor, 0) * (AT(now, -1, 0, 0) - 2 * AT(now, 0, 0, 0) + AT(now, 1, 0, 0));
    AT(next, 0, 0, 0) = AT(now, 0, 0, 0) + d;
    RAISE(change, ABS(d));
}

#include META_AGAIN
/* END OF EXAMPLE */
