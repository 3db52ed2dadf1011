/* SPDX-License-Identifier: BSD-3-Clause */
/** @file boxes.c
 *  Operations made of other public ones: boxes copied between an array of the host and one of a
 *  device, and several boxes of several arrays reduced by one call. */
#include "memory/shape.h"
#include "ops/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ between host and device */

enum { PIECE = 2 << 20 /* bytes that are moved, and packed, at once */ };

typedef struct box_copy {
    bool to_device;
    char *device, *host;
    meta_type type;
    size_t element;
    void *packed, *staging; /* room for a piece, on the device and on the host */
} box_copy;

/* Whether the cells of the box are contiguous. */
static bool is_run(const meta_box *box)
{
    int d = 0;
    while (d < box->ndim && box->end[d] - box->start[d] == box->size[d]) ++d;
    for (++d; d < box->ndim; ++d)
        if (box->end[d] - box->start[d] > 1) return false;
    return true;
}

static int64_t first_cell(const meta_box *box)
{
    meta_face face;
    meta_face_of_box(&face, box);
    return face.start;
}

/* Between the cells of a host box and a contiguous buffer. */
static void pack_on_host(char *array, const meta_box *box, char *packed, size_t element,
                         bool unpack)
{
    const size_t row = (size_t)(box->end[0] - box->start[0]) * element;
    int64_t at[META_MAX_DIM];
    memcpy(at, box->start, sizeof at);
    for (;; packed += row) {
        int64_t cell = 0;
        int d;
        for (d = box->ndim - 1; d >= 0; --d) cell = cell * box->size[d] + at[d];
        char *cells = array + cell * (int64_t)element;
        memcpy(unpack ? cells : packed, unpack ? packed : cells, row);
        for (d = 1; d < box->ndim && ++at[d] == box->end[d]; ++d) at[d] = box->start[d];
        if (d >= box->ndim) return;
    }
}

/* Two boxes of equal extents, of a piece at most. */
static meta_err copy_piece(const box_copy *c, const meta_box *device, const meta_box *host)
{
    meta_box dense = {.ndim = device->ndim};
    size_t bytes = c->element;
    for (int d = 0; d < dense.ndim; ++d) {
        dense.size[d] = dense.end[d] = device->end[d] - device->start[d];
        bytes *= (size_t)dense.size[d];
    }
    const bool host_run = is_run(host), device_run = is_run(device);
    char *here = host_run ? c->host + first_cell(host) * (int64_t)c->element : c->staging;
    void *there =
        device_run ? c->device + first_cell(device) * (int64_t)c->element : (char *)c->packed;
    if (c->to_device) {
        if (!host_run) pack_on_host(c->host, host, here, c->element, false);
        META_TRY(meta_copy_h2d(there, here, bytes, NULL));
        if (device_run) return META_OK;
        return meta_copy_box(c->device, device, there, &dense, c->type, NULL);
    }
    if (!device_run) META_TRY(meta_copy_box(there, &dense, c->device, device, c->type, META_ASYNC));
    META_TRY(meta_copy_d2h(here, there, bytes, NULL));
    if (!host_run) pack_on_host(c->host, host, here, c->element, true);
    return META_OK;
}

/* A piece has all of the dimensions before the level that is cut, and extent 1 behind it. */
static meta_err copy_pieces(const box_copy *c, const meta_box *device, const meta_box *host)
{
    const int64_t room = PIECE / (int64_t)c->element;
    meta_box there = *device, here = *host;
    int64_t below = 1;
    int level = 0, d;
    while (level < device->ndim - 1 && below * (device->end[level] - device->start[level]) <= room)
        below *= device->end[level] - device->start[level], ++level;
    do {
        for (d = level; d < device->ndim; ++d) {
            const int64_t most = d == level ? room / below : 1;
            const int64_t left = device->end[d] - there.start[d];
            there.end[d] = there.start[d] + (left < most ? left : most);
            here.end[d] = here.start[d] + (left < most ? left : most);
        }
        META_TRY(copy_piece(c, &there, &here));
        for (d = level; d < device->ndim; ++d) {
            there.start[d] = there.end[d];
            here.start[d] = here.end[d];
            if (there.start[d] < device->end[d]) break;
            there.start[d] = device->start[d];
            here.start[d] = host->start[d];
        }
    } while (d < device->ndim);
    return META_OK;
}

