/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of test_user_words: the words of arithmetic, given what is not a T. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32)
#define META_KERNEL_FILE  "user_words.kernel.h"
#include <meta_kernel.h>

/* A third of each, so that it shows in which type it was computed. */
#define lengths_ARGS(A)                                                                            \
    A(OUT, double, root) A(OUT, double, absolute) A(OUT, double, rootf) A(IN, float, x, CELL)      \
    A(IN, double, y, CELL)
META_CELLS(lengths)
{
    AT(root, 0, 0, 0) = SQRT(AT(x, 0, 0, 0)) / 3 + SQRT(AT(y, 0, 0, 0));
    AT(absolute, 0, 0, 0) = ABS(-AT(x, 0, 0, 0)) / 3 + ABS(-AT(y, 0, 0, 0));
    AT(rootf, 0, 0, 0) = sqrtf((float)AT(y, 0, 0, 0)) + fabsf(-AT(x, 0, 0, 0)) / 3;
}

/* The limits of <stdint.h>. */
#define limits_ARGS(A)                                                                             \
    A(OUT, int64_t, low) A(OUT, int64_t, high) A(OUT, uint64_t, most) A(OUT, int32_t, low32)       \
    A(OUT, int32_t, high32) A(OUT, uint32_t, most32)
META_CELLS(limits)
{
    AT(low, 0, 0, 0) = INT64_MIN;
    AT(high, 0, 0, 0) = INT64_MAX;
    AT(most, 0, 0, 0) = UINT64_MAX;
    AT(low32, 0, 0, 0) = INT32_MIN;
    AT(high32, 0, 0, 0) = INT32_MAX;
    AT(most32, 0, 0, 0) = UINT32_MAX;
}

#include META_AGAIN
