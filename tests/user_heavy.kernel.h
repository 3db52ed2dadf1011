/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_heavy.kernel.h
 *  Kernels with four values of the largest size, twice what every OpenCL device takes as arguments;
 *  see test_user_laden.c. */
#define META_KERNEL_TYPES (META_KERNEL_F32 | META_KERNEL_I32)
#define META_KERNEL_FILE  "user_heavy.kernel.h"
#include <meta_kernel.h>

#ifndef HEAVY_BLOCKS
#define HEAVY_BLOCKS
typedef struct heavy_block {
    int64_t number[64];
} heavy_block;
/* Its last word is not full. */
typedef struct heavy_bytes {
    signed char byte[509];
} heavy_bytes;
#endif

META_FUNCTION T FN(weigh)(T x, T own, int64_t k, heavy_block a, heavy_bytes b, heavy_block c, heavy_block d)
{
    return x + own + (T)(a.number[k] + 2 * b.byte[445 + k] + 3 * c.number[63 - k] + 5 * d.number[k]);
}

#define heavy_ARGS(A)                                                                              \
    A(OUT, T, out) A(IN, T, in, CELL) A(VALUE, heavy_block, a) A(VALUE, heavy_bytes, b)            \
    A(VALUE, T, own) A(VALUE, heavy_block, c) A(VALUE, heavy_block, d) A(SUM, T, sum)
META_CELLS(heavy)
{
    ON(out) = FN(weigh)(ON(in), own, (INDEX(0) + 3 * INDEX(1)) % 64, a, b, c, d);
    ADD(sum, ON(out));
}

#define heavy_team_ARGS(A) heavy_ARGS(A) A(SHARED, T, kept, 8 * 4)
META_TEAMS(heavy_team, 8, 4, 1)
{
    MEMBERS
    {
        SHARED(kept, MY(0) + 8 * MY(1)) = FN(weigh)(ON(in), own, (INDEX(0) + 3 * INDEX(1)) % 64, a, b, c, d);
    }
    MEMBERS
    {
        ON(out) = SHARED(kept, MY(0) + 8 * MY(1));
        ADD(sum, ON(out));
    }
}

#include META_AGAIN
