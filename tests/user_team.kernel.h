/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_team.kernel.h
 *  Kernels whose cells are computed by teams; see test_user_team.c. */
#define META_KERNEL_TYPES (META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

/* Every array that a kernel can have, results, memory of two types, phases in a loop and under a
 * condition; no extent is a power of two. A member with a negative difference leaves its phase. */
#define sums_ARGS(A)                                                                               \
    A(OUT, T, out) A(IN, T, x, STAR(1)) A(INOUT, T, own) A(INOUT, T, sum, WHOLE)                   \
    A(IN, T, profile, LINE(1)) A(ADD, int32_t, hits, SIDES(0, 1, 0, 0, 0, 0)) A(SHARED, T, part, 105) \
    A(SHARED, int32_t, seen, 7 * 5 * 3) A(VALUE, int32_t, twice) A(SCALAR, T, k)                   \
    A(SUM, int64_t, cells) A(MIN, T, low) A(MAX, T, high) A(SUM, int32_t, left)
META_TEAMS(sums, 7, 5, 3)
{
    const int64_t count = EXTENT(0) * EXTENT(1) * EXTENT(2);
    MEMBERS
    {
        const int64_t n = MY(0) + EXTENT(0) * (MY(1) + EXTENT(1) * MY(2));
        const T d = ON(x) - AT(x, -1, 0, 0);
        ADD(cells, 1);
        LOWER(low, ON(x));
        RAISE(high, ON(x));
        SHARED(seen, n) = (int32_t)(INDEX(0) - START(0) - MY(0));
        SHARED(part, n) = 0;
        ADD_TO(AT(hits, 1, 0, 0), 2);
        ADD_TO(ON(hits), 1);
        if (d < 0) {
            ADD(left, 1);
            continue;
        }
        SHARED(part, n) = k * AT(x, 0, 1, 0) + ON(profile) + (T)SHARED(seen, n);
    }
    for (int64_t gap = 64; gap > 0; gap /= 2)
        MEMBERS
        {
            const int64_t n = MY(0) + EXTENT(0) * (MY(1) + EXTENT(1) * MY(2));
            if (n >= gap || n + gap >= count) continue;
            SHARED(part, n) += SHARED(part, n + gap);
        }
    if (twice) {
        MEMBERS
        {
            ON(own) += AT(x, 0, 0, 1);
        }
    }
    MEMBERS
    {
        const int64_t team =
            TEAM(0) + TEAMS(0) * (TEAM(1) + TEAMS(1) * (TEAM(2) + TEAMS(2) * TEAM(3)));
        if (MY(0) == 0 && MY(1) == 0 && MY(2) == 0) GET(sum, team) = SHARED(part, 0);
        ON(out) = SHARED(part, 0) - (T)(MY(0) + 2 * MY(1) + 4 * MY(2) + 8 * INDEX(3));
    }
}

/* In any number of dimensions: each cell gets what its team's opposite cell has. */
#define mirrored_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL) A(SHARED, T, tile, 8 * 4)
META_TEAMS(mirrored, 8, 4, 1)
{
    MEMBERS { SHARED(tile, MY(1) * 8 + MY(0)) = ON(in); }
    MEMBERS
    {
        ON(out) = SHARED(tile, (EXTENT(1) - 1 - MY(1)) * 8 + EXTENT(0) - 1 - MY(0));
    }
}

/* Of each plane; `to` has `rows` elements along its first dimension and `columns` along its second. */
#define turned_ARGS(A)                                                                             \
    A(INOUT, T, to, WHOLE) A(IN, T, from, CELL) A(VALUE, int64_t, rows) A(VALUE, int64_t, columns) \
    A(SHARED, T, tile, 17 * 16)
META_TEAMS(turned, 16, 16, 1)
{
    MEMBERS { SHARED(tile, MY(1) * 17 + MY(0)) = ON(from); }
    MEMBERS
    {
        /* The team's cells again, so that neighbouring members write neighbouring elements. */
        const int64_t n = MY(1) * EXTENT(0) + MY(0), x = n / EXTENT(1), y = n % EXTENT(1);
        GET(to, START(1) + y + rows * (START(0) + x + columns * START(2))) =
            SHARED(tile, y * 17 + x);
    }
}

/* A cellular automaton in each team's ring of cells, for as many steps as it is told; two arrays take
 * turns. */
#define rings_ARGS(A)                                                                              \
    A(INOUT, int32_t, state) A(VALUE, int32_t, steps) A(SHARED, int32_t, ring, 2 * 2 * 33)
META_TEAMS(rings, 33, 2, 1)
{
    int32_t now = 0;
    MEMBERS { SHARED(ring, 33 * MY(1) + MY(0)) = ON(state) & 1; }
    for (int32_t step = 0; step < steps; ++step) {
        MEMBERS
        {
            const int64_t at = 66 * now + 33 * MY(1), next = 66 * (1 - now) + 33 * MY(1);
            const int64_t low = MY(0) == 0 ? EXTENT(0) - 1 : MY(0) - 1;
            const int64_t high = MY(0) + 1 == EXTENT(0) ? 0 : MY(0) + 1;
            SHARED(ring, next + MY(0)) =
                SHARED(ring, at + low) ^ (SHARED(ring, at + MY(0)) | SHARED(ring, at + high));
        }
        now = 1 - now;
    }
    if (steps == 0) return;
    MEMBERS { ON(state) = 2 * (ON(state) / 2) + SHARED(ring, 66 * now + 33 * MY(1) + MY(0)); }
}

/* A product of matrices: the box has as many cells as c, a row of a has `inner` elements. */
#define multiplied_ARGS(A)                                                                         \
    A(OUT, T, c) A(IN, T, a, WHOLE) A(IN, T, b, WHOLE) A(VALUE, int64_t, inner)                    \
    A(VALUE, int64_t, rows) A(VALUE, int64_t, columns) A(SHARED, T, left, 8 * 8)                   \
    A(SHARED, T, right, 8 * 8) A(SHARED, T, sum, 8 * 8)
META_TEAMS(multiplied, 8, 8, 1)
{
    MEMBERS { SHARED(sum, 8 * MY(1) + MY(0)) = 0; }
    for (int64_t from = 0; from < inner; from += 8) {
        const int64_t wide = LEAST(inner - from, 8);
        MEMBERS
        {
            /* Members along an edge load what those that are missing would. */
            for (int64_t k = MY(0); k < wide; k += EXTENT(0))
                SHARED(left, 8 * MY(1) + k) = GET(a, INDEX(1) * inner + from + k);
            for (int64_t k = MY(1); k < wide; k += EXTENT(1))
                SHARED(right, 8 * k + MY(0)) = GET(b, (from + k) * columns + INDEX(0));
        }
        for (int64_t k = 0; k < wide; ++k)
            MEMBERS
            {
                SHARED(sum, 8 * MY(1) + MY(0)) +=
                    SHARED(left, 8 * MY(1) + k) * SHARED(right, 8 * k + MY(0));
            }
    }
    MEMBERS { ON(c) = SHARED(sum, 8 * MY(1) + MY(0)); }
}

/* Cells without a team, in the same file. */
#define plain_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL)
META_CELLS(plain)
{
    ON(out) = 2 * ON(in);
}

#include META_AGAIN
