/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user_shapes.kernel.h
 *  Kernels with arrays whose shape is not the box's; see test_user_shapes.c. Coefficients are powers
 *  of two, so that their products are exact. */
#define META_KERNEL_TYPES (META_KERNEL_F32 | META_KERNEL_I32)
#include <meta_kernel.h>

/* Arrays that lack dimensions, at the cell itself. */
#define dropped_ARGS(A)                                                                            \
    A(OUT, T, out) A(IN, T, field, CELL) A(IN, T, profile, LINE(2)) A(IN, T, surface, PLANE(2))    \
    A(IN, T, row, LINE(0)) A(IN, T, side, CELL, PLANE(0)) A(IN, int32_t, mask, LINE(1))
META_CELLS(dropped)
{
    const T far = ON(row) - ON(side);
    ON(out) = ON(field) + 2 * ON(profile) - 4 * ON(surface) + 8 * (ON(mask) < 0 ? -far : far);
}

/* With neighbours: offsets along dimensions that the array lacks do not count. */
#define levels_ARGS(A)                                                                             \
    A(OUT, T, out) A(IN, T, level, SIDES(0, 0, 0, 0, 0, 1), LINE(2), GROWN(0, 0, 1))                \
    A(IN, T, height, STAR(1), PLANE(2)) A(IN, T, metric, BOX(2), LINE(1))                          \
    A(IN, T, wall, SIDES(0, 0, 1, 0, 0, 2), GROWN(0, 0, -1), PLANE(0))
META_CELLS(levels)
{
    const T thick = AT(level, 0, 0, 1) - ON(level);
    const T slope = AT(height, 1, 0, 0) - AT(height, -1, 0, 0) + AT(height, 0, -1, 0);
    AT(out, 0, 0, 0) = thick + 2 * slope - 4 * AT(height, 0, 1, 0) + 8 * AT(metric, 0, -2, 0) -
                       AT(metric, 1, 2, -1) + 2 * AT(wall, 0, -1, 2) - 4 * AT(wall, 5, 0, 1);
}

/* Velocities on faces, from cells and to cells. */
#define faces_ARGS(A)                                                                              \
    A(OUT, T, u, GROWN(1, 0, 0)) A(INOUT, T, v, GROWN(0, 1, 0)) A(OUT, T, w, GROWN(0, 0, 3))       \
    A(IN, T, p, SIDES(1, 0, 1, 0, 1, 0))
META_CELLS(faces)
{
    AT(u, 0, 0, 0) = ON(p) - AT(p, -1, 0, 0);
    AT(v, 0, 0, 0) += ON(p) - AT(p, 0, -1, 0);
    ON(w) = ON(p) - AT(p, 0, 0, -1);
}
#define divergence_ARGS(A)                                                                         \
    A(OUT, T, out) A(IN, T, u, SIDES(0, 1, 0, 0, 0, 0), GROWN(1, 0, 0))                            \
    A(IN, T, v, SIDES(0, 0, 0, 1, 0, 0), GROWN(0, 1, 0))                                           \
    A(IN, T, w, SIDES(0, 0, 0, 0, 0, 1), GROWN(0, 0, 1)) A(SUM, int64_t, out_of)
META_CELLS(divergence)
{
    const T d = AT(u, 1, 0, 0) - ON(u) + AT(v, 0, 1, 0) - ON(v) + AT(w, 0, 0, 1) - ON(w);
    AT(out, 0, 0, 0) = d;
    ADD(out_of, d > 0);
}

/* A box of faces, with cells on both sides of each. */
#define between_ARGS(A)                                                                            \
    A(OUT, T, u) A(IN, T, p, SIDES(1, 0, 0, 0, 0, 0), GROWN(-1, 0, 0)) A(OUT, T, q, GROWN(-1, 0, 0))
META_CELLS(between)
{
    AT(u, 0, 0, 0) = 2 * AT(p, 0, 0, 0) - AT(p, -1, 0, 0);
    AT(q, 0, 0, 0) = -ON(p);
}

/* Boxes of one, two and four dimensions. */
#define one_ARGS(A) A(OUT, T, out, GROWN(2, 0, 0)) A(IN, T, in, SIDES(0, 2, 0, 0, 0, 0), LINE(0))
META_CELLS(one)
{
    AT1(out, 0) = AT1(in, 2) - 2 * ON(in);
}
#define two_ARGS(A) A(OUT, T, out) A(IN, T, x, STAR(1), PLANE(1)) A(IN, T, y, STAR(1), PLANE(0))
META_CELLS(two)
{
    AT2(out, 0, 0) = AT2(x, 1, 0) - AT2(x, -1, 0) + 2 * AT2(y, 0, 1) - AT2(y, 0, -1);
}
#define four_ARGS(A)                                                                               \
    A(OUT, T, out) A(IN, T, w, BOX(1), LINE(3)) A(IN, T, space, BOX(1), PLANE(3))                  \
    A(IN, T, x, STAR(1), LINE(0))
META_CELLS(four)
{
    AT4(out, 0, 0, 0, 0) = AT4(w, 0, 0, 0, 1) - AT4(w, 1, 1, 1, -1) + 2 * AT4(space, 1, -1, 1, 0) -
                           4 * AT4(x, -1, 0, 0, 0);
}

/* Nothing of the box's shape but the loop: results of a profile alone. */
#define mean_ARGS(A) A(IN, int32_t, profile, LINE(1)) A(SUM, int64_t, total) A(MAX, T, most)
META_CELLS(mean)
{
    ADD(total, ON(profile));
    RAISE(most, (T)ON(profile));
}

/* The cells of a layer are added to one element. */
#define layers_ARGS(A)                                                                             \
    A(IN, T, field, CELL) A(IN, T, start, LINE(2)) A(ADD, T, sums, LINE(2))
META_CELLS(layers)
{
    ADD_TO(ON(sums), ON(field) + ON(start));
}

/* To elements along each dimension, and to those of a plane. */
#define totals_ARGS(A)                                                                             \
    A(IN, T, field, CELL) A(ADD, T, x, LINE(0)) A(ADD, T, y, LINE(1)) A(ADD, T, z, LINE(2))        \
    A(ADD, T, xy, STAR(1), PLANE(2))
META_CELLS(totals)
{
    ADD_TO(ON(x), ON(field));
    ADD_TO(ON(y), ON(field));
    ADD_TO(ON(z), ON(field));
    ADD_TO(AT(xy, 1, 0, 0), ON(field));
}
#define along_x_ARGS(A) A(IN, T, field, CELL) A(ADD, T, x, LINE(0))
META_CELLS(along_x)
{
    ADD_TO(ON(x), ON(field));
}
#define along_z_ARGS(A) A(IN, T, field, CELL) A(ADD, T, z, LINE(2))
META_CELLS(along_z)
{
    ADD_TO(ON(z), ON(field));
}

#include META_AGAIN
