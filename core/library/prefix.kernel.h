/* SPDX-License-Identifier: BSD-3-Clause */
/* Prefix sums by blocks, see meta_prefix_sum(): a cell is a block of META_PREFIX_BLOCK elements, of
 * which the last may have fewer. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_U64 | META_KERNEL_U32)
#define META_KERNEL_FILE "prefix.kernel.h"
#include <meta_kernel.h>

#ifndef META_PREFIX
#define META_PREFIX
enum { META_PREFIX_BLOCK = 128 };
#endif
#define FIRST (INDEX(0) * META_PREFIX_BLOCK)
#define END   (FIRST + META_PREFIX_BLOCK < count ? FIRST + META_PREFIX_BLOCK : count)

/* The sum of each block. */
#define meta_prefix_reduce_ARGS(A)                                                                 \
    A(OUT, T, sum) A(IN, T, array, WHOLE) A(VALUE, int64_t, count)
META_CELLS(meta_prefix_reduce)
{
    T running = 0;
    for (int64_t k = FIRST; k < END; ++k) running += GET(array, k);
    AT1(sum, 0) = running;
}

/* Each element becomes the sum of those before it, and of itself if it is included; `base` is the sum
 * of all blocks before. */
#define meta_prefix_scan_ARGS(A)                                                                   \
    A(INOUT, T, array, WHOLE) A(IN, T, base, CELL) A(VALUE, int64_t, count)                        \
    A(VALUE, int32_t, inclusive)
META_CELLS(meta_prefix_scan)
{
    T running = AT1(base, 0);
    for (int64_t k = FIRST; k < END; ++k) {
        const T next = running + GET(array, k);
        GET(array, k) = inclusive ? next : running;
        running = next;
    }
}

#undef FIRST
#undef END
#include META_AGAIN