/* Elements @p low … @p high behind @p host, which need not be where addresses are. */
static meta_err check_host(const char *host, int64_t low, int64_t high, size_t element,
                           const char *name)
{
    uint64_t before, bytes;
    if (__builtin_mul_overflow((uint64_t)low, element, &before) ||
        __builtin_mul_overflow((uint64_t)(high - low + 1), element, &bytes) ||
        before > UINTPTR_MAX - (uintptr_t)host)
        return meta_fail(META_ERR_OVERFLOW,
                         "argument '%s' (%p): the box reaches past the end of the address space",
                         name, (const void *)host);
    return meta_host_range(host + before, bytes, name);
}

static meta_err copy_boxes(box_copy *c, const meta_box *device_box, const meta_box *host_box,
                           meta_event *done)
{
    const char *device_name = c->to_device ? "dst" : "src",
               *host_name = c->to_device ? "src" : "dst";
    meta_face face;
    meta_span span;
    int64_t low, high, cells;
    meta_err error = META_OK;
    META_TRY(meta_type_check(c->type, &c->element));
    META_TRY(c->to_device ? meta_boxes_alike(device_box, host_box)
                          : meta_boxes_alike(host_box, device_box));
    if (meta_box_empty(device_box)) return meta_submit_nothing(done);
    META_TRY(meta_resolve_box(c->device, device_box, c->type, device_name, &span));
    meta_face_of_box(&face, host_box);
    META_TRY(meta_face_count(&face, host_name, &cells));
    META_TRY(meta_face_reach(&face, host_name, &low, &high));
    if (!c->host) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", host_name);
    META_TRY(check_host(c->host, low, high, c->element, host_name));
    const uint64_t all = (uint64_t)cells * c->element;
    const size_t piece = all < PIECE ? (size_t)all : PIECE;
    if (!is_run(device_box)) META_TRY(meta_scratch(span.device, piece, &c->packed));
    if (!is_run(host_box)) error = meta_staging_get(span.device, piece, &c->staging);
    if (error == META_OK) error = copy_pieces(c, device_box, host_box);
    /* What unpacks has no ticket, and nobody asks for errors when scratch memory is freed. */
    if (error == META_OK && c->packed) error = meta_device_finish(span.device);
    if (c->staging) meta_staging_put(span.device, c->staging);
    meta_scratch_free(c->packed);
    return error == META_OK ? meta_submit_nothing(done) : error;
}

meta_err meta_copy_box_h2d(void *dst, const meta_box *dst_box, const void *src,
                           const meta_box *src_box, meta_type type, meta_event *done)
{
    box_copy c = {.to_device = true, .device = dst, .host = (char *)(uintptr_t)src, .type = type};
    META_ENTER();
    return copy_boxes(&c, dst_box, src_box, done);
}

meta_err meta_copy_box_d2h(void *dst, const meta_box *dst_box, const void *src,
                           const meta_box *src_box, meta_type type, meta_event *done)
{
    box_copy c = {.to_device = false, .device = (char *)(uintptr_t)src, .host = dst, .type = type};
    META_ENTER();
    return copy_boxes(&c, src_box, dst_box, done);
}

/* ------------------------------------------------------------------ several boxes */

/* Names with their numbers are only formatted for an error, here and below. */
meta_err meta_box_check_element(const meta_box *box, int b, const char *name)
{
    char element[32];
    if (meta_box_check(&box[b], name) == META_OK) return META_OK;
    snprintf(element, sizeof element, "%s[%d]", name, b);
    return meta_box_check(&box[b], element);
}

/* Validate box @p b of field @p f; @p own receives it with the extents that the array has. */
static meta_err check_cells(void *const *field, int f, const meta_box *box, int b, meta_type type,
                            meta_span *span, meta_box *own)
{
    char name[32];
    META_TRY(meta_box_check_element(box, b, "box"));
    const meta_err error = meta_resolve_array(field[f], &box[b], type, "field", span, own);
    if (error == META_OK) return META_OK;
    snprintf(name, sizeof name, "field[%d]", f);
    return meta_resolve_array(field[f], &box[b], type, name, span, own);
}

