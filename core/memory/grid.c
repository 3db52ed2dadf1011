/* SPDX-License-Identifier: BSD-3-Clause */
/** @file grid.c
 *  Allocation of grids with ghost cells: rows are aligned to cache lines, and padding keeps rows
 * and planes from competing for the same cache sets. */
#include "memory/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,         /* bytes of a cache line and of the longest vector */
    SET_STRIDE = 4096, /* addresses this far apart map to the same set of a first-level cache */
    WORTH_PADDING = 256 << 10, /* bytes; what stencils gain of less, exchanges lose */
    LARGE = 24 << 20           /* from here on, whatever share of the grid the padding is */
};

/* What is asked for of one grid, or of the grids of a family in common. */
typedef struct wanted {
    int ndim;
    const int64_t *cells;
    const int *low, *high;
    int more[META_MAX_DIM]; /* the largest stagger of each dimension, at least 0 */
    size_t least, most;     /* bytes of the smallest and of the largest element */
} wanted;

/* Round up to a multiple of @p line; false on overflow. */
static bool round_up(int64_t *elements, int64_t line)
{
    if (__builtin_add_overflow(*elements, line - 1, elements)) return false;
    *elements -= *elements % line;
    return true;
}

/* The bytes of elements that @p box has; false on overflow. */
static bool count_bytes(const meta_box *box, size_t element, size_t *bytes)
{
    int64_t total = (int64_t)element;
    for (int d = 0; d < box->ndim; ++d)
        if (__builtin_mul_overflow(total, box->size[d] > 0 ? box->size[d] : 1, &total))
            return false;
    *bytes = (size_t)total;
    return true;
}

/* The box of the cells, with rows of a multiple of @p line elements and room for all staggers;
 * false on overflow. The ghosts behind a row's last own cell share a line with those before the
 * first one of the next row. */
static bool lay_out(meta_box *box, const wanted *w, int64_t line)
{
    /* Rows and planes whose distance is a multiple of SET_STRIDE compete for one set, and a store
     * to one looks like a store to what is loaded of the next. One more line separates rows; one
     * more row then separates planes, because a row is no such multiple any more. What is no
     * multiple for the largest elements is none for smaller ones. */
    const int64_t stride = SET_STRIDE / (int64_t)w->most;
    int64_t *size = box->size;
    *box = (meta_box){.ndim = w->ndim};
    for (int d = 0; d < w->ndim; ++d) {
        box->start[d] = w->low[d];
        if (__builtin_add_overflow(box->start[d], w->cells[d], &box->end[d]) ||
            __builtin_add_overflow(box->end[d], w->high[d], &size[d]) ||
            __builtin_add_overflow(size[d], w->more[d], &size[d]))
            return false;
        if (d == 0 && !round_up(&size[d], line)) return false;
    }
    if (line > 1 && w->ndim > 1 && size[0] > 0 && size[0] % stride == 0) size[0] += line;
    if (line > 1 && w->ndim > 2 && size[1] > 0 &&
        size[0] % stride * (size[1] % stride) % stride == 0)
        ++size[1];
    return true;
}

static meta_err overflows(const char *what)
{
    return meta_fail(META_ERR_OVERFLOW,
                     "argument 'cells': with its ghosts %s has more bytes than any buffer can have",
                     what);
}

/* Fails where the numbers are none of a grid. */
static meta_err check_extents(const wanted *w)
{
    if (w->ndim < 1 || w->ndim > META_MAX_DIM)
        return meta_fail(META_ERR_ARGUMENT, "argument 'ndim' is %d: give 1 to %d", w->ndim,
                         META_MAX_DIM);
    for (int d = 0; d < w->ndim; ++d) {
        const char *name = w->low[d] < 0 ? "low" : "high";
        if (w->cells[d] < 0)
            return meta_fail(META_ERR_ARGUMENT, "argument 'cells': cells[%d] is %" PRId64, d,
                             w->cells[d]);
        if (w->low[d] < 0 || w->high[d] < 0)
            return meta_fail(META_ERR_ARGUMENT, "argument '%s': %s[%d] is %d", name, name, d,
                             w->low[d] < 0 ? w->low[d] : w->high[d]);
    }
    return META_OK;
}

/* The box, and whether its rows are whole lines: as one grid of the largest elements is worth it.
 */
static meta_err choose(const wanted *w, const char *what, meta_box *box, bool *lined)
{
    meta_box in_lines;
    size_t bytes, more;
    *lined = false;
    if (!lay_out(box, w, 1) || !count_bytes(box, w->most, &bytes)) return overflows(what);
    if (bytes < WORTH_PADDING) return META_OK;
    if (!lay_out(&in_lines, w, LINE / (int64_t)w->least) || !count_bytes(&in_lines, w->most, &more))
        return overflows(what);
    *lined = bytes >= LARGE || more - bytes <= bytes / 4;
    if (*lined) *box = in_lines;
    return META_OK;
}

/* A grid of @p box, its first own cell aligned to a line if rows are whole ones. */
static meta_err make(const meta_box *box, const wanted *w, bool lined, meta_type type,
                     const meta_site *made, void **ptr)
{
    const size_t element = meta_element_bytes((uint32_t)type);
    meta_shape shape = {.box = *box, .type = type, .element = element};
    const int64_t line = LINE / (int64_t)element;
    const size_t lead = lined ? (size_t)((line - box->start[0] % line) % line) * element : 0;
    meta_device *device;
    size_t bytes;
    if (!count_bytes(box, element, &bytes)) return overflows("it");
    for (int d = 0; d < w->ndim; ++d) shape.padded |= box->size[d] > box->end[d] + w->high[d];
    META_TRY(meta_device_current(&device));
    return meta_buffer(device, lead, bytes, &shape, made, ptr);
}

