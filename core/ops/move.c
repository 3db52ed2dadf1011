/* SPDX-License-Identifier: BSD-3-Clause */
/** @file move.c
 *  Operations that move elements on a device: pack, unpack, transpose, copies and fills. */
#include "core.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------ calls */

meta_err meta_pair_call(meta_call *call, meta_kernel_id kernel, const meta_face *shape,
                        const char *name, const meta_span *dst, const meta_face *dst_face,
                        const meta_span *src, const meta_face *src_face, meta_type type, int *empty)
{
    int64_t count;
    META_TRY(meta_face_count(shape, name, &count));
    *empty = count == 0;
    if (*empty) return META_OK;
    meta_call_begin(call, kernel, type, shape);
    meta_call_operand(call, 0, dst, dst_face);
    meta_call_operand(call, 1, src, src_face);
    meta_call_compact(call, 2);
    return META_OK;
}

meta_err meta_face_call(meta_call *call, meta_kernel_id kernel, const meta_span *packed,
                        const meta_span *buf, const meta_face *face, meta_type type, int *empty)
{
    return kernel == META_KERNEL_PACK
               ? meta_pair_call(call, kernel, face, "face", packed, NULL, buf, face, type, empty)
               : meta_pair_call(call, kernel, face, "face", buf, face, packed, NULL, type, empty);
}

meta_err meta_copy_call(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                        const meta_span *src, const meta_face *src_face, meta_type type, int *empty)
{
    return meta_pair_call(call, META_KERNEL_COPY, dst_face, "dst_box", dst, dst_face, src, src_face,
                          type, empty);
}

/* Fill the elements of @p face at @p span. */
static meta_err fill(const meta_span *span, const meta_face *face, const void *value,
                     meta_type type, size_t bytes, meta_event *done)
{
    meta_call call;
    meta_call_begin(&call, META_KERNEL_FILL, type, face);
    meta_call_operand(&call, 0, span, face);
    meta_call_compact(&call, 1);
    memcpy(call.scalar, value, bytes);
    return meta_submit(span->device, &call, 1, done);
}

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
    meta_span dense, grid;
    meta_call call;
    size_t bytes;
    int64_t count;
    int empty;
    META_TRY(meta_type_check(type, &bytes));
    META_TRY(meta_face_count(face, "face", &count));
    if (count == 0) return meta_submit_nothing(done);
    META_TRY(meta_resolve(packed, count, type, "packed", &dense));
    META_TRY(meta_resolve_face(buf, face, type, "buf", &grid));
    META_TRY(meta_same_device(&dense, "packed", &grid, "buf"));
    META_TRY(meta_no_overlap_face(&dense, count, &grid, face, type));
    META_TRY(meta_face_call(&call, kernel, &dense, &grid, face, type, &empty));
    return meta_submit(dense.device, &call, 1, done);
}

