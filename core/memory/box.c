/* SPDX-License-Identifier: BSD-3-Clause */
/** @file box.c
 *  Validating the types, boxes, faces and buffers of a call: errors name the argument, before
 * anything runs. */
#include "memory/shape.h"

#include <inttypes.h>

meta_err meta_type_check_named(meta_type type, const char *name, size_t *bytes)
{
    if ((int)type < 0 || type >= META_TYPE_COUNT)
        return meta_fail(META_ERR_TYPE, "argument '%s' is %d, which is no element type", name,
                         (int)type);
    *bytes = meta_element_bytes((uint32_t)type);
    return META_OK;
}

meta_err meta_type_check(meta_type type, size_t *bytes)
{
    return meta_type_check_named(type, "type", bytes);
}

meta_err meta_type_arithmetic(meta_type type, size_t *bytes)
{
    META_TRY(meta_type_check(type, bytes));
    if (type >= META_I16)
        return meta_fail(META_ERR_TYPE,
                         "argument 'type' is one of META_I16, U16, I8, U8, which are "
                         "moved but not computed with");
    return META_OK;
}

meta_err meta_op_check(meta_op op)
{
    if ((int)op < 0 || op >= META_OP_COUNT)
        return meta_fail(META_ERR_ARGUMENT, "argument 'op' is %d, which is no operation", (int)op);
    return META_OK;
}

meta_err meta_type_size(meta_type type, size_t *bytes)
{
    size_t found = 0;
    meta_call_name(__func__);
    META_NEED(bytes);
    META_TRY(meta_type_check(type, &found));
    *bytes = found;
    return META_OK;
}

/* ------------------------------------------------------------------ boxes */

/* @p any: an empty box may lie in an array of any extents. */
static meta_err check_box(const meta_box *box, const char *name, bool any)
{
    int64_t cells = 1;
    bool overflows = false, empty = false;
    if (!box) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    if (box->ndim < 1 || box->ndim > META_MAX_DIM)
        return meta_fail(META_ERR_ARGUMENT, "argument '%s' has %d dimensions: give 1 to %d", name,
                         box->ndim, META_MAX_DIM);
    for (int d = 0; d < box->ndim; ++d) {
        if (box->size[d] < 0 || box->start[d] < 0 || box->start[d] > box->end[d] ||
            box->end[d] > box->size[d])
            return meta_fail(META_ERR_BOUNDS,
                             "argument '%s', dimension %d: [%" PRId64 ", %" PRId64
                             ") is no range in %s.size[%d], which is %" PRId64,
                             name, d, box->start[d], box->end[d], name, d, box->size[d]);
        empty |= box->start[d] == box->end[d];
        overflows |= __builtin_mul_overflow(cells, box->size[d] > 0 ? box->size[d] : 1, &cells) ||
                     cells > INT64_MAX / 8;
    }
    if (overflows && !(any && empty))
        return meta_fail(META_ERR_OVERFLOW,
                         "argument '%s': the extents multiply to more than 2^60 elements", name);
    return META_OK;
}

meta_err meta_box_check(const meta_box *box, const char *name)
{
    return check_box(box, name, true);
}

meta_err meta_array_check(const meta_box *box, const char *name)
{
    return check_box(box, name, false);
}

bool meta_box_empty(const meta_box *box)
{
    for (int d = 0; d < box->ndim; ++d)
        if (box->start[d] >= box->end[d]) return true;
    return false;
}

void meta_face_of_box(meta_face *face, const meta_box *box)
{
    uint64_t stride = 1, start = 0; /* an empty box's may wrap: it has no element */
    face->count = box->ndim;
    for (int d = 0; d < box->ndim; ++d) {
        start += (uint64_t)box->start[d] * stride;
        face->size[d] = box->end[d] - box->start[d];
        face->stride[d] = (int64_t)stride;
        stride *= (uint64_t)box->size[d];
    }
    face->start = (int64_t)start;
}

/* ------------------------------------------------------------------ faces */

meta_err meta_face_count(const meta_face *face, const char *name, int64_t *count)
{
    int64_t product = 1;
    if (!face) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    if (face->count < 1 || face->count > META_MAX_DIM)
        return meta_fail(META_ERR_ARGUMENT, "argument '%s' has %d levels: give 1 to %d", name,
                         face->count, META_MAX_DIM);
    bool empty = false;
    for (int k = 0; k < face->count; ++k) {
        if (face->size[k] < 0)
            return meta_fail(META_ERR_ARGUMENT, "argument '%s': size[%d] is %" PRId64, name, k,
                             face->size[k]);
        empty |= face->size[k] == 0;
    }
    for (int k = 0; k < face->count && !empty; ++k)
        if (__builtin_mul_overflow(product, face->size[k], &product) || product > INT64_MAX / 8)
            return meta_fail(META_ERR_OVERFLOW,
                             "argument '%s': the sizes multiply to more than 2^60 elements", name);
    *count = empty ? 0 : product;
    return META_OK;
}

