/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_broken.kernel.h
 *  A kernel that is C, but not OpenCL C, which knows none of the functions that it calls. */
#define META_KERNEL_TYPES META_KERNEL_F32
#include <meta_kernel.h>

#define broken_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL)
META_CELLS(broken)
{
    const T x = AT(in, 0, 0, 0);
    /* Several lines of errors, to see that none is lost. */
    AT(out, 0, 0, 0) = (T)lround((double)x) + /* the line of the first error */
                       (T)nearbyint((double)x) +
                       (T)llround((double)x) /* the line of the last error */;
}

#include META_AGAIN
