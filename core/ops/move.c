/* SPDX-License-Identifier: BSD-3-Clause */
/** @file move.c
 *  Operations that move elements on a device: pack, unpack, transpose, copies and fills. */
#include "ops/ops.h"

#include <inttypes.h>

/* An element may be read twice, not written twice. */
static meta_err writable(const meta_face *face)
{
    int64_t count;
    META_TRY(meta_face_count(face, "face", &count));
    for (int k = 0; k < face->count && count > 0; ++k)
        if (face->stride[k] == 0 && face->size[k] > 1)
            return meta_fail(META_ERR_ARGUMENT,
                             "argument 'face': stride[%d] is 0, so that %" PRId64
                             " elements would be written to one place",
                             k, face->size[k]);
    return META_OK;
}

/* Pack or unpack: the same operands, the data goes the one or the other way. */
static meta_err marshal(meta_kernel_id kernel, const void *packed, const void *buf,
                        const meta_face *face, meta_type type, meta_event *done)
{
    meta_builtin b;
    size_t bytes;
    int64_t count;
    const uint32_t dense = kernel == META_KERNEL_UNPACK;
    META_TRY(meta_type_check(type, &bytes));
    META_TRY(meta_face_count(face, "face", &count));
    if (count == 0) return meta_submit_nothing(done);
    meta_operation_begin(&b, kernel, type, face);
    META_TRY(meta_operand_set(&b.op, dense, packed, NULL, "packed"));
    META_TRY(meta_operand_set(&b.op, !dense, buf, face, "buf"));
    return meta_run(&b.op, done);
}

meta_err meta_pack_face(void *packed, const void *buf, const meta_face *face, meta_type type,
                        meta_event *done)
{
    META_ENTER();
    return marshal(META_KERNEL_PACK, packed, buf, face, type, done);
}

meta_err meta_unpack_face(void *buf, const void *packed, const meta_face *face, meta_type type,
                          meta_event *done)
{
    META_ENTER();
    META_TRY(writable(face));
    return marshal(META_KERNEL_UNPACK, packed, buf, face, type, done);
}

meta_err meta_transpose_face(void *out, const void *in, const int64_t size[2], meta_type type,
                             meta_event *done)
{
    meta_face across, along;
    meta_builtin b;
    size_t bytes;
    int64_t count;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    META_NEED(size);
    across = (meta_face){.count = 2, .size = {size[0], size[1]}, .stride = {size[1], 1}};
    along = (meta_face){.count = 2, .size = {size[0], size[1]}, .stride = {1, size[0]}};
    META_TRY(meta_face_count(&along, "size", &count));
    if (count == 0) return meta_submit_nothing(done);
    meta_operation_begin(&b, META_KERNEL_TRANSPOSE, type, &along);
    META_TRY(meta_operand_set(&b.op, 0, out, &across, "out"));
    META_TRY(meta_operand_set(&b.op, 1, in, &along, "in"));
    return meta_run(&b.op, done);
}

/* Whether two boxes of one array, however they interleave in memory, have no cell in common. */
static bool boxes_apart(const void *dst, const meta_box *dst_box, const void *src,
                        const meta_box *src_box)
{
    bool apart = false;
    if (dst != src) return false;
    for (int d = 0; d < dst_box->ndim; ++d) {
        if (dst_box->size[d] != src_box->size[d]) return false;
        apart |= dst_box->end[d] <= src_box->start[d] || src_box->end[d] <= dst_box->start[d];
    }
    return apart;
}

meta_err meta_boxes_alike(const meta_box *dst_box, const meta_box *src_box)
{
    META_TRY(meta_box_check(dst_box, "dst_box"));
    META_TRY(meta_box_check(src_box, "src_box"));
    if (dst_box->ndim != src_box->ndim)
        return meta_fail(META_ERR_ARGUMENT, "argument 'src_box' has %d dimensions, 'dst_box' %d",
                         src_box->ndim, dst_box->ndim);
    for (int d = 0; d < dst_box->ndim; ++d) {
        const int64_t from = src_box->end[d] - src_box->start[d];
        const int64_t to = dst_box->end[d] - dst_box->start[d];
        if (from != to)
            return meta_fail(META_ERR_ARGUMENT,
                             "argument 'src_box' covers %" PRId64 " cells along "
                             "dimension %d, 'dst_box' %" PRId64,
                             from, d, to);
    }
    return META_OK;
}