meta_err meta_face_reach(const meta_face *face, const char *name, int64_t *low, int64_t *high)
{
    int64_t first = face->start, last = face->start;
    for (int k = 0; k < face->count; ++k) {
        int64_t extent;
        if (__builtin_mul_overflow(face->size[k] - 1, face->stride[k], &extent) ||
            __builtin_add_overflow(extent < 0 ? first : last, extent, extent < 0 ? &first : &last))
            return meta_fail(META_ERR_OVERFLOW,
                             "argument '%s': level %d reaches further than an int64_t can count",
                             name, k);
    }
    *low = first;
    *high = last;
    return META_OK;
}

/* ------------------------------------------------------------------ operands */

/* The label and origin of the buffer at an address, to follow its mention in a message. */
#define NOTE(address) meta_registry_note(address, (char[META_NOTE_ROOM]){0})

meta_err meta_reach_check(const meta_span *span, int64_t low, int64_t high, size_t bytes,
                          const char *name)
{
    const void *ptr = span->address;
    if ((uintptr_t)ptr % bytes != 0)
        return meta_fail(META_ERR_ALIGNMENT,
                         "argument '%s' (%p)%s is not a multiple of the element size, %zu bytes",
                         name, ptr, NOTE(ptr), bytes);
    /* Back ends count elements from the buffer's beginning, where a wrapped array may begin
     * anywhere. */
    if (span->before % bytes != 0)
        return meta_fail(
            META_ERR_ALIGNMENT,
            "argument '%s' (%p) lies %" PRIu64 " bytes from the "
            "beginning of its buffer%s, which is not a multiple of the element size, %zu bytes",
            name, ptr, span->before, NOTE(ptr), bytes);
    if (low < 0 && 0 - (uint64_t)low > span->before / bytes)
        return meta_fail(META_ERR_BOUNDS,
                         "argument '%s': element %" PRId64 " lies before the "
                         "buffer%s, which begins %" PRIu64 " bytes earlier",
                         name, low, NOTE(ptr), span->before);
    if (high >= 0 && (uint64_t)high >= span->room / bytes)
        return meta_fail(META_ERR_BOUNDS,
                         "argument '%s': element %" PRId64 " lies behind the buffer%s, "
                         "which has room for %" PRIu64 " from this address",
                         name, high, NOTE(ptr), span->room / bytes);
    return META_OK;
}

static meta_err check_count(int64_t count, meta_type type, const char *name, size_t *bytes)
{
    META_TRY(meta_type_check(type, bytes));
    if (count < 0)
        return meta_fail(META_ERR_ARGUMENT, "argument '%s': a count of %" PRId64, name, count);
    return META_OK;
}

meta_err meta_resolve(const void *ptr, int64_t count, meta_type type, const char *name,
                      meta_span *span)
{
    size_t bytes = 1;
    META_TRY(check_count(count, type, name, &bytes));
    META_TRY(meta_span_at(ptr, name, span));
    return meta_reach_check(span, 0, count - 1, bytes, name);
}

meta_err meta_resolve_face(const void *ptr, const meta_face *face, meta_type type, const char *name,
                           meta_span *span)
{
    size_t bytes = 1;
    int64_t count, low, high;
    META_TRY(meta_type_check(type, &bytes));
    META_TRY(meta_face_count(face, "face", &count));
    if (count > 0) META_TRY(meta_face_reach(face, "face", &low, &high));
    META_TRY(meta_span_at(ptr, name, span));
    return count > 0 ? meta_reach_check(span, low, high, bytes, name) : META_OK;
}

meta_err meta_resolve_box(const void *ptr, const meta_box *box, meta_type type, const char *name,
                          meta_span *span)
{
    meta_face face;
    META_TRY(meta_box_check(box, "box"));
    meta_face_of_box(&face, box);
    /* Where the buffer is too short for a grid's wrong shape, the shape is the cause. */
    const meta_err error = meta_resolve_face(ptr, &face, type, name, span);
    if ((error == META_OK || error == META_ERR_BOUNDS) && !meta_box_empty(box))
        META_TRY(meta_shape_check(span, box, type, name));
    return error;
}

