/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compute.c
 *  Operations that compute on the cells of a box: reductions, dot product, axpy. */
#include "ops/ops.h"

#include <math.h>
#include <string.h>

/* What every operation of this file checks first. */
static meta_err check(const meta_box *box, meta_type type, size_t *bytes)
{
    META_TRY(meta_type_arithmetic(type, bytes));
    return meta_box_check(box, "box");
}

/* Element i of a row of identities: of the sum, the minimum and the maximum. */
static void identity(meta_op op, meta_type type, void *value)
{
    const meta_f64 f64[] = {0, INFINITY, -INFINITY};
    const meta_f32 f32[] = {0, INFINITY, -INFINITY};
    const meta_i64 i64[] = {0, INT64_MAX, INT64_MIN};
    const meta_u64 u64[] = {0, UINT64_MAX, 0};
    const meta_i32 i32[] = {0, INT32_MAX, INT32_MIN};
    const meta_u32 u32[] = {0, UINT32_MAX, 0};
    switch (type) {
#define META_COPY_IDENTITY(NAME, name, bytes, wide, sum)                                           \
    case META_##NAME:                                                                              \
        memcpy(value, &name[op], sizeof *name);                                                    \
        break;
        META_ARITHMETIC_TYPES(META_COPY_IDENTITY)
#undef META_COPY_IDENTITY
    default:
        break;
    }
}

meta_err meta_result_of_nothing(void *result, const char *name, meta_op op, meta_type type,
                                meta_event *done)
{
    const meta_face one = {.count = 1, .size = {1}, .stride = {1}};
    unsigned char value[8];
    meta_builtin b;
    meta_span span;
    int is_device;
    META_TRY(meta_resolve_any(result, 1, type, name, &is_device, &span));
    meta_exact_forget(result, 1);
    identity(op, type, value);
    if (!is_device) {
        memcpy(result, value, meta_element_bytes(type));
        return meta_submit_nothing(done);
    }
    meta_operation_begin(&b, META_KERNEL_FILL, type, &one);
    META_TRY(meta_operand_set(&b.op, 0, result, &one, name));
    meta_operation_value(&b.op, value);
    return meta_run(&b.op, done);
}

meta_err meta_extreme_of_nothing(void *result, const char *name, meta_op op, meta_type type,
                                 meta_event *done)
{
    const meta_face places = {.count = 1, .size = {META_MAX_DIM}, .stride = {1}};
    const int64_t none = -1;
    int64_t *index = ((meta_extreme_i64 *)result)->index;
    meta_builtin b;
    meta_pieces pieces;
    meta_span span;
    int is_device;
    META_TRY(meta_resolve_extreme(result, type, name, &is_device, &span));
    if (!is_device) {
        META_TRY(meta_result_of_nothing(result, name, op, type, NULL));
        for (int d = 0; d < META_MAX_DIM; ++d) index[d] = none;
        return meta_submit_nothing(done);
    }
    meta_operation_begin(&b, META_KERNEL_FILL, META_I64, &places);
    META_TRY(meta_operand_set(&b.op, 0, index, &places, name));
    meta_operation_value(&b.op, &none);
    meta_pieces_begin(&pieces, span.device, done);
    META_TRY(meta_piece_queued(
        &pieces, meta_result_of_nothing(result, name, op, type, meta_piece(&pieces, false))));
    const meta_err error = meta_piece_queued(&pieces, meta_run(&b.op, meta_piece(&pieces, true)));
    return error == META_OK ? meta_pieces_end(&pieces) : meta_pieces_drop(&pieces, error);
}

/* ------------------------------------------------------------------ reductions */

meta_err meta_reduce(void *result, const void *buf, const meta_box *box, meta_op op, meta_type type,
                     meta_event *done)
{
    static const meta_kernel_id kernels[META_OP_COUNT] = {[META_SUM] = META_KERNEL_REDUCE_SUM,
                                                          [META_MIN] = META_KERNEL_REDUCE_MIN,
                                                          [META_MAX] = META_KERNEL_REDUCE_MAX};
    meta_builtin b;
    meta_face cells;
    size_t bytes;
    META_ENTER();
    META_TRY(check(box, type, &bytes));
    META_TRY(meta_op_check(op));
    if (meta_box_empty(box)) return meta_result_of_nothing(result, "result", op, type, done);
    meta_face_of_box(&cells, box);
    meta_operation_begin(&b, kernels[op], type, &cells);
    META_TRY(meta_operand_set_array(&b.op, 0, buf, box, 0, "buf"));
    META_TRY(meta_operation_result(&b.op, result, "result"));
    return op == META_SUM ? meta_run_sum(&b, META_KERNEL_EXACT_SUM, done) : meta_run(&b.op, done);
}

meta_err meta_dot(void *result, const void *a, const void *b, const meta_box *box, meta_type type,
                  meta_event *done)
{
    meta_builtin dot;
    meta_face cells;
    size_t bytes;
    META_ENTER();
    META_TRY(check(box, type, &bytes));
    if (meta_box_empty(box)) return meta_result_of_nothing(result, "result", META_SUM, type, done);
    meta_face_of_box(&cells, box);
    meta_operation_begin(&dot, META_KERNEL_DOT, type, &cells);
    META_TRY(meta_operand_set_array(&dot.op, 0, a, box, 0, "a"));
    META_TRY(meta_operand_set_array(&dot.op, 1, b, box, 0, "b"));
    META_TRY(meta_operation_result(&dot.op, result, "result"));
    return meta_run_sum(&dot, META_KERNEL_EXACT_DOT, done);
}

meta_err meta_axpy(void *y, const void *alpha, const void *x, const meta_box *box, meta_type type,
                   meta_event *done)
{
    meta_builtin b;
    meta_face cells;
    size_t bytes;
    META_ENTER();
    META_TRY(check(box, type, &bytes));
    META_TRY(meta_host_range(alpha, bytes, "alpha"));
    if (meta_box_empty(box)) return meta_submit_nothing(done);
    meta_face_of_box(&cells, box);
    meta_operation_begin(&b, META_KERNEL_AXPY, type, &cells);
    META_TRY(meta_operand_set_array(&b.op, 0, y, box, 0, "y"));
    META_TRY(meta_operand_set_array(&b.op, 1, x, box, 0, "x"));
    meta_operation_value(&b.op, alpha);
    return meta_run(&b.op, done);
}
