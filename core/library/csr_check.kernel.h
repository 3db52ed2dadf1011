/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with the indices of a sparse matrix: the first row or entry, or the highest number. */
#define META_KERNEL_TYPES META_KERNEL_I32
#define META_KERNEL_FILE "csr_check.kernel.h"
#include <meta_kernel.h>

#define meta_csr_starts_i32_ARGS(A)                                                                \
    A(IN, int32_t, start, SIDES(0, 1, 0, 0, 0, 0)) A(VALUE, int64_t, entries) A(MIN, int64_t, first)
META_CELLS(meta_csr_starts_i32)
{
    const int64_t from = AT1(start, 0), to = AT1(start, 1);
    if (from < 0 || to < from || to > entries) LOWER(first, INDEX(0));
}

#define meta_csr_starts_i64_ARGS(A)                                                                \
    A(IN, int64_t, start, SIDES(0, 1, 0, 0, 0, 0)) A(VALUE, int64_t, entries) A(MIN, int64_t, first)
META_CELLS(meta_csr_starts_i64)
{
    const int64_t from = AT1(start, 0), to = AT1(start, 1);
    if (from < 0 || to < from || to > entries) LOWER(first, INDEX(0));
}

#define meta_csr_columns_ARGS(A)                                                                   \
    A(IN, int32_t, column, CELL) A(VALUE, int64_t, columns) A(MIN, int64_t, first)
META_CELLS(meta_csr_columns)
{
    if (AT1(column, 0) < 0 || AT1(column, 0) >= columns) LOWER(first, INDEX(0));
}

#include META_AGAIN
