/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_smooth.kernel.h
 *  A kernel with arrays, a value and results of two kinds, of which a linear function stays as it is; see
 *  test_gpu_user_faults.c. */
#define META_KERNEL_TYPES META_KERNEL_F64
#define META_KERNEL_FILE  "user_smooth.kernel.h"
#include <meta_kernel.h>

#define smooth_ARGS(A)                                                                             \
    A(OUT, T, next) A(IN, T, now, STAR(1)) A(VALUE, T, k) A(SUM, T, sum) A(MAX_AT, T, most)
META_CELLS(smooth)
{
    const T here = ON(now);
    const T after = here + k * (AT(now, -1, 0, 0) + AT(now, 1, 0, 0) + AT(now, 0, -1, 0) +
                                AT(now, 0, 1, 0) + AT(now, 0, 0, -1) + AT(now, 0, 0, 1) - 6 * here);
    ON(next) = after;
    ADD(sum, after);
    RAISE(most, after);
}

#include META_AGAIN
