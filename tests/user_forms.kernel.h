/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_forms.kernel.h
 *  Teams and sums with bodies in the languages of back ends beside the portable ones, and with what
 *  META_CHECK=1 finds in them; see test_user_forms.c. */
#define META_KERNEL_TYPES (META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

/* Does the one wrong thing that it is told, in the member of index (5, 3, 2). */
#define strays_ARGS(A)                                                                             \
    A(OUT, T, out) A(IN, T, in, STAR(1)) A(INOUT, T, table, WHOLE) A(IN, T, all, WHOLE)            \
    A(SHARED, int32_t, other, 4 * 3 * 2) A(SHARED, T, tile, 4 * 3 * 2) A(VALUE, int32_t, wrong)    \
    A(VALUE, int64_t, n) A(SUM, int64_t, cells)
META_TEAMS(strays, 4, 3, 2)
{
    const T all_of_team = GET(all, wrong == 1 ? n : 0); /* the line of all */
    MEMBERS
    {
        const int64_t m = MY(0) + 4 * (MY(1) + 3 * MY(2));
        SHARED(other, m) = 1;
        SHARED(tile, m) = ON(in);
    }
    MEMBERS
    {
        const int here = INDEX(0) == 5 && INDEX(1) == 3 && INDEX(2) == 2;
        const int64_t m = MY(0) + 4 * (MY(1) + 3 * MY(2));
        T v = SHARED(tile, m) + all_of_team;
        ADD(cells, 1);
        if (wrong == 2 && here) v += AT(in, 0, n, 0); /* the line of in */
        if (wrong == 3 && here) GET(table, n) = v; /* the line of table */
        if (wrong == 4 && here) SHARED(tile, n) = v; /* the line of tile */
        if (wrong == 5 && here) AT(out, 0, 0, n) = v; /* the line of out */
        ON(out) = v;
    }
}

/* Writes all cells of a team but those of one member, of the last team along each dimension. */
#define skips_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL) A(SHARED, T, tile, 4 * 3 * 2) A(VALUE, int32_t, wrong)
META_TEAMS(skips, 4, 3, 2)
{
    MEMBERS { SHARED(tile, MY(0) + 4 * (MY(1) + 3 * MY(2))) = ON(in); }
    MEMBERS
    {
        if (wrong && MY(0) == 0 && TEAM(0) == 2 && TEAM(1) == 1 && TEAM(2) == 1) continue;
        ON(out) = SHARED(tile, MY(0) + 4 * (MY(1) + 3 * MY(2)));
    }
}

/* Each cell gets the element of its team's opposite member, and what the own bodies add: `mark`. */
#define turned_ARGS(A)                                                                             \
    A(OUT, T, out) A(IN, T, in, CELL) A(SHARED, T, tile, 5 * 2) A(VALUE, T, mark)                  \
    A(VALUE, int32_t, spill) A(SUM, int64_t, cells)
META_TEAMS(turned, 5, 2, 1)
{
    const int64_t last = EXTENT(0) * EXTENT(1) - 1;
    MEMBERS { SHARED(tile, MY(0) + EXTENT(0) * MY(1)) = ON(in); }
    MEMBERS
    {
        ADD(cells, 1);
        ON(out) = SHARED(tile, last - MY(0) - EXTENT(0) * MY(1));
    }
}
#if defined META_NATIVE_OPENCL || defined META_NATIVE_GPU
#define TURNED_PHASE                                                                               \
    MEMBERS                                                                                        \
    {                                                                                              \
        ADD(cells, 1);                                                                             \
        if (spill && INDEX(0) == 0 && INDEX(1) == 0) SHARED(tile, 10) = 0;                       \
        if (STRIDE(in, 0) == 1)                                                                    \
            ON(out) = SHARED(tile, EXTENT(3) * last - MY(0) - EXTENT(0) * MY(1)) + mark;           \
    }