/* ------------------------------------------------------------------ public */

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
    meta_span to, from;
    meta_face across, along;
    meta_call call;
    size_t bytes;
    int64_t count;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    META_NEED(size);
    across = (meta_face){.count = 2, .size = {size[0], size[1]}, .stride = {size[1], 1}};
    along = (meta_face){.count = 2, .size = {size[0], size[1]}, .stride = {1, size[0]}};
    META_TRY(meta_face_count(&along, "size", &count));
    if (count == 0) return meta_submit_nothing(done);
    META_TRY(meta_resolve(out, count, type, "out", &to));
    META_TRY(meta_resolve(in, count, type, "in", &from));
    META_TRY(meta_same_device(&to, "out", &from, "in"));
    META_TRY(meta_no_overlap(&to, 0, count - 1, "out", &from, 0, count - 1, "in", bytes));
    meta_call_begin(&call, META_KERNEL_TRANSPOSE, type, &along);
    meta_call_operand(&call, 0, &to, &across);
    meta_call_operand(&call, 1, &from, &along);
    return meta_submit(to.device, &call, 1, done);
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
    meta_span to, from;
    meta_face dst_face, src_face;
    int64_t dst_low, dst_high, src_low, src_high;
    meta_call call;
    size_t bytes;
    int empty;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    META_TRY(meta_boxes_alike(dst_box, src_box));
    meta_face_of_box(&dst_face, dst_box);
    meta_face_of_box(&src_face, src_box);
    if (meta_box_empty(dst_box)) return meta_submit_nothing(done);
    META_TRY(meta_resolve_face(dst, &dst_face, type, "dst", &to));
    META_TRY(meta_resolve_face(src, &src_face, type, "src", &from));
    META_TRY(meta_same_device(&to, "dst", &from, "src"));
    META_TRY(meta_face_reach(&dst_face, "dst_box", &dst_low, &dst_high));
    META_TRY(meta_face_reach(&src_face, "src_box", &src_low, &src_high));
    if (!boxes_apart(dst, dst_box, src, src_box))
        META_TRY(
            meta_no_overlap(&to, dst_low, dst_high, "dst", &from, src_low, src_high, "src", bytes));
    META_TRY(meta_copy_call(&call, &to, &dst_face, &from, &src_face, type, &empty));
    return meta_submit(to.device, &call, 1, done);
}

meta_err meta_copy_d2d(void *dst, const void *src, size_t bytes, meta_event *done)
{
    meta_span to, from;
    meta_call call;
    int empty;
    META_ENTER();
    if (bytes == 0) return meta_submit_nothing(done);
    if (bytes > INT64_MAX) return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu", bytes);
    META_TRY(meta_resolve(dst, (int64_t)bytes, META_U8, "dst", &to));
    META_TRY(meta_resolve(src, (int64_t)bytes, META_U8, "src", &from));
    META_TRY(meta_same_device(&to, "dst", &from, "src"));
    META_TRY(
        meta_no_overlap(&to, 0, (int64_t)bytes - 1, "dst", &from, 0, (int64_t)bytes - 1, "src", 1));
    /* Moved as the widest element that both ends and the length are multiples of. */
    const uint64_t all = to.offset | from.offset | bytes | (uintptr_t)dst | (uintptr_t)src;
    const meta_type type = all % 8 == 0   ? META_U64
                           : all % 4 == 0 ? META_U32
                           : all % 2 == 0 ? META_U16
                                          : META_U8;
    size_t width;
    META_TRY(meta_type_check(type, &width));
    const meta_face line = {.count = 1, .size = {(int64_t)(bytes / width)}, .stride = {1}};
    META_TRY(meta_copy_call(&call, &to, &line, &from, &line, type, &empty));
    return meta_submit(to.device, &call, 1, done);
}

meta_err meta_fill(void *buf, int64_t count, const void *value, meta_type type, meta_event *done)
{
    meta_span span;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    if (count < 0) return meta_fail(META_ERR_ARGUMENT, "argument 'count' is %" PRId64, count);
    META_TRY(meta_host_range(value, bytes, "value"));
    if (count == 0) return meta_submit_nothing(done);
    META_TRY(meta_resolve(buf, count, type, "buf", &span));
    const meta_face line = {.count = 1, .size = {count}, .stride = {1}};
    return fill(&span, &line, value, type, bytes, done);
}

meta_err meta_fill_box(void *buf, const meta_box *box, const void *value, meta_type type,
                       meta_event *done)
{
    meta_span span;
    meta_face face;
    size_t bytes;
    META_ENTER();
    META_TRY(meta_type_check(type, &bytes));
    META_TRY(meta_box_check(box, "box"));
    META_TRY(meta_host_range(value, bytes, "value"));
    if (meta_box_empty(box)) return meta_submit_nothing(done);
    META_TRY(meta_resolve_box(buf, box, type, "buf", &span));
    meta_face_of_box(&face, box);
    return fill(&span, &face, value, type, bytes, done);
}
