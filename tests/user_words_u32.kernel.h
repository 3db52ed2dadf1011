/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel of test_user_words: as user_words.kernel.h, for integers. */
#define META_KERNEL_TYPES (META_KERNEL_I32 | META_KERNEL_U32)
#define META_KERNEL_FILE  "user_words_u32.kernel.h"
#include <meta_kernel.h>

#define magnitude_ARGS(A) A(OUT, double, out) A(IN, int64_t, in, CELL)
META_CELLS(magnitude)
{
    AT(out, 0, 0, 0) = (double)ABS(AT(in, 0, 0, 0));
}

#include META_AGAIN
