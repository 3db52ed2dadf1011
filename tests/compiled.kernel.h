/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels with every kind of parameter, for every element type: of test_gpu_compilers.c. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_U64 | META_KERNEL_I32 |     \
     META_KERNEL_U32)
#include <meta_kernel.h>

#ifndef COMPILED_PAIR
#define COMPILED_PAIR
typedef struct compiled_pair {
    double factor;
    int32_t shift;
} compiled_pair;
#endif

META_FUNCTION T FN(between)(T low, T x, T high)
{
    return MOST(low, LEAST(x, high));
}

#define kinds_ARGS(A)                                                                              \
    A(OUT, T, out) A(INOUT, T, both) A(IN, T, cell, CELL) A(IN, T, star, STAR(2))                  \
    A(IN, T, box, BOX(1)) A(IN, T, sides, SIDES(1, 0, 0, 1, 1, 0)) A(IN, int32_t, which, CELL)     \
    A(IN, T, table, WHOLE) A(VALUE, T, k) A(VALUE, compiled_pair, pair) A(VALUE, uint8_t, small)   \
    A(SUM, T, sum) A(MIN, T, low) A(MAX, T, high) A(SUM, int64_t, count) A(MAX, double, far)
META_CELLS(kinds)
{
    const T near = AT(star, -2, 0, 0) + AT(star, 0, 2, 0) - AT(box, 1, -1, 1) +
                   AT(sides, -1, 1, -1);
    const T x = k * AT(cell, 0, 0, 0) + near + GET(table, AT(which, 0, 0, 0));
    AT(out, 0, 0, 0) = FN(between)((T)0, x, (T)1000) +
                       (T)(INDEX(0) + 10 * INDEX(1) + 100 * INDEX(2));
    AT(both, 0, 0, 0) += ABS(near) + (T)(small + pair.shift);
    ADD(sum, AT(out, 0, 0, 0));
    LOWER(low, x);
    RAISE(high, x);
    if (x > (T)20) ADD(count, 1);
    RAISE(far, pair.factor * (double)INDEX(0));
}

#define line_ARGS(A) A(OUT, T, to) A(IN, T, from, STAR(1)) A(MAX, T, most)
META_CELLS(line)
{
    AT1(to, 0) = (AT1(from, -1) + AT1(from, 1)) / 2;
    RAISE(most, AT1(to, 0));
}

#define four_ARGS(A) A(OUT, T, to) A(IN, T, from, BOX(1))
META_CELLS(four)
{
    AT4(to, 0, 0, 0, 0) = AT4(from, 1, -1, 1, -1) + (T)INDEX(3);
}

/* Elements of every type that cells add to; a number on the device; elements written anywhere. */
#define adds_ARGS(A)                                                                               \
    A(ADD, T, to, STAR(1)) A(SCALAR, T, k) A(ADD, double, d, CELL) A(ADD, float, f, WHOLE)         \
    A(IN, int32_t, which, CELL) A(ADD, int64_t, i64, WHOLE) A(ADD, uint64_t, u64, CELL)            \
    A(ADD, int32_t, i32, BOX(1)) A(SCALAR, int32_t, by) A(ADD, uint32_t, u32, CELL)                \
    A(INOUT, T, both, WHOLE) A(SUM, T, sum)
META_CELLS(adds)
{
    const int32_t n = AT(which, 0, 0, 0);
    ADD_TO(AT(to, -1, 0, 0), k);
    ADD_TO(AT(to, 0, 1, 0), k + k);
    ADD_TO(AT(d, 0, 0, 0), n);
    ADD_TO(GET(f, n), 2.5);
    ADD_TO(GET(i64, n), -n);
    ADD_TO(AT(u64, 0, 0, 0), n);
    ADD_TO(AT(i32, 1, 1, -1), -by);
    ADD_TO(AT(u32, 0, 0, 0), -1);
    GET(both, INDEX(0) + 20 * INDEX(1) + 400 * INDEX(2)) += k;
    ADD(sum, k);
}

#define shapes_ARGS(A)                                                                             \
    A(OUT, T, to) A(IN, T, row, STAR(1), LINE(0)) A(IN, T, column, BOX(2), LINE(1))                \
    A(IN, T, side, CELL, PLANE(0)) A(IN, T, top, PLANE(1))                                         \
    A(IN, T, u, SIDES2(0, 1, 0, 0), GROWN2(1, 0)) A(INOUT, T, v, GROWN2(0, 1))
META_CELLS(shapes)
{
    ON(to) = AT2(row, -1, 0) + 2 * AT2(column, 0, 2) + 4 * ON(side) + 8 * ON(top) +
             16 * (AT2(u, 1, 0) - ON(u));
    ON(v) += ON(top);
}

/* Extremes with their places between other results: ties, cells that contribute nothing or twice. */
#define places_ARGS(A)                                                                             \
    A(IN, T, u, STAR(1)) A(MIN_AT, T, low) A(SUM, T, sum) A(MAX_AT, T, high) A(MIN, T, least)      \
    A(MAX_AT, int64_t, far) A(MIN_AT, T, none)
META_CELLS(places)
{
    LOWER(low, AT(u, 1, 0, 0));
    ADD(sum, ON(u));
    if (INDEX(0) % 2) RAISE(high, ON(u));
    if (INDEX(0) % 2) RAISE(high, AT(u, 0, 1, 0));
    LOWER(least, ON(u));
    RAISE(far, INDEX(0) / 2 + INDEX(1));
    if (INDEX(0) < 0) LOWER(none, ON(u));
}

