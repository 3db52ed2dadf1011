/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compute.c
 *  Operations that compute on the cells of a box: stencils, reductions, dot product, axpy. */
#include "core.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ where a result goes */

/* Let @p call leave its result at @p ptr, the argument @p name: host memory or the operands'
 * device. */
static meta_err result_at(meta_call *call, void *ptr, const char *name, meta_type type,
                          const meta_span *operand, const char *operand_name)
{
    meta_span span;
    int is_device;
    META_TRY(meta_resolve_any(ptr, 1, type, name, &is_device, &span));
    if (!is_device) {
        call->result_host = ptr;
        return META_OK;
    }
    META_TRY(meta_same_device(&span, name, operand, operand_name));
    call->result_object = span.object;
    call->result_offset = span.offset;
    return META_OK;
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
#define META_COPY_IDENTITY(NAME, name, wide, sum)                                                  \
    case META_##NAME:                                                                              \
        memcpy(value, &name[op], sizeof *name);                                                    \
        break;
        META_ARITHMETIC_TYPES(META_COPY_IDENTITY)
#undef META_COPY_IDENTITY
    default:
        break;
    }
}

/* The result of a reduction over nothing. */
static meta_err result_of_nothing(void *result, const char *name, meta_op op, meta_type type,
                                  size_t bytes, meta_event *done)
{
    unsigned char value[8];
    meta_span span;
    int is_device;
    META_TRY(meta_resolve_any(result, 1, type, name, &is_device, &span));
    meta_exact_forget(result, 1);
    identity(op, type, value);
    if (!is_device) {
        memcpy(result, value, bytes);
        return meta_submit_nothing(done);
    }
    const meta_face one = {.count = 1, .size = {1}, .stride = {1}};
    meta_call call;
    meta_call_begin(&call, META_KERNEL_FILL, type, &one);
    meta_call_operand(&call, 0, &span, &one);
    memcpy(call.scalar, value, bytes);
    return meta_submit(span.device, &call, 1, done);
}

/* ------------------------------------------------------------------ stencils */

typedef struct stencil {
    int ndim;
    meta_kernel_id plain, with_sum;
} stencil;

static const stencil stencils[META_STENCIL_COUNT] = {
    [META_2D5P] = {2, META_KERNEL_STENCIL_2D5P, META_KERNEL_STENCIL_2D5P_SUM},
    [META_2D9P] = {2, META_KERNEL_STENCIL_2D9P, META_KERNEL_STENCIL_2D9P_SUM},
    [META_3D7P] = {3, META_KERNEL_STENCIL_3D7P, META_KERNEL_STENCIL_3D7P_SUM},
    [META_3D27P] = {3, META_KERNEL_STENCIL_3D27P, META_KERNEL_STENCIL_3D27P_SUM},
};

/* The box with the cells around it that the stencil reads. */
static meta_err box_read(const meta_box *box, const stencil *kind, meta_box *read)
{
    if (box->ndim < kind->ndim)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'box' has %d dimensions, the stencil needs %d", box->ndim,
                         kind->ndim);
    *read = *box;
    for (int d = 0; d < kind->ndim; ++d) {
        if (box->start[d] < 1 || box->end[d] >= box->size[d])
            return meta_fail(META_ERR_BOUNDS,
                             "argument 'box', dimension %d: [%" PRId64 ", %" PRId64 ") of %" PRId64
                             " leaves no cell for the stencil to reach over",
                             d, box->start[d], box->end[d], box->size[d]);
        --read->start[d];
        ++read->end[d];
    }
    return META_OK;
}

/* In place of the stencil with a sum: the plain one, then the exact sum of what it wrote. */
static meta_err stencil_then_sum(const meta_call *fused, meta_kernel_id plain, const meta_span *to,
                                 const meta_face *cells, const void *address, meta_event *done)
{
    meta_call calls[2] = {*fused};
    calls[0].kernel = (uint32_t)plain;
    calls[0].result_host = calls[0].result_object = NULL;
    meta_call_begin(&calls[1], META_KERNEL_EXACT_SUM, (meta_type)fused->type, cells);
    meta_call_operand(&calls[1], 0, to, cells);
    meta_call_compact(&calls[1], 1);
    calls[1].result_host = fused->result_host;
    calls[1].result_object = fused->result_object;
    calls[1].result_offset = fused->result_offset;
    return meta_submit_exact(to->device, calls, 2, address, done);
}

meta_err meta_stencil(void *out, const void *in, const meta_box *box, meta_stencil_kind kind,
                      meta_type type, void *sum, meta_event *done)
{
    meta_span to, from;
    meta_box read;
    meta_face cells, around;
    int64_t to_low, to_high, from_low, from_high;
    meta_call call;
    size_t bytes;
    bool exact;
    META_ENTER();
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(meta_box_check(box, "box"));
    if ((int)kind < 0 || kind >= META_STENCIL_COUNT)
        return meta_fail(META_ERR_ARGUMENT, "argument 'kind' is %d, which is no stencil",
                         (int)kind);
    if (meta_box_empty(box)) {
        if (sum) return result_of_nothing(sum, "sum", META_SUM, type, bytes, done);
        return meta_submit_nothing(done);
    }
    META_TRY(box_read(box, &stencils[kind], &read));
    meta_face_of_box(&cells, box);
    meta_face_of_box(&around, &read);
    META_TRY(meta_resolve_face(out, &cells, type, "out", &to));
    META_TRY(meta_resolve_face(in, &around, type, "in", &from));
    META_TRY(meta_same_device(&to, "out", &from, "in"));
    META_TRY(meta_face_reach(&cells, "box", &to_low, &to_high));
    META_TRY(meta_face_reach(&around, "box", &from_low, &from_high));
    META_TRY(meta_no_overlap(&to, to_low, to_high, "out", &from, from_low, from_high, "in", bytes));
    meta_call_begin(&call, sum ? stencils[kind].with_sum : stencils[kind].plain, type, &cells);
    meta_call_operand(&call, 0, &to, &cells);
    meta_call_operand(&call, 1, &from, &cells);
    if (!sum) return meta_submit(to.device, &call, 1, done);
    META_TRY(result_at(&call, sum, "sum", type, &to, "out"));
    META_TRY(meta_exact_wanted(to.device, type, &exact));
    if (!exact) return meta_submit(to.device, &call, 1, done);
    return stencil_then_sum(&call, stencils[kind].plain, &to, &cells, sum, done);
}