#ifdef META_NATIVE_OPENCL
META_NATIVE_OPENCL(turned)
{
    const int64_t last = mul24((int)EXTENT(0), (int)EXTENT(1)) - 1;
    MEMBERS { SHARED(tile, MY(0) + EXTENT(0) * MY(1)) = *&ON(in); }
#ifdef META_TEAM_BARRIER /* which a member that has left its phase waits at as well */
    META_TEAM_BARRIER;
#endif
    TURNED_PHASE /* the line of OpenCL */
}
#else
META_NATIVE_GPU(turned)
{
    auto last = static_cast<int64_t>(EXTENT(0) * EXTENT(1) - 1);
    MEMBERS { SHARED(tile, MY(0) + EXTENT(0) * MY(1)) = *&ON(in); }
#ifdef META_TEAM_BARRIER
    META_TEAM_BARRIER;
#endif
    TURNED_PHASE /* the line of GPUs */
}
#endif
#endif

/* Sums of numbers of very different sizes; `off` goes to the native body's contribution of one cell. */
#define totals_ARGS(A)                                                                             \
    A(OUT, T, out) A(IN, T, in, STAR(1)) A(VALUE, double, off) A(VALUE, int32_t, reach)            \
    A(SUM, double, total) A(MAX, T, most) A(SUM, T, narrow)
META_CELLS(totals)
{
    ON(out) = AT1(in, reach); /* the line of reach */
    ADD(total, (double)ON(in) * 1e10);
    RAISE(most, ON(in));
    ADD(narrow, ON(in));
}
#if defined META_NATIVE_OPENCL || defined META_NATIVE_GPU
#define TOTALS                                                                                     \
    {                                                                                              \
        ON(out) = AT1(in, reach);                                                                  \
        ADD(total, (double)ON(in) * 1e10 + (INDEX(0) == 9 && INDEX(1) == 3 ? off : 0));            \
        RAISE(most, ON(in));                                                                       \
        if (EXTENT(3) == 1) ADD(narrow, *&ON(in));                                                 \
    }
#ifdef META_NATIVE_OPENCL
META_NATIVE_OPENCL(totals) TOTALS
#else
META_NATIVE_GPU(totals) TOTALS
#endif
#endif

/* A team's members contribute in two phases. The own bodies also do so outside phases, nothing; `off`
 * goes to the contribution of one of their members. */
#define shares_ARGS(A)                                                                             \
    A(OUT, T, out) A(IN, T, in, STAR(1)) A(SHARED, T, tile, 5 * 2) A(VALUE, double, off)           \
    A(VALUE, int32_t, reach) A(SUM, double, total) A(SUM, int64_t, cells)
META_TEAMS(shares, 5, 2, 1)
{
    const int64_t last = EXTENT(0) * EXTENT(1) - 1;
    MEMBERS
    {
        SHARED(tile, MY(0) + EXTENT(0) * MY(1)) = ON(in);
        ADD(total, (double)ON(in) * 1e10);
    }
    MEMBERS
    {
        ON(out) = AT1(in, reach); /* the line of share */
        ADD(total, -(double)SHARED(tile, last - MY(0) - EXTENT(0) * MY(1)));
        ADD(cells, 1);
    }
}
#if defined META_NATIVE_OPENCL || defined META_NATIVE_GPU
#define SHARES                                                                                     \
    {                                                                                              \
        MEMBERS                                                                                    \
        {                                                                                          \
            SHARED(tile, MY(0) + EXTENT(0) * MY(1)) = *&ON(in);                                    \
            ADD(total, (double)ON(in) * 1e10);                                                     \
        }                                                                                          \
        ADD(total, 0);                                                                             \
        MEMBERS                                                                                    \
        {                                                                                          \
            const int64_t opposite = EXTENT(0) * EXTENT(1) - 1 - MY(0) - EXTENT(0) * MY(1);        \
            ON(out) = AT1(in, reach);                                                              \
            ADD(total, -(double)SHARED(tile, opposite));                                           \
            if (INDEX(0) == 9 && INDEX(1) == 3) ADD(total, off);                                   \
            ADD(cells, 1);                                                                         \
        }                                                                                          \
    }
#ifdef META_NATIVE_OPENCL
META_NATIVE_OPENCL(shares) SHARES
#else
META_NATIVE_GPU(shares) SHARES
#endif
#endif

#include META_AGAIN