#define COMPILED_EIGHT(A, x)                                                                       \
    A(IN, T, x##0, CELL) A(IN, T, x##1, CELL) A(IN, T, x##2, CELL) A(IN, T, x##3, CELL)            \
    A(IN, T, x##4, CELL) A(IN, T, x##5, CELL) A(IN, T, x##6, CELL) A(IN, T, x##7, CELL)
#ifndef COMPILED_BLOCK
#define COMPILED_BLOCK
typedef struct compiled_block {
    double number[8];
} compiled_block;
#endif
/* More bytes of arguments than a GPU takes by value. */
#define wide_ARGS(A)                                                                               \
    COMPILED_EIGHT(A, a) COMPILED_EIGHT(A, b) COMPILED_EIGHT(A, c)                                 \
    A(IN, T, d0, CELL) A(IN, T, d1, CELL) A(IN, T, d2, CELL) A(IN, T, d3, CELL)                    \
    A(IN, T, d4, CELL) A(IN, T, d5, CELL) A(IN, T, d6, CELL) A(OUT, T, out)                        \
    A(VALUE, compiled_block, v0) A(VALUE, compiled_block, v1) A(VALUE, compiled_block, v2)         \
    A(VALUE, compiled_block, v3) A(VALUE, compiled_block, v4) A(VALUE, compiled_block, v5)         \
    A(VALUE, compiled_block, v6) A(VALUE, compiled_block, v7) A(VALUE, compiled_block, v8)         \
    A(VALUE, compiled_block, v9) A(VALUE, compiled_block, va) A(VALUE, compiled_block, vb)         \
    A(VALUE, compiled_block, vc) A(VALUE, compiled_block, vd)
META_CELLS(wide)
{
    AT2(out, 0, 0) = AT2(a0, 0, 0) + AT2(b1, 0, 0) + AT2(c7, 0, 0) + AT2(d6, 0, 0) +
                     (T)(v0.number[0] + v9.number[4] + vd.number[7]);
}

/* Teams, some with fewer members than the others; memory of two types, phases in a loop. */
#define tiles_ARGS(A)                                                                              \
    A(OUT, T, out) A(IN, T, in, STAR(1)) A(ADD, int32_t, hits, CELL) A(IN, T, row, LINE(1))        \
    A(SHARED, T, tile, 4 * 3 * 2) A(SHARED, double, share, 4) A(VALUE, compiled_pair, pair)        \
    A(SUM, T, sum) A(MAX, T, most)
META_TEAMS(tiles, 4, 3, 2)
{
    const int64_t columns = EXTENT(0), count = columns * EXTENT(1) * EXTENT(2);
    MEMBERS
    {
        SHARED(tile, MY(0) + columns * (MY(1) + EXTENT(1) * MY(2))) = ON(in) + AT(in, 0, -1, 0);
        if (MY(1) != 0 || MY(2) != 0) continue;
        SHARED(share, MY(0)) = pair.factor;
        ADD_TO(ON(hits), (int32_t)TEAMS(0));
    }
    for (int64_t gap = 16; gap > 0; gap /= 2) {
        MEMBERS
        {
            const int64_t n = MY(0) + columns * (MY(1) + EXTENT(1) * MY(2));
            if (n < gap && n + gap < count) SHARED(tile, n) += SHARED(tile, n + gap);
        }
    }
    MEMBERS
    {
        const T all = SHARED(tile, 0) + (T)SHARED(share, columns - 1 - MY(0)) + ON(row);
        ON(out) = all + (T)(INDEX(1) - START(1) + 3 * TEAM(2) + pair.shift);
        ADD(sum, ON(out));
        RAISE(most, all);
    }
}
#ifdef META_NATIVE_GPU
META_NATIVE_GPU(tiles)
{
    const int64_t columns = EXTENT(0);
    MEMBERS
    {
        const T *at = &ON(in);
        SHARED(tile, MY(0) + columns * (MY(1) + EXTENT(1) * MY(2))) = at[-STRIDE(in, 1)];
        SHARED(share, MY(0)) = EXTENT(3) * pair.factor;
        ADD_TO(ON(hits), (int32_t)TEAMS(0));
    }
    MEMBERS
    {
        ON(out) = SHARED(tile, 0) + ON(row) + (T)(SHARED(share, columns - 1 - MY(0)) + pair.shift);
        ADD(sum, ON(out));
        RAISE(most, ON(in));
    }
}
#endif

/* With a body for GPUs. */
#define native_ARGS(A)                                                                             \
    A(OUT, T, to) A(IN, T, from, STAR(1)) A(INOUT, T, table, WHOLE) A(ADD, T, sums, CELL)          \
    A(VALUE, T, k) A(SUM, T, sum) A(MAX, T, most)
META_CELLS(native)
{
    ON(to) = AT1(from, 1) * k;
    GET(table, INDEX(0) + 20 * INDEX(1) + 400 * INDEX(2)) += k;
    ADD_TO(ON(sums), k);
    ADD(sum, ON(from));
    RAISE(most, ON(from));
}
#ifdef META_NATIVE_GPU
META_NATIVE_GPU(native)
{
    const T *at = &ON(from);
    ON(to) = at[STRIDE(from, 0)] * k;
    GET(table, INDEX(0) + 20 * INDEX(1) + 400 * INDEX(2)) += k;
    ADD_TO(ON(sums), k);
    if (INDEX(0) < EXTENT(0) + 1000) ADD(sum, AT1(from, 0));
    RAISE(most, AT1(from, 0));
}
#endif
#include META_AGAIN
