/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear algebra on the cells of a box. The kernels _to_x and _to_y write to one of the arrays that
 * they read. Integers are unsigned, so that they wrap. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_U64 | META_KERNEL_U32)
#define META_KERNEL_FILE "linear.kernel.h"
#include <meta_kernel.h>

#define meta_axpby_ARGS(A)                                                                         \
    A(OUT, T, z) A(IN, T, x, CELL) A(IN, T, y, CELL) A(VALUE, T, a) A(VALUE, T, b)
META_CELLS(meta_axpby)
{
    AT1(z, 0) = a * AT1(x, 0) + b * AT1(y, 0);
}

#define meta_axpby_to_x_ARGS(A) A(INOUT, T, z) A(IN, T, y, CELL) A(VALUE, T, a) A(VALUE, T, b)
META_CELLS(meta_axpby_to_x)
{
    AT1(z, 0) = a * AT1(z, 0) + b * AT1(y, 0);
}

#define meta_axpby_to_y_ARGS(A) A(INOUT, T, z) A(IN, T, x, CELL) A(VALUE, T, a) A(VALUE, T, b)
META_CELLS(meta_axpby_to_y)
{
    AT1(z, 0) = a * AT1(x, 0) + b * AT1(z, 0);
}

#define meta_scale_ARGS(A) A(OUT, T, z) A(IN, T, x, CELL) A(VALUE, T, a)
META_CELLS(meta_scale)
{
    AT1(z, 0) = a * AT1(x, 0);
}

#define meta_scale_to_x_ARGS(A) A(INOUT, T, z) A(VALUE, T, a)
META_CELLS(meta_scale_to_x)
{
    AT1(z, 0) = a * AT1(z, 0);
}

#define meta_multiply_ARGS(A) A(OUT, T, z) A(IN, T, x, CELL) A(IN, T, y, CELL)
META_CELLS(meta_multiply)
{
    AT1(z, 0) = AT1(x, 0) * AT1(y, 0);
}

#define meta_multiply_to_x_ARGS(A) A(INOUT, T, z) A(IN, T, y, CELL)
META_CELLS(meta_multiply_to_x)
{
    AT1(z, 0) = AT1(z, 0) * AT1(y, 0);
}

#define meta_multiply_to_y_ARGS(A) A(INOUT, T, z) A(IN, T, x, CELL)
META_CELLS(meta_multiply_to_y)
{
    AT1(z, 0) = AT1(x, 0) * AT1(z, 0);
}

#include META_AGAIN
