/* SPDX-License-Identifier: BSD-3-Clause */
/** @file family.kernel.h
 *  Kernels with arrays of several shapes and types; see test_family.c. */
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32)
#include <meta_kernel.h>

/* In boxes of any number of dimensions. */
#define near_ARGS(A)                                                                               \
    A(OUT, T, out)                                                                                 \
    A(IN, T, u, SIDES1(1, 1)) A(IN, float, v, SIDES1(0, 1)) A(IN, int32_t, mask, CELL)             \
        A(SUM, int64_t, marked)
META_CELLS(near)
{
    ON(out) = AT1(u, 1) - 2 * AT1(u, -1) + (T)AT1(v, 1) * (T)ON(mask);
    ADD(marked, ON(mask) > 0);
}

/* In boxes of at least three; the last five arrays have fewer. */
#define lower_ARGS(A)                                                                              \
    A(INOUT, T, out)                                                                               \
    A(IN, T, u, STAR(1)) A(IN, T, row, SIDES(1, 1, 0, 0, 0, 0), LINE(0))                           \
        A(IN, float, level, SIDES(0, 0, 0, 0, 0, 1), LINE(2)) A(IN, T, side, PLANE(0))             \
            A(IN, int32_t, ground, SIDES(1, 0, 0, 1, 0, 0), PLANE(2))                                       \
    A(ADD, int32_t, marks, SIDES(0, 0, 1, 0, 0, 0), LINE(1))
META_CELLS(lower)
{
    const T around = AT(u, 0, 0, 1) - 2 * AT(u, 0, -1, 0) + AT(u, 1, 0, 0);
    ON(out) += around + AT(row, 1, 0, 0) - AT(row, -1, 0, 0) + (T)AT(level, 0, 0, 1) +
               2 * ON(side) - (T)AT(ground, -1, 0, 0) * (T)AT(ground, 0, 1, 0);
    ADD_TO(AT(marks, 0, -1, 0), ON(ground));
}

#include META_AGAIN
