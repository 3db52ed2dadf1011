/* SPDX-License-Identifier: BSD-3-Clause */
/** @file shape.c
 *  Whether a call addresses a grid as it was allocated. */
#include "memory/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The strides of the dimensions of an array that have more than one element, and whether any index
 * but 0 is used along them. */
typedef struct strides {
    int count;
    int64_t of[META_MAX_DIM];
    bool used[META_MAX_DIM];
} strides;

static strides strides_of(const meta_box *box)
{
    strides s = {0};
    int64_t stride = 1;
    for (int d = 0; d < box->ndim; ++d) {
        if (box->size[d] > 1) {
            s.of[s.count] = stride;
            s.used[s.count++] = box->end[d] > 1;
        }
        stride *= box->size[d];
    }
    return s;
}

/* Whether elements are addressed by strides of the grid, or its memory is viewed as an array of
 * another number of dimensions: more, or, where the cells follow each other without padding, fewer.
 */
static bool is_view(const meta_shape *shape, const meta_box *box)
{
    const strides grid = strides_of(&shape->box), array = strides_of(box);
    if (array.count > grid.count || (array.count < grid.count && !shape->padded)) return true;
    for (int k = 0, g = 0; k < array.count; ++k) {
        if (array.count == grid.count) g = k;
        if (!array.used[k]) continue;
        while (array.count < grid.count && g < grid.count && grid.of[g] != array.of[k]) ++g;
        if (g == grid.count || grid.of[g] != array.of[k]) return false;
    }
    return true;
}

enum { NUMBERS = META_MAX_DIM * 24 };

/* Such as "408 x 404". */
static const char *product(const int64_t *number, int count, const char *between,
                           char text[NUMBERS])
{
    int used = 0;
    for (int d = 0; d < count; ++d)
        used += snprintf(text + used, (size_t)(NUMBERS - used), "%s%" PRId64, d > 0 ? between : "",
                         number[d]);
    return text;
}
#define EXTENTS(box) product((box)->size, (box)->ndim, " x ", (char[NUMBERS]){0})
#define START(box)   product((box)->start, (box)->ndim, ", ", (char[NUMBERS]){0})
#define NOTE(span)   meta_registry_note((span)->address, (char[META_NOTE_ROOM]){0})

static uint64_t bytes_of(const meta_box *box, size_t element)
{
    uint64_t bytes = element;
    for (int d = 0; d < box->ndim; ++d) bytes *= (uint64_t)box->size[d];
    return bytes;
}

meta_err meta_shape_compare(const meta_span *span, const meta_box *box, meta_type type,
                            const char *name)
{
    const meta_shape *s = span->shape;
    if (s->element != meta_element_bytes((uint32_t)type) || is_view(s, box)) return META_OK;
    return meta_fail(
        META_ERR_ARGUMENT,
        "argument '%s'%s is a grid of %s elements whose own cells begin at %s, but the box "
        "makes it an array of %s, whose rows lie elsewhere: give the box that meta_grid_alloc() "
        "returned for this grid; to use its memory as an array of another shape, forget the "
        "grid's by meta_grid_shape() with NULL",
        name, NOTE(span), EXTENTS(&s->box), START(&s->box), EXTENTS(box));
}

/* ------------------------------------------------------------------ by the grid's extents */

meta_err meta_shape_apply(const meta_span *span, const meta_box *box, meta_type type,
                          const char *name, meta_box *own, const meta_box **used)
{
    const meta_shape *s = span->shape;
    int d = 0;
    *used = box;
    if (!s) return META_OK;
    if (!meta_shape_counts(s, box, type)) return meta_shape_check(span, box, type, name);
    if (meta_shape_same(s, box, box->ndim)) return META_OK;
    while (d < box->ndim && box->end[d] <= s->box.size[d]) ++d;
    if (d == box->ndim) {
        *own = *box;
        memcpy(own->size, s->box.size, sizeof own->size);
        *used = own;
        return META_OK;
    }
    /* Another shape of the same memory. */
    if (bytes_of(box, 1) == bytes_of(&s->box, 1) && is_view(s, box)) return META_OK;
    return meta_fail(
        META_ERR_BOUNDS,
        "argument 'box', dimension %d: [%" PRId64 ", %" PRId64 ") leaves '%s'%s, which is a grid "
        "of %s elements whose own cells begin at %s: give a box inside all arrays of the call, or "
        "allocate '%s' with more cells, ghosts or stagger; to use its memory as an array of "
        "another shape, forget the grid's by meta_grid_shape() with NULL",
        d, box->start[d], box->end[d], name, NOTE(span), EXTENTS(&s->box), START(&s->box), name);
}

meta_err meta_shape_apply_lacking(const meta_span *span, const meta_box *box, uint32_t lacking,
                                  meta_type type, const char *name, meta_box *own,
                                  const meta_box **used)
{
    meta_box squeezed = {.ndim = 0}, grid;
    const meta_box *taken;
    *used = box;
    if (!span->shape) return META_OK;
    for (int d = 0; d < box->ndim; ++d) {
        if (lacking >> d & 1) continue;
        squeezed.size[squeezed.ndim] = box->size[d];
        squeezed.start[squeezed.ndim] = box->start[d];
        squeezed.end[squeezed.ndim++] = box->end[d];
    }
    if (span->shape->box.ndim != squeezed.ndim) {
        /* A grid of the call's dimensions must lack them, too. */
        for (int d = 0; d < box->ndim && span->shape->box.ndim == box->ndim; ++d)
            if ((lacking >> d & 1) && span->shape->box.size[d] != 1)
                return meta_shape_check(span, box, type, name);
        return meta_shape_apply(span, box, type, name, own, used);
    }
    META_TRY(meta_shape_apply(span, &squeezed, type, name, &grid, &taken));
    if (taken == &squeezed && !meta_shape_is(span->shape, &squeezed, type)) return META_OK;
    *own = *box;
    for (int d = 0, e = 0; d < box->ndim; ++d)
        if (!(lacking >> d & 1)) own->size[d] = taken->size[e++];
    *used = own;
    return META_OK;
}

meta_err meta_shape_starts_differ(const meta_span *first, const char *first_name,
                                  int64_t first_start, const meta_span *second,
                                  const char *second_name, int64_t second_start, int d)
{
    return meta_fail(
        META_ERR_ARGUMENT,
        "arguments '%s'%s and '%s'%s are grids whose own cells begin at index %" PRId64
        " and %" PRId64 " along dimension %d, so that an index would be different cells in them: "
        "allocate both with as many ghosts, as by meta_grid_family(); to use the memory of one by "
        "the box alone, forget its shape by meta_grid_shape() with NULL",
        first_name, NOTE(first), second_name, NOTE(second), first_start, second_start, d);
}
