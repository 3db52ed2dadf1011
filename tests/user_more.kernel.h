/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_more.kernel.h
 *  Kernels with parameters of every kind, for one floating and one integer type; see
 *  test_user_more.c. */
#define META_KERNEL_TYPES (META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

/* Reaches a different number of cells in each direction. */
#define sides_ARGS(A) A(OUT, T, out) A(IN, T, in, SIDES(2, 1, 0, 3, 1, 0))
META_CELLS(sides)
{
    AT(out, 0, 0, 0) = AT(in, -2, 0, 0) - AT(in, 1, 0, 0) + 3 * AT(in, 0, 3, 0) -
                       5 * AT(in, 0, 0, -1) + 7 * AT(in, -1, 2, -1);
}

/* Four dimensions, and further than the next cell. */
#define far_ARGS(A) A(OUT, T, out) A(IN, T, near, BOX(1)) A(IN, T, distant, STAR(2))
META_CELLS(far)
{
    AT4(out, 0, 0, 0, 0) = AT4(near, -1, 1, -1, 1) - 2 * AT4(near, 1, -1, 1, -1) +
                           AT4(distant, -2, 0, 0, 0) - 3 * AT4(distant, 0, 2, 0, 0) +
                           5 * AT4(distant, 0, 0, -2, 0) - 7 * AT4(distant, 0, 0, 0, 2);
}

/* The words for boxes of one and two dimensions. */
#define line_ARGS(A) A(OUT, T, out) A(IN, T, in, STAR(1))
META_CELLS(line)
{
    AT1(out, 0) = AT1(in, -1) - 2 * AT1(in, 1);
}
#define plane_ARGS(A) A(OUT, T, out) A(IN, T, in, BOX(1))
META_CELLS(plane)
{
    AT2(out, 0, 0) = AT2(in, -1, 1) - 2 * AT2(in, 1, -1);
}

/* Where a cell is. */
#define where_ARGS(A)                                                                              \
    A(OUT, int64_t, x) A(OUT, int64_t, y) A(OUT, int64_t, z) A(OUT, int64_t, w) A(OUT, T, ramp)
META_CELLS(where)
{
    AT(x, 0, 0, 0) = INDEX(0);
    AT(y, 0, 0, 0) = INDEX(1);
    AT(z, 0, 0, 0) = INDEX(2);
    AT(w, 0, 0, 0) = INDEX(3);
    AT(ramp, 0, 0, 0) = (T)(INDEX(0) % 100 - INDEX(1) % 10);
}

/* Arrays of other types than T's, read and written under a condition. */
#define masked_ARGS(A)                                                                             \
    A(OUT, int32_t, side) A(INOUT, T, field) A(INOUT, uint64_t, visits) A(IN, int32_t, mask, CELL) \
    A(IN, uint32_t, level, STAR(1))
META_CELLS(masked)
{
    const uint32_t here = AT(level, 0, 0, 0);
    const int32_t is_set = AT(mask, 0, 0, 0) != 0;
    if (is_set) AT(field, 0, 0, 0) = -AT(field, 0, 0, 0);
    AT(side, 0, 0, 0) = is_set ? here < AT(level, 1, 0, 0) : -1;
    AT(visits, 0, 0, 0) += (uint64_t)here;
}

/* Values of every type; small ones are widened as in C. */
#define values_ARGS(A)                                                                             \
    A(OUT, int64_t, whole) A(OUT, T, sum) A(VALUE, int64_t, i64) A(VALUE, uint64_t, u64)           \
    A(VALUE, int32_t, i32) A(VALUE, uint32_t, u32) A(VALUE, int16_t, i16) A(VALUE, uint8_t, u8)    \
    A(VALUE, float, f32) A(VALUE, T, t)
META_CELLS(values)
{
    AT(whole, 0, 0, 0) = i64 - (int64_t)u64 + i32 - (int64_t)u32 + i16 - u8;
    AT(sum, 0, 0, 0) = (T)f32 + t;
}

