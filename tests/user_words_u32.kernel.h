/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of test_user_words: as user_words.kernel.h, for integers. */
#define META_KERNEL_TYPES (META_KERNEL_I32 | META_KERNEL_U32)
#define META_KERNEL_FILE  "user_words_u32.kernel.h"
#include <meta_kernel.h>

#define magnitude_ARGS(A) A(OUT, double, out) A(IN, int64_t, in, CELL)
META_CELLS(magnitude)
{
    AT(out, 0, 0, 0) = (double)ABS(AT(in, 0, 0, 0));
}

/* An element that is the same for all cells that read one; the others do not divide. */
#define quotient_ARGS(A)                                                                           \
    A(OUT, T, out)                                                                                 \
    A(IN, T, table, WHOLE) A(VALUE, uint32_t, a) A(VALUE, uint32_t, b) A(SUM, T, total)
META_CELLS(quotient)
{
    T found = 0;
    if (INDEX(0) % 3 == 1) found = GET(table, a / b);
    ON(out) = found;
    ADD(total, found);
}

/* An array of the cell's own, read by an index that is the same for all cells. */
#define window_ARGS(A) A(OUT, T, out) A(IN, T, x, CELL) A(VALUE, uint32_t, a)
META_CELLS(window)
{
    T w[8], found = 0;
    for (uint32_t k = 0; k < 8; ++k) w[k] = ON(x) * (T)(k + 1);
    if (INDEX(0) % 3 == 1) found = w[a % 8];
    ON(out) = found + 100 * w[(a + 3) % 8];
}

#include META_AGAIN
