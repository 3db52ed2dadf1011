/* SPDX-License-Identifier: BSD-3-Clause */
/* A sparse matrix in compressed rows times a vector: a cell is a row. By the type of the row starts;
 * a product replaces y, an update adds to b times it. */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_U64 | META_KERNEL_U32)
#define META_KERNEL_FILE "csr.kernel.h"
#include <meta_kernel.h>

#define MATRIX(A, I)                                                                               \
    A(IN, I, start, SIDES(0, 1, 0, 0, 0, 0)) A(IN, int32_t, column, WHOLE) A(IN, T, value, WHOLE)
#define ADD_UP(I)                                                                                  \
    T sum = 0;                                                                                     \
    const I end = AT1(start, 1);                                                                   \
    for (I k = AT1(start, 0); k < end; ++k) sum += GET(value, k) * GET(x, GET(column, k));

#define meta_csr_product_i32_ARGS(A)                                                               \
    A(OUT, T, y) MATRIX(A, int32_t) A(IN, T, x, WHOLE) A(VALUE, T, a)
META_CELLS(meta_csr_product_i32)
{
    ADD_UP(int32_t)
    AT1(y, 0) = a * sum;
}

#define meta_csr_product_i64_ARGS(A)                                                               \
    A(OUT, T, y) MATRIX(A, int64_t) A(IN, T, x, WHOLE) A(VALUE, T, a)
META_CELLS(meta_csr_product_i64)
{
    ADD_UP(int64_t)
    AT1(y, 0) = a * sum;
}

#define meta_csr_update_i32_ARGS(A)                                                                \
    A(INOUT, T, y) MATRIX(A, int32_t) A(IN, T, x, WHOLE) A(VALUE, T, a) A(VALUE, T, b)
META_CELLS(meta_csr_update_i32)
{
    ADD_UP(int32_t)
    AT1(y, 0) = a * sum + b * AT1(y, 0);
}

#define meta_csr_update_i64_ARGS(A)                                                                \
    A(INOUT, T, y) MATRIX(A, int64_t) A(IN, T, x, WHOLE) A(VALUE, T, a) A(VALUE, T, b)
META_CELLS(meta_csr_update_i64)
{
    ADD_UP(int64_t)
    AT1(y, 0) = a * sum + b * AT1(y, 0);
}

#undef MATRIX
#undef ADD_UP
#include META_AGAIN