/* Structures: one type for the whole program, one for each element type. */
#ifndef USER_MORE_STRUCTURES
#define USER_MORE_STRUCTURES
typedef struct user_more_shape {
    int64_t factor[3];
    int32_t shift;
    int16_t step;
    int8_t sign;
} user_more_shape;
typedef struct user_more_large {
    uint32_t number[16];
} user_more_large;
#endif
#define structures_ARGS(A)                                                                         \
    A(OUT, int64_t, out) A(VALUE, user_more_shape, shape) A(VALUE, user_more_large, large)         \
    A(VALUE, T, last)
META_CELLS(structures)
{
    const int64_t x = INDEX(0) % 16;
    AT(out, 0, 0, 0) = shape.factor[0] + shape.factor[1] * shape.factor[2] +
                       (int64_t)(shape.shift * shape.sign) + shape.step +
                       (int64_t)large.number[x] * (int64_t)large.number[15 - x] + (int64_t)last;
}

/* More bytes of values than many devices take as arguments. */
#define wide_ARGS(A)                                                                               \
    A(OUT, int64_t, out) A(VALUE, user_more_large, a) A(VALUE, user_more_large, b)                 \
    A(VALUE, user_more_large, c) A(VALUE, user_more_large, d) A(VALUE, user_more_large, e)         \
    A(VALUE, user_more_large, f) A(VALUE, user_more_large, g) A(VALUE, user_more_large, h)         \
    A(VALUE, user_more_large, l) A(VALUE, user_more_large, m) A(VALUE, user_more_large, o)         \
    A(VALUE, user_more_large, p) A(VALUE, user_more_large, q) A(VALUE, user_more_large, t)         \
    A(VALUE, user_more_large, u) A(VALUE, user_more_large, v) A(VALUE, user_more_large, z)
META_CELLS(wide)
{
    const int64_t x = INDEX(0) % 16;
    AT(out, 0, 0, 0) = (int64_t)a.number[x] + b.number[x] + c.number[x] + d.number[x] +
                       e.number[x] + f.number[x] + g.number[x] + h.number[x] + l.number[x] +
                       m.number[x] + o.number[x] + p.number[x] + q.number[x] + t.number[x] +
                       u.number[x] + v.number[x] + z.number[x];
}

/* The least that a kernel can be, and the most. */
#define single_ARGS(A) A(OUT, T, out)
META_CELLS(single)
{
    AT(out, 0, 0, 0) = 42;
}
#define crowd_ARGS(A)                                                                              \
    A(OUT, T, a00) A(INOUT, T, a01) A(OUT, int32_t, a02) A(IN, T, a03, CELL) A(IN, T, a04, CELL)   \
    A(IN, T, a05, CELL) A(IN, T, a06, STAR(1)) A(IN, T, a07, STAR(1)) A(IN, T, a08, BOX(1))        \
    A(IN, int32_t, a09, BOX(1)) A(IN, T, a10, CELL) A(IN, T, a11, CELL) A(IN, T, a12, CELL)        \
    A(IN, T, a13, CELL) A(IN, T, a14, CELL) A(IN, T, a15, CELL) A(IN, T, a16, CELL)                \
    A(IN, T, a17, CELL) A(IN, T, a18, CELL) A(IN, T, a19, CELL) A(IN, T, a20, CELL)                \
    A(IN, T, a21, CELL) A(IN, T, a22, CELL) A(IN, T, a23, CELL) A(IN, T, a24, CELL)                \
    A(IN, T, a25, CELL) A(IN, T, a26, CELL) A(IN, T, a27, CELL) A(IN, T, a28, CELL)                \
    A(IN, T, a29, CELL) A(IN, T, a30, CELL) A(IN, T, a31, WHOLE) A(VALUE, T, k)