meta_err meta_resolve_array(const void *ptr, const meta_box *box, meta_type type, const char *name,
                            meta_span *span, meta_box *own)
{
    const meta_box *used = box;
    meta_face face;
    meta_box grid;
    int64_t low, high;
    META_TRY(meta_box_check(box, "box"));
    META_TRY(meta_span_at(ptr, name, span));
    if (own) *own = *box;
    if (meta_box_empty(box)) return META_OK;
    META_TRY(meta_shape_apply(span, box, type, name, &grid, &used));
    if (own) *own = *used;
    meta_face_of_box(&face, used);
    META_TRY(meta_face_reach(&face, "face", &low, &high));
    return meta_reach_check(span, low, high, meta_element_bytes((uint32_t)type), name);
}

meta_err meta_resolve_any(const void *ptr, int64_t count, meta_type type, const char *name,
                          int *is_device, meta_span *span)
{
    size_t bytes = 1;
    uint64_t total;
    META_TRY(check_count(count, type, name, &bytes));
    if (__builtin_mul_overflow((uint64_t)count, bytes, &total)) total = UINT64_MAX;
    META_TRY(meta_span_or_host(ptr, total, name, is_device, span));
    if (*is_device) return meta_reach_check(span, 0, count - 1, bytes, name);
    if ((uintptr_t)ptr % bytes != 0)
        return meta_fail(META_ERR_ALIGNMENT,
                         "argument '%s' (%p) is not a multiple of the element size, %zu bytes",
                         name, ptr, bytes);
    return META_OK;
}

meta_err meta_resolve_extreme(const void *ptr, meta_type type, const char *name, int *is_device,
                              meta_span *span)
{
    const uint64_t bytes = sizeof(meta_extreme_f64), word = sizeof(int64_t);
    META_TRY(meta_span_or_host(ptr, bytes, name, is_device, span));
    if ((uintptr_t)ptr % word != 0 || (*is_device && span->before % word != 0))
        return meta_fail(
            META_ERR_ALIGNMENT,
            "argument '%s' (%p)%s is the address of a meta_extreme_%s, so it must be a "
            "multiple of %d bytes, also from the beginning of a buffer",
            name, ptr, *is_device ? NOTE(ptr) : "", meta_element_name((uint32_t)type), (int)word);
    if (*is_device && span->room < bytes)
        return meta_fail(META_ERR_BOUNDS,
                         "argument '%s' is the address of a meta_extreme_%s of %" PRIu64
                         " bytes, but the buffer%s ends %" PRIu64 " bytes behind it",
                         name, meta_element_name((uint32_t)type), bytes, NOTE(ptr), span->room);
    return META_OK;
}

meta_err meta_same_device(const meta_span *a, const char *name_a, const meta_span *b,
                          const char *name_b)
{
    if (a->device == b->device) return META_OK;
    return meta_fail(META_ERR_WRONG_DEVICE,
                     "argument '%s'%s is on %s:%d and '%s'%s on %s:%d: copy one "
                     "through the host first",
                     name_a, NOTE(a->address), a->device->backend->name, a->device->index, name_b,
                     NOTE(b->address), b->device->backend->name, b->device->index);
}

meta_err meta_no_overlap(const meta_span *a, int64_t low_a, int64_t high_a, const char *name_a,
                         size_t bytes_a, const meta_span *b, int64_t low_b, int64_t high_b,
                         const char *name_b, size_t bytes_b)
{
    const char *first_a = a->address + low_a * (int64_t)bytes_a;
    const char *end_a = a->address + (high_a + 1) * (int64_t)bytes_a;
    const char *first_b = b->address + low_b * (int64_t)bytes_b;
    const char *end_b = b->address + (high_b + 1) * (int64_t)bytes_b;
    if (end_a <= first_b || end_b <= first_a) return META_OK;
    return meta_fail(META_ERR_OVERLAP, "arguments '%s'%s and '%s'%s overlap", name_a,
                     NOTE(a->address), name_b, NOTE(b->address));
}

meta_err meta_no_overlap_face(const meta_span *packed, int64_t count, const meta_span *buf,
                              const meta_face *face, meta_type type)
{
    const size_t bytes = meta_element_bytes((uint32_t)type);
    int64_t low, high;
    META_TRY(meta_face_reach(face, "face", &low, &high));
    return meta_no_overlap(packed, 0, count - 1, "packed", bytes, buf, low, high, "buf", bytes);
}
