/* SPDX-License-Identifier: BSD-3-Clause */
/** @file shape.c
 *  Whether a call addresses a grid as it was allocated. */
#include "memory/shape.h"

#include <inttypes.h>
#include <stdio.h>

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
        "(with GROWN, where the array has it) makes it an array of %s, whose rows lie elsewhere: "
        "give the box that meta_grid_alloc() returned "
        "for this grid; to use it by the box of other arrays, allocate it by meta_alloc() with "
        "%" PRIu64 " bytes, or all of them by meta_grid_alloc() with the same cells and ghosts and "
        "with elements of the same size, and without GROWN",
        name, NOTE(span), EXTENTS(&s->box), START(&s->box), EXTENTS(box),
        bytes_of(box, s->element));
}

meta_err meta_shape_check_starts(const meta_span *moved, meta_type moved_type,
                                 const char *moved_name, const meta_span *other,
                                 meta_type other_type, const char *other_name, int d)
{
    const meta_shape *x = moved->shape, *y = other->shape;
    if (x->element != meta_element_bytes((uint32_t)moved_type) ||
        y->element != meta_element_bytes((uint32_t)other_type) || x->low[0] != y->low[d] ||
        x->box.start[0] == y->box.start[d])
        return META_OK;
    const uint64_t own = bytes_of(&x->box, x->element), others = bytes_of(&y->box, x->element);
    return meta_fail(
        META_ERR_ARGUMENT,
        "arguments '%s'%s and '%s'%s are grids whose own cells begin at index %" PRId64
        " and %" PRId64 " along the same dimension, because padding depends on the size of an "
        "element: by one box, different cells would meet. Allocate '%s' by meta_alloc() with "
        "%" PRIu64 " bytes, or both by meta_grid_alloc() with elements of the same size",
        other_name, NOTE(other), moved_name, NOTE(moved), y->box.start[d], x->box.start[0],
        moved_name, x->box.ndim == y->box.ndim && others > own ? others : own);
}
