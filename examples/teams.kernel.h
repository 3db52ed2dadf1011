/* SPDX-License-Identifier: BSD-3-Clause */
/* Three kernels whose cells are computed by teams. A team shares memory; its members have finished a
 * phase, MEMBERS { }, when the next one begins. */
#include <meta_kernel.h>

/* The transpose of a matrix, by tiles: both arrays are accessed along their rows. The box is that of
 * `from`; a row of `to` has `rows` elements. A tile's rows are one longer than they need to be, so
 * that the elements of a column lie in different banks of a GPU's memory. */
#define transpose_ARGS(A)                                                                          \
    A(INOUT, T, to, WHOLE) A(IN, T, from, CELL) A(VALUE, int64_t, rows) A(SHARED, T, tile, 16 * 17)
META_TEAMS(transpose, 16, 16, 1)
{
    MEMBERS { SHARED(tile, MY(1) * 17 + MY(0)) = ON(from); }
    MEMBERS
    {
        /* The tile's elements again, numbered along its columns: at an edge it is no square. */
        const int64_t n = MY(1) * EXTENT(0) + MY(0), x = n / EXTENT(1), y = n % EXTENT(1);
        GET(to, (START(0) + x) * rows + START(1) + y) = SHARED(tile, y * 17 + x);
    }
}

/* The sum of each team's cells, in the same order on every device. */
#define block_sum_ARGS(A) A(INOUT, T, sum, WHOLE) A(IN, T, x, CELL) A(SHARED, T, part, 256)
META_TEAMS(block_sum, 256, 1, 1)
{
    MEMBERS { SHARED(part, MY(0)) = ON(x); }
    for (int64_t gap = 128; gap > 0; gap /= 2)
        MEMBERS
        {
            if (MY(0) < gap && MY(0) + gap < EXTENT(0))
                SHARED(part, MY(0)) += SHARED(part, MY(0) + gap);
        }
    MEMBERS
    {
        if (MY(0) == 0) GET(sum, TEAM(0)) = SHARED(part, 0);
    }
}

/* c = a b, where c is the box. A team goes through tiles of a, whose rows have `inner` elements, and
 * of b, so that each element is loaded once for each team instead of once for each cell. Members at
 * an edge load for those that the team lacks. */
#define multiply_ARGS(A)                                                                           \
    A(OUT, T, c) A(IN, T, a, WHOLE) A(IN, T, b, WHOLE) A(VALUE, int64_t, inner)                    \
    A(VALUE, int64_t, columns) A(SHARED, T, left, 16 * 16) A(SHARED, T, right, 16 * 16)            \
    A(SHARED, T, sum, 16 * 16)
META_TEAMS(multiply, 16, 16, 1)
{
    MEMBERS { SHARED(sum, MY(1) * 16 + MY(0)) = 0; }
    for (int64_t first = 0; first < inner; first += 16) {
        const int64_t wide = LEAST(inner - first, 16);
        MEMBERS
        {
            for (int64_t k = MY(0); k < wide; k += EXTENT(0))
                SHARED(left, MY(1) * 16 + k) = GET(a, INDEX(1) * inner + first + k);
            for (int64_t k = MY(1); k < wide; k += EXTENT(1))
                SHARED(right, k * 16 + MY(0)) = GET(b, (first + k) * columns + INDEX(0));
        }
        MEMBERS
        {
            T all = SHARED(sum, MY(1) * 16 + MY(0));
            for (int64_t k = 0; k < wide; ++k)
                all += SHARED(left, MY(1) * 16 + k) * SHARED(right, k * 16 + MY(0));
            SHARED(sum, MY(1) * 16 + MY(0)) = all;
        }
    }
    MEMBERS { ON(c) = SHARED(sum, MY(1) * 16 + MY(0)); }
}

#include META_AGAIN