META_CELLS(crowd)
{
    AT(a00, 0, 0, 0) = AT(a03, 0, 0, 0) - AT(a04, 0, 0, 0) + 2 * AT(a05, 0, 0, 0) -
                       AT(a06, -1, 0, 0) + 3 * AT(a07, 0, 1, 0) - 4 * AT(a08, 1, 1, 1) +
                       (T)AT(a09, -1, -1, -1);
    AT(a01, 0, 0, 0) += AT(a10, 0, 0, 0) - AT(a11, 0, 0, 0) + 2 * AT(a12, 0, 0, 0) -
                        3 * AT(a13, 0, 0, 0) + 4 * AT(a14, 0, 0, 0) - 5 * AT(a15, 0, 0, 0) +
                        6 * AT(a16, 0, 0, 0) - 7 * AT(a17, 0, 0, 0) + 8 * AT(a18, 0, 0, 0) -
                        9 * AT(a19, 0, 0, 0) + AT(a20, 0, 0, 0) - k;
    AT(a02, 0, 0, 0) = (int32_t)(AT(a21, 0, 0, 0) - AT(a22, 0, 0, 0) + 2 * AT(a23, 0, 0, 0) -
                                 3 * AT(a24, 0, 0, 0) + 4 * AT(a25, 0, 0, 0) -
                                 5 * AT(a26, 0, 0, 0) + 6 * AT(a27, 0, 0, 0) -
                                 7 * AT(a28, 0, 0, 0) + 8 * AT(a29, 0, 0, 0) -
                                 9 * AT(a30, 0, 0, 0) + GET(a31, 2));
}

/* Names that the back ends' own texts may use; arrays and values called alike. */
#define step_ARGS(A)                                                                               \
    A(OUT, T, s) A(OUT, T, r) A(IN, T, u, CELL) A(IN, T, u_1, CELL) A(IN, T, operand0, CELL)       \
    A(VALUE, T, word0) A(VALUE, T, i) A(VALUE, T, x) A(VALUE, T, n) A(VALUE, T, at)                \
    A(VALUE, T, partials) A(VALUE, T, scratch) A(VALUE, T, row_) A(VALUE, T, u_2)                  \
    A(MAX, T, most) A(VALUE, T, most_of) A(VALUE, T, most_row) A(SUM, T, tree_) A(VALUE, T, rows)
META_CELLS(step)
{
    AT(s, 0, 0, 0) = AT(u, 0, 0, 0) + word0 - i + x - n + at;
    AT(r, 0, 0, 0) =
        AT(u_1, 0, 0, 0) + AT(operand0, 0, 0, 0) + partials - scratch + row_ - u_2 + rows;
    RAISE(most, AT(u, 0, 0, 0) + most_of - most_row);
    ADD(tree_, AT(u_1, 0, 0, 0));
}

/* A local variable or a helper may be called as a word of OpenCL's or of CUDA's. */
META_FUNCTION T FN(mix)(T a, T b)
{
    return a - b;
}
#define dot_ARGS(A) A(OUT, T, out) A(IN, T, in, CELL) A(VALUE, T, min)
META_CELLS(dot)
{
    const T max = AT(in, 0, 0, 0), distance = FN(mix)(max, min);
    AT(out, 0, 0, 0) = distance;
}

/* The words of arithmetic. */
#define words_ARGS(A)                                                                              \
    A(OUT, T, absolute) A(OUT, T, least) A(OUT, T, most) A(IN, T, a, CELL) A(IN, T, b, CELL)
META_CELLS(words)
{
    const T x = AT(a, 0, 0, 0), y = AT(b, 0, 0, 0);
    AT(absolute, 0, 0, 0) = ABS(x - y);
    AT(least, 0, 0, 0) = LEAST(x, y);
    AT(most, 0, 0, 0) = MOST(x, y + 1);
}

/* To even numbers where they are as near; and of what the compiler knows, beyond all integers. */
#define rounded_ARGS(A) A(OUT, T, halves) A(OUT, T, known) A(IN, T, in, CELL)
META_CELLS(rounded)
{
    const float beyond = 1e19f;
    AT(halves, 0, 0, 0) = (T)rint((float)AT(in, 0, 0, 0) * 0.5f);
    AT(known, 0, 0, 0) = (float)rint(beyond) == beyond ? AT(in, 0, 0, 0) : 0;
}

/* A cell of an OUT array is read where the body has written it. */
#define back_ARGS(A) A(OUT, T, first) A(OUT, T, second) A(IN, T, in, CELL)
META_CELLS(back)
{
    AT(first, 0, 0, 0) = AT(in, 0, 0, 0) + 1;
    AT(second, 0, 0, 0) = AT(first, 0, 0, 0) * 2;
    AT(first, 0, 0, 0) += AT(second, 0, 0, 0);
}

#include META_AGAIN