meta_err meta_copy_box(void *dst, const meta_box *dst_box, const void *src, const meta_box *src_box,
                       meta_type type, meta_event *done)
{
    meta_face to;
    meta_builtin b;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    META_TRY(meta_boxes_alike(dst_box, src_box));
    meta_face_of_box(&to, dst_box);
    if (meta_box_empty(dst_box)) return meta_submit_nothing(done);
    meta_operation_begin(&b, META_KERNEL_COPY, type, &to);
    b.op.own_boxes = true;
    META_TRY(meta_operand_set_array(&b.op, 0, dst, dst_box, 0, "dst"));
    META_TRY(meta_operand_set_array(&b.op, 1, src, src_box, 0, "src"));
    b.op.apart = boxes_apart(dst, dst_box, src, src_box);
    return meta_run(&b.op, done);
}

meta_err meta_copy_d2d(void *dst, const void *src, size_t bytes, meta_event *done)
{
    meta_span to, from;
    meta_builtin b;
    META_ENTER();
    if (bytes == 0) return meta_submit_nothing(done);
    if (bytes > INT64_MAX) return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu", bytes);
    META_TRY(meta_resolve(dst, (int64_t)bytes, META_U8, "dst", &to));
    META_TRY(meta_resolve(src, (int64_t)bytes, META_U8, "src", &from));
    /* Moved as the widest element that both ends and the length are multiples of. */
    const uint64_t all = to.offset | from.offset | bytes | (uintptr_t)dst | (uintptr_t)src;
    const meta_type type = all % 8 == 0   ? META_U64
                           : all % 4 == 0 ? META_U32
                           : all % 2 == 0 ? META_U16
                                          : META_U8;
    const meta_face line = {
        .count = 1, .size = {(int64_t)(bytes / meta_element_bytes(type))}, .stride = {1}};
    meta_operation_begin(&b, META_KERNEL_COPY, type, &line);
    META_TRY(meta_operand_set(&b.op, 0, dst, NULL, "dst"));
    META_TRY(meta_operand_set(&b.op, 1, src, NULL, "src"));
    return meta_run(&b.op, done);
}

/* The elements of @p face, those of @p box, or as many packed ones where that is NULL. */
static meta_err fill(void *buf, const meta_face *face, const meta_box *box, const void *value,
                     meta_type type, meta_event *done)
{
    meta_builtin b;
    meta_operation_begin(&b, META_KERNEL_FILL, type, face);
    if (box) META_TRY(meta_operand_set_array(&b.op, 0, buf, box, 0, "buf"));
    else META_TRY(meta_operand_set(&b.op, 0, buf, NULL, "buf"));
    meta_operation_value(&b.op, value);
    return meta_run(&b.op, done);
}

meta_err meta_fill(void *buf, int64_t count, const void *value, meta_type type, meta_event *done)
{
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    if (count < 0) return meta_fail(META_ERR_ARGUMENT, "argument 'count' is %" PRId64, count);
    META_TRY(meta_host_range(value, bytes, "value"));
    if (count == 0) return meta_submit_nothing(done);
    return fill(buf, &(meta_face){.count = 1, .size = {count}}, NULL, value, type, done);
}

meta_err meta_fill_box(void *buf, const meta_box *box, const void *value, meta_type type,
                       meta_event *done)
{
    meta_face face;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    META_TRY(meta_box_check(box, "box"));
    META_TRY(meta_host_range(value, bytes, "value"));
    if (meta_box_empty(box)) return meta_submit_nothing(done);
    meta_face_of_box(&face, box);
    return fill(buf, &face, box, value, type, done);
}