/* Fail if the own cells of fields @p e and @p f, whose spans begin grids, begin at different
 * indices. */
static meta_err check_starts(const meta_span *first, int e, const meta_span *span, int f)
{
    const meta_box *a = &first->shape->box, *b = &span->shape->box;
    char names[2][32];
    int d = 0;
    if (first->shape->origin == span->shape->origin) return META_OK;
    while (d < a->ndim && a->start[d] == b->start[d]) ++d;
    if (d == a->ndim) return META_OK;
    snprintf(names[0], sizeof names[0], "field[%d]", e);
    snprintf(names[1], sizeof names[1], "field[%d]", f);
    return meta_shape_starts_differ(first, names[0], a->start[d], span, names[1], b->start[d], d);
}

/* Validate all reductions, so that none is queued before another one fails. */
static meta_err check_all(void *results, int64_t stride, int fields, void *const *field, int boxes,
                          const meta_box *box, meta_op op, meta_type type)
{
    meta_span at, first, span, grid = {.shape = NULL};
    meta_box own;
    size_t bytes;
    int64_t room;
    int on_device, grid_field = 0;
    META_TRY(meta_type_arithmetic(type, &bytes));
    META_TRY(meta_op_check(op));
    if (fields < 0 || boxes < 0)
        return meta_fail(META_ERR_ARGUMENT, "argument '%s' is %d: give 0 or more",
                         fields < 0 ? "fields" : "boxes", fields < 0 ? fields : boxes);
    if (fields == 0 || boxes == 0) return META_OK;
    META_NEED(field);
    META_NEED(box);
    if (fields > 1 && stride < boxes)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'stride' is %" PRId64 ": a field has %d results, so give %d or "
                         "more",
                         stride, boxes, boxes);
    if (__builtin_mul_overflow(fields > 1 ? stride : 0, fields - 1, &room) ||
        __builtin_add_overflow(room, boxes, &room) || room > INT64_MAX / 8)
        return meta_fail(META_ERR_OVERFLOW,
                         "argument 'stride' is %" PRId64 ": no buffer has room for such results",
                         stride);
    META_TRY(meta_resolve_any(results, room, type, "results", &on_device, &at));
    for (int f = 0; f < fields; ++f)
        for (int b = 0; b < boxes; ++b) {
            META_TRY(check_cells(field, f, box, b, type, &span, &own));
            if (f == 0 && b == 0) first = span;
            META_TRY(meta_same_device(&span, "field", &first, "field[0]"));
            if (on_device) META_TRY(meta_same_device(&at, "results", &span, "field"));
            if (!span.shape || meta_box_empty(&own) || !meta_shape_is(span.shape, &own, type))
                continue;
            if (!grid.shape) grid = span, grid_field = f;
            if (grid.shape->box.ndim == span.shape->box.ndim)
                META_TRY(check_starts(&grid, grid_field, &span, f));
        }
    return META_OK;
}

/* Empty boxes come first: with host results nothing is queued for them, and on a device that works
 * in order the event of the last call is that of every result. */
meta_err meta_reduce_boxes(void *results, int64_t stride, int fields, void *const *field, int boxes,
                           const meta_box *box, meta_op op, meta_type type, meta_event *done)
{
    int64_t left = (int64_t)fields * boxes;
    meta_pieces pieces;
    meta_span span;
    META_ENTER();
    META_TRY(check_all(results, stride, fields, field, boxes, box, op, type));
    const int64_t bytes = (int64_t)meta_element_bytes((uint32_t)type);
    if (left == 0) return meta_submit_nothing(done);
    META_TRY(meta_resolve(field[0], 0, type, "field", &span));
    meta_pieces_begin(&pieces, span.device, done);
    for (int pass = 0; pass < 2; ++pass)
        for (int f = 0; f < fields; ++f)
            for (int b = 0; b < boxes; ++b) {
                if (meta_box_empty(&box[b]) != (pass == 0)) continue;
                void *result = (char *)results + (f * stride + b) * bytes;
                const meta_err error =
                    meta_piece_queued(&pieces, meta_reduce(result, field[f], &box[b], op, type,
                                                           meta_piece(&pieces, --left == 0)));
                if (error == META_OK) continue;
                return meta_pieces_drop(&pieces, error);
            }
    return meta_pieces_end(&pieces);
}
