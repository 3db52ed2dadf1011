/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_team_exact.kernel.h
 *  Kernels of teams whose sums can be made reproducible; see test_user_team_exact.c. */
#include <meta_kernel.h>

/* Members contribute in several phases, some several times, some not at all, and leave phases early;
 * beside other results, and an output. */
#define scores_ARGS(A)                                                                             \
    A(OUT, T, copy) A(IN, T, x, CELL) A(IN, T, y, CELL) A(VALUE, T, limit) A(VALUE, int32_t, turns) \
    A(SHARED, T, tile, 7 * 5 * 3) A(MAX, T, most) A(SUM, T, total) A(SUM, uint64_t, above)         \
    A(SUM, double, products) A(SUM, T, firsts) A(MIN_AT, T, least) A(SUM, float, narrow)
META_TEAMS(scores, 7, 5, 3)
{
    const int64_t last = EXTENT(0) * EXTENT(1) * EXTENT(2) - 1;
    MEMBERS
    {
        const T a = ON(x), b = ON(y);
        SHARED(tile, MY(0) + EXTENT(0) * (MY(1) + EXTENT(1) * MY(2))) = a;
        ON(copy) = a;
        ADD(total, a);
        RAISE(most, b);
        LOWER(least, a);
        if (!(a > limit)) continue;
        ADD(above, 1);
        ADD(narrow, b);
    }
    for (int32_t turn = 0; turn < turns; ++turn)
        MEMBERS
        {
            const int64_t n = MY(0) + EXTENT(0) * (MY(1) + EXTENT(1) * MY(2));
            if ((MY(0) + turn) % 3 == 0) break;
            ADD(total, -SHARED(tile, last - n));
            ADD(products, (double)ON(x) * (double)ON(y));
            if (turn > 0) ADD(total, 7);
        }
    if (turns == 2) return;
    MEMBERS
    {
        if (MY(0) == 0 && MY(1) == 0 && MY(2) == 0) ADD(firsts, SHARED(tile, 0));
    }
}

/* The same sum, by teams of different extents. */
#define by_line_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)
META_TEAMS(by_line, 256, 1, 1)
{
    MEMBERS { ADD(sum, ON(x)); }
}
#define by_brick_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)
META_TEAMS(by_brick, 8, 4, 3)
{
    MEMBERS { ADD(sum, ON(x)); }
}
#define alone_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)
META_TEAMS(alone, 1, 1, 1)
{
    MEMBERS { ADD(sum, ON(x)); }
}
/* More members than a group of a GPU has, and than are added at once. */
#define crowd_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)
META_TEAMS(crowd, 8192, 2, 1)
{
    MEMBERS { ADD(sum, ON(x)); }
}
/* More sums of more members than a CPU of OpenCL has room for. */
#define mass_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum) A(SUM, T, more) A(SUM, double, most)
META_TEAMS(mass, 256, 256, 1)
{
    MEMBERS
    {
        ADD(sum, ON(x));
        ADD(more, -ON(x));
        ADD(most, ON(x));
    }
}

/* A cell of the same file, which contributes to a sum of its own. */
#define by_cells_ARGS(A) A(IN, T, x, CELL) A(SUM, T, sum)
META_CELLS(by_cells)
{
    ADD(sum, ON(x));
}

#include META_AGAIN
