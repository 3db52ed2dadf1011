/* SPDX-License-Identifier: BSD-3-Clause */
/* Boundary conditions on one layer of ghost cells, see meta_boundary(). Adding an offset of -0.0, or
 * subtracting from it, leaves every number as it is, but for the sign. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_U64 | META_KERNEL_U32)
#define META_KERNEL_FILE "boundary.kernel.h"
#include <meta_kernel.h>

#define meta_boundary_value_ARGS(A) A(OUT, T, ghost) A(VALUE, T, value)
META_CELLS(meta_boundary_value)
{
    AT1(ghost, 0) = value;
}

#define meta_boundary_even_ARGS(A) A(OUT, T, ghost) A(IN, T, inner, CELL) A(VALUE, T, offset)
META_CELLS(meta_boundary_even)
{
    AT1(ghost, 0) = offset + AT1(inner, 0);
}

#define meta_boundary_odd_ARGS(A) A(OUT, T, ghost) A(IN, T, inner, CELL) A(VALUE, T, offset)
META_CELLS(meta_boundary_odd)
{
    AT1(ghost, 0) = offset - AT1(inner, 0);
}

#include META_AGAIN
