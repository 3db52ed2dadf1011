/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that test_fortran_kernels.f90 runs. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_I32)
#define META_KERNEL_FILE  "fortran.kernel.h"
#include <meta_kernel.h>

#ifndef FORTRAN_GROWTH
#define FORTRAN_GROWTH
typedef struct growth {
    int32_t by, limit;
} growth;
#endif

#define blend_ARGS(A)                                                                              \
    A(OUT, T, to) A(IN, T, from, SIDES(1, 0, 0, 2, 0, 0)) A(VALUE, T, weight)                      \
    A(SUM, T, total) A(MAX, T, largest)
META_CELLS(blend)
{
    const T x = AT2(from, -1, 0) + weight * AT2(from, 0, 2);
    AT2(to, 0, 0) = x;
    ADD(total, x);
    RAISE(largest, x);
}

#define grow_ARGS(A)                                                                               \
    A(INOUT, T, field) A(IN, uint32_t, masked, CELL) A(VALUE, growth, g) A(SUM, int64_t, full)
META_CELLS(grow)
{
    if (AT2(masked, 0, 0)) return;
    const T next = LEAST(AT2(field, 0, 0) + (T)g.by, (T)g.limit);
    AT2(field, 0, 0) = next;
    ADD(full, next == (T)g.limit);
}

#define gather_ARGS(A) A(OUT, T, to) A(IN, T, from, WHOLE) A(IN, int32_t, index, CELL)
META_CELLS(gather)
{
    AT1(to, 0) = GET(from, AT1(index, 0));
}

#define places_ARGS(A) A(IN, int64_t, weight, WHOLE) A(SUM, int64_t, sum)
META_CELLS(places)
{
    ADD(sum, GET(weight, 0) * INDEX(0) + GET(weight, 1) * INDEX(1));
}

#define follow_ARGS(A) A(OUT, T, ghost) A(IN, T, inner, CELL)
META_CELLS(follow)
{
    AT2(ghost, 0, 0) = AT2(inner, 0, 0);
}

/* Faces of a column of cells, a profile along y, and a number on the device. */
#define shapes_ARGS(A)                                                                             \
    A(OUT, T, cells) A(IN, T, faces, SIDES(0, 1, 0, 0, 0, 0), GROWN(1, 0, 0))                      \
    A(IN, T, profile, LINE(1)) A(SCALAR, T, factor) A(ADD, T, sums, LINE(1))
META_CELLS(shapes)
{
    AT2(cells, 0, 0) = factor * (AT2(faces, 1, 0) - AT2(faces, 0, 0)) + ON(profile);
    ADD_TO(ON(sums), ON(cells));
}

/* Arrays of a family of grids. */
#define family_ARGS(A)                                                                             \
    A(OUT, T, cells) A(IN, T, faces, SIDES(0, 1, 0, 0, 0, 0))                                      \
    A(IN, int32_t, nodes, SIDES(0, 1, 0, 1, 0, 0)) A(IN, float, thin, CELL) A(SUM, T, total)
META_CELLS(family)
{
    ON(cells) = AT2(faces, 1, 0) - ON(faces) + (T)(AT2(nodes, 1, 1) - ON(nodes)) + (T)ON(thin);
    ADD(total, ON(cells));
}

/* Where the greatest value lies, and the least one that is not masked. */
#define peak_ARGS(A)                                                                               \
    A(IN, T, u, CELL) A(IN, uint32_t, masked, CELL) A(MAX_AT, T, top) A(MIN_AT, T, bottom)         \
    A(MAX_AT, int64_t, column)
META_CELLS(peak)
{
    RAISE(top, ON(u));
    if (!ON(masked)) LOWER(bottom, ON(u));
    if (!ON(masked)) RAISE(column, INDEX(0));
}

/* Nothing but a line. */
#define line_sum_ARGS(A) A(IN, T, profile, LINE(1)) A(SUM, T, sum)
META_CELLS(line_sum)
{
    ADD(sum, ON(profile));
}

#include META_AGAIN
