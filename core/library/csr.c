/* SPDX-License-Identifier: BSD-3-Clause */
/** @file csr.c
 *  Sparse matrices in compressed rows. */
#include "library/library.h"

#include <inttypes.h>

#include "library/csr.kernel.h"
#include "library/csr_check.kernel.h"

/* The structure, and its arrays as far as their sizes tell. */
static meta_err check_matrix(const meta_csr *matrix, size_t *bytes)
{
    meta_span start, column, value;
    if (matrix->value_type < 0 || matrix->value_type >= META_I16)
        return meta_fail(META_ERR_TYPE, "argument 'matrix': value_type is no arithmetic type");
    if (matrix->start_type != META_I32 && matrix->start_type != META_I64)
        return meta_fail(META_ERR_TYPE,
                         "argument 'matrix': start_type is neither META_I32 nor META_I64");
    if (matrix->rows < 0 || matrix->columns < 0 || matrix->entries < 0)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'matrix' has %" PRId64 " rows, %" PRId64 " columns and %" PRId64
                         " entries: give 0 or more",
                         matrix->rows, matrix->columns, matrix->entries);
    if (matrix->rows == INT64_MAX || matrix->columns > INT64_C(1) << 31 ||
        (matrix->start_type == META_I32 && matrix->entries > INT32_MAX))
        return meta_fail(META_ERR_OVERFLOW,
                         "argument 'matrix' has %" PRId64 " rows, %" PRId64 " columns and %" PRId64
                         " entries: its indices cannot count them",
                         matrix->rows, matrix->columns, matrix->entries);
    const int64_t entries = matrix->entries > 0 ? matrix->entries : 1;
    META_TRY(
        meta_resolve(matrix->start, matrix->rows + 1, matrix->start_type, "matrix->start", &start));
    META_TRY(meta_resolve(matrix->column, entries, META_I32, "matrix->column", &column));
    META_TRY(meta_resolve(matrix->value, entries, matrix->value_type, "matrix->value", &value));
    META_TRY(meta_same_device(&start, "matrix->start", &column, "matrix->column"));
    META_TRY(meta_same_device(&start, "matrix->start", &value, "matrix->value"));
    *bytes = meta_element_bytes((uint32_t)matrix->value_type);
    return META_OK;
}

/* One cell for each row, in an array with one more. */
static meta_box rows_of(const meta_csr *m)
{
    return (meta_box){.ndim = 1, .size = {m->rows + 1}, .end = {m->rows}};
}

static meta_err check_indices(const meta_csr *m)
{
    const meta_box rows = rows_of(m),
                   entries = {.ndim = 1, .size = {m->entries}, .end = {m->entries}};
    int64_t row = INT64_MAX, entry = INT64_MAX;
    const void *const starts[] = {m->start, &m->entries, &row};
    const void *const columns[] = {m->column, &m->columns, &entry};
    META_TRY(meta_user_run(m->start_type == META_I32 ? &meta_csr_starts_i32_i32_kernel
                                                     : &meta_csr_starts_i64_i32_kernel,
                           &rows, starts, NULL));
    if (row < m->rows)
        return meta_fail(META_ERR_BOUNDS,
                         "argument 'matrix': start of row %" PRId64
                         " or of the next is not between "
                         "0 and %" PRId64 " entries, or they descend",
                         row, m->entries);
    META_TRY(meta_user_run(&meta_csr_columns_i32_kernel, &entries, columns, NULL));
    if (entry < m->entries)
        return meta_fail(META_ERR_BOUNDS,
                         "argument 'matrix': entry %" PRId64 " is in a column that is not one of "
                         "0 to %" PRId64,
                         entry, m->columns - 1);
    return META_OK;
}

meta_err meta_csr_check(const meta_csr *matrix)
{
    size_t bytes;
    meta_csr own;
    META_ENTER();
    META_GET_DESC(own, matrix, value, META_CSR_INIT);
    META_TRY(check_matrix(&own, &bytes));
    return check_indices(&own);
}

static meta_err multiply(void *y, const void *a, const meta_csr *matrix, const void *x,
                         const void *b, meta_event *done)
{
    static const meta_library_kernels product[] = {META_LIBRARY_KERNELS(meta_csr_product_i32),
                                                   META_LIBRARY_KERNELS(meta_csr_product_i64)},
                                      update[] = {META_LIBRARY_KERNELS(meta_csr_update_i32),
                                                  META_LIBRARY_KERNELS(meta_csr_update_i64)};
    size_t bytes;
    meta_span span;
    META_TRY(check_matrix(matrix, &bytes));
    if (a) META_TRY(meta_host_range(a, bytes, "a"));
    if (b) META_TRY(meta_host_range(b, bytes, "b"));
    META_TRY(
        meta_resolve(x, matrix->columns > 0 ? matrix->columns : 1, matrix->value_type, "x", &span));
    if (meta_checked()) META_TRY(check_indices(matrix));
    const meta_box rows = rows_of(matrix);
    const void *const arguments[] = {y,
                                     matrix->start,
                                     matrix->column,
                                     matrix->value,
                                     x,
                                     a ? a : meta_library_one(matrix->value_type),
                                     b};
    const bool wide = matrix->start_type == META_I64;
    return meta_user_run((b ? update : product)[wide][matrix->value_type], &rows, arguments, done);
}

meta_err meta_csr_multiply(void *y, const void *a, const meta_csr *matrix, const void *x,
                           const void *b, meta_event *done)
{
    meta_csr own;
    META_ENTER();
    META_GET_DESC(own, matrix, value, META_CSR_INIT);
    return multiply(y, a, &own, x, b, done);
}
