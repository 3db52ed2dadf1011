/* SPDX-License-Identifier: BSD-3-Clause */
/** @file shapes.kernel.h
 *  Kernels that use arrays of several shapes by one box. */
#define META_KERNEL_TYPES META_KERNEL_F64
#include <meta_kernel.h>

/* What flows out of a cell: u lies on the faces in x, in an array with one more of them, or, where
 * all arrays have the same extents, in one with none. */
#define grown_ARGS(A) A(OUT, T, out) A(IN, T, u, SIDES1(0, 1), GROWN1(1))
META_CELLS(grown)
{
    ON(out) = AT(u, 1, 0, 0) - ON(u);
}

#define equal_ARGS(A) A(OUT, T, out) A(IN, T, u, SIDES(0, 1, 0, 0, 0, 0))
META_CELLS(equal)
{
    ON(out) = AT(u, 1, 0, 0) - ON(u);
}

/* The first cell of the box has 0. */
#define ramp_ARGS(A) A(OUT, T, u) A(VALUE, int64_t, origin)
META_CELLS(ramp)
{
    ON(u) = (T)(INDEX(0) - origin);
}

#define masked_ARGS(A) A(INOUT, T, u) A(IN, int32_t, mask, CELL)
META_CELLS(masked)
{
    ON(u) = ON(mask) != 0 ? ON(u) : (T)0;
}

#define wide_masked_ARGS(A) A(INOUT, T, u) A(IN, int64_t, mask, CELL)
META_CELLS(wide_masked)
{
    ON(u) = ON(mask) != 0 ? ON(u) : (T)0;
}

#define plane_ARGS(A) A(INOUT, T, u) A(IN, T, depth, PLANE(2))
META_CELLS(plane)
{
    ON(u) = ON(depth);
}

/* A line and a plane of shorter elements than those of u. */
#define line_ARGS(A) A(INOUT, T, u) A(IN, float, factor, LINE(0))
META_CELLS(line)
{
    ON(u) *= (T)ON(factor);
}

#define sides_ARGS(A) A(INOUT, T, u) A(IN, float, factor, PLANE(0))
META_CELLS(sides)
{
    ON(u) *= (T)ON(factor);
}

#include META_AGAIN