/* ------------------------------------------------------------------ reductions */

/* As it is, or as kernel @p exact where reproducible sums are on. */
static meta_err submit_sum(meta_device *device, meta_call *call, meta_kernel_id exact,
                           const void *address, meta_event *done)
{
    bool is_exact;
    META_TRY(meta_exact_wanted(device, (meta_type)call->type, &is_exact));
    if (!is_exact) return meta_submit(device, call, 1, done);
    call->kernel = (uint32_t)exact;
    return meta_submit_exact(device, call, 1, address, done);
}

meta_err meta_reduce(void *result, const void *buf, const meta_box *box, meta_op op, meta_type type,
                     meta_event *done)
{
    static const meta_kernel_id kernels[META_OP_COUNT] = {
        META_KERNEL_REDUCE_SUM, META_KERNEL_REDUCE_MIN, META_KERNEL_REDUCE_MAX};
    meta_span from;
    meta_face cells;
    meta_call call;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(meta_box_check(box, "box"));
    if ((int)op < 0 || op >= META_OP_COUNT)
        return meta_fail(META_ERR_ARGUMENT, "argument 'op' is %d, which is no operation", (int)op);
    if (meta_box_empty(box)) return result_of_nothing(result, "result", op, type, bytes, done);
    META_TRY(meta_resolve_box(buf, box, type, "buf", &from));
    meta_face_of_box(&cells, box);
    meta_call_begin(&call, kernels[op], type, &cells);
    meta_call_operand(&call, 0, &from, &cells);
    meta_call_compact(&call, 1);
    META_TRY(result_at(&call, result, "result", type, &from, "buf"));
    if (op != META_SUM) return meta_submit(from.device, &call, 1, done);
    return submit_sum(from.device, &call, META_KERNEL_EXACT_SUM, result, done);
}

meta_err meta_dot(void *result, const void *a, const void *b, const meta_box *box, meta_type type,
                  meta_event *done)
{
    meta_span x, y;
    meta_face cells;
    meta_call call;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(meta_box_check(box, "box"));
    if (meta_box_empty(box))
        return result_of_nothing(result, "result", META_SUM, type, bytes, done);
    META_TRY(meta_resolve_box(a, box, type, "a", &x));
    META_TRY(meta_resolve_box(b, box, type, "b", &y));
    META_TRY(meta_same_device(&x, "a", &y, "b"));
    meta_face_of_box(&cells, box);
    meta_call_begin(&call, META_KERNEL_DOT, type, &cells);
    meta_call_operand(&call, 0, &x, &cells);
    meta_call_operand(&call, 1, &y, &cells);
    meta_call_compact(&call, 2);
    META_TRY(result_at(&call, result, "result", type, &x, "a"));
    return submit_sum(x.device, &call, META_KERNEL_EXACT_DOT, result, done);
}

/* The number 1. */
static void one(meta_type type, void *value)
{
    switch (type) {
#define META_ONE(NAME, name, wide, sum)                                                            \
    case META_##NAME:                                                                              \
        memcpy(value, &(const meta_##name){1}, sizeof(meta_##name));                               \
        break;
        META_ARITHMETIC_TYPES(META_ONE)
#undef META_ONE
    default:
        break;
    }
}

meta_err meta_add_call(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                       const meta_span *src, const meta_face *src_face, meta_type type, int *empty)
{
    size_t bytes;
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(meta_pair_call(call, META_KERNEL_AXPY, dst_face, "face", dst, dst_face, src, src_face,
                            type, empty));
    if (!*empty) one(type, call->scalar);
    return META_OK;
}

meta_err meta_axpy(void *y, const void *alpha, const void *x, const meta_box *box, meta_type type,
                   meta_event *done)
{
    meta_span to, from;
    meta_face cells;
    int64_t low, high;
    meta_call call;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(meta_box_check(box, "box"));
    META_TRY(meta_host_range(alpha, bytes, "alpha"));
    if (meta_box_empty(box)) return meta_submit_nothing(done);
    META_TRY(meta_resolve_box(y, box, type, "y", &to));
    META_TRY(meta_resolve_box(x, box, type, "x", &from));
    META_TRY(meta_same_device(&to, "y", &from, "x"));
    meta_face_of_box(&cells, box);
    META_TRY(meta_face_reach(&cells, "box", &low, &high));
    if (x != y) META_TRY(meta_no_overlap(&to, low, high, "y", &from, low, high, "x", bytes));
    meta_call_begin(&call, META_KERNEL_AXPY, type, &cells);
    meta_call_operand(&call, 0, &to, &cells);
    meta_call_operand(&call, 1, &from, &cells);
    meta_call_compact(&call, 2);
    memcpy(call.scalar, alpha, bytes);
    return meta_submit(to.device, &call, 1, done);
}