meta_err meta_grid_alloc(void **ptr, meta_box *box, int ndim, const int64_t *cells, const int *low,
                         const int *high, meta_type type)
{
    wanted w = {.ndim = ndim, .cells = cells, .low = low, .high = high};
    meta_box made;
    bool lined;
    meta_site made_at;
    META_SITE_TAKE(&made_at);
    META_ENTER();
    META_NEED(ptr);
    META_NEED(box);
    META_NEED(cells);
    META_NEED(low);
    META_NEED(high);
    META_TRY(check_extents(&w));
    META_TRY(meta_type_check(type, &w.least));
    w.most = w.least;
    META_TRY(choose(&w, "the grid", &made, &lined));
    META_TRY(make(&made, &w, lined, type, &made_at, ptr));
    *box = made;
    return META_OK;
}

/* ------------------------------------------------------------------ families */

/* Fails unless all fields can be grids of one family; fills in what they have in common. */
static meta_err check_fields(const meta_grid_field *field, int fields, wanted *w)
{
    w->least = SIZE_MAX;
    for (int f = 0; f < fields; ++f) {
        size_t element;
        char name[32];
        snprintf(name, sizeof name, "field[%d].type", f);
        META_TRY(meta_type_check_named(field[f].type, name, &element));
        if (element < w->least) w->least = element;
        if (element > w->most) w->most = element;
        for (int d = 0; d < w->ndim; ++d) {
            const int more = field[f].stagger[d];
            if (more < -w->high[d])
                return meta_fail(META_ERR_ARGUMENT,
                                 "argument 'field': field[%d].stagger[%d] is %d, and there are %d "
                                 "ghosts at the high side, so that own cells would have no "
                                 "element: give -%d or more, or more ghosts",
                                 f, d, more, w->high[d], w->high[d]);
            if (more < 0 && -more > w->cells[d])
                return meta_fail(META_ERR_ARGUMENT,
                                 "argument 'field': field[%d].stagger[%d] is %d, and there are "
                                 "%" PRId64 " cells",
                                 f, d, more, w->cells[d]);
            if (more > w->more[d]) w->more[d] = more;
        }
        for (int e = 0; e < f && field[f].name; ++e)
            if (field[e].name && strcmp(field[e].name, field[f].name) == 0)
                return meta_fail(META_ERR_ARGUMENT,
                                 "argument 'field': field[%d] and field[%d] are both called '%s'",
                                 e, f, field[f].name);
    }
    return META_OK;
}

/* The box of a field: in the last dimension it has only its own elements. */
static meta_box box_of(const meta_box *common, const wanted *w, const int *stagger)
{
    const int last = w->ndim - 1;
    meta_box box = *common;
    for (int d = 0; d < w->ndim; ++d) box.end[d] += stagger[d];
    if (last > 0) box.size[last] += stagger[last] - w->more[last];
    return box;
}

meta_err meta_grid_family(meta_grid_field *field, int fields, meta_box *box, int ndim,
                          const int64_t *cells, const int *low, const int *high)
{
    static const int none[META_MAX_DIM];
    wanted w = {.ndim = ndim, .cells = cells, .low = low, .high = high};
    meta_box common;
    bool lined;
    meta_site made_at;
    META_SITE_TAKE(&made_at);
    META_ENTER();
    META_NEED(field);
    META_NEED(cells);
    META_NEED(low);
    META_NEED(high);
    if (fields < 1)
        return meta_fail(META_ERR_ARGUMENT, "argument 'fields' is %d: give 1 or more", fields);
    META_TRY(check_extents(&w));
    META_TRY(check_fields(field, fields, &w));
    META_TRY(choose(&w, "a grid of the family", &common, &lined));
    void **made = calloc((size_t)fields, sizeof *made);
    meta_err error = META_OK;
    if (!made) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory left");
    for (int f = 0; f < fields && error == META_OK; ++f) {
        const meta_box own = box_of(&common, &w, field[f].stagger);
        error = make(&own, &w, lined, field[f].type, &made_at, &made[f]);
    }
    for (int f = 0; f < fields; ++f) {
        if (error != META_OK) {
            meta_scratch_free(made[f]);
            continue;
        }
        field[f].ptr = made[f];
        field[f].box = box_of(&common, &w, field[f].stagger);
        if (field[f].name) meta_registry_name(made[f], field[f].name);
    }
    free(made);
    if (error == META_OK && box) *box = box_of(&common, &w, none);
    return error;
}

/* ------------------------------------------------------------------ other buffers */

meta_err meta_grid_shape(void *ptr, const meta_box *box, meta_type type)
{
    meta_shape shape = {.type = type};
    size_t bytes = 0;
    META_ENTER();
    META_NEED(ptr);
    if (!box) return meta_registry_shape(ptr, NULL, 0);
    META_TRY(meta_type_check(type, &shape.element));
    META_TRY(meta_array_check(box, "box"));
    if (!count_bytes(box, shape.element, &bytes)) return overflows("the grid");
    shape.box = *box;
    return meta_registry_shape(ptr, &shape, bytes);
}
