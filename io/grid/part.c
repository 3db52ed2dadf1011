/* SPDX-License-Identifier: BSD-3-Clause */
/** @file part.c
 *  A rank's own array of a field: checked, and copied from and to packed host memory in parts. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "grid/grid.h"

/* The name of member @p member of field @p f; of this thread's next call. */
static const char *name_of(int f, const char *member)
{
    static _Thread_local char name[48];
    snprintf(name, sizeof name, "field[%d]%s", f, member);
    return name;
}

static bool is_empty(const meta_box *box)
{
    for (int d = 0; d < box->ndim; ++d)
        if (box->end[d] == box->start[d]) return true;
    return false;
}

meta_err io_name_check(const char *name, const char *argument)
{
    if (!name) return core->fail(META_ERR_ARGUMENT, "argument '%s' is NULL", argument);
    const size_t length = strnlen(name, META_IO_NAME_BYTES);
    if (length == 0) return core->fail(META_ERR_ARGUMENT, "argument '%s' is empty", argument);
    if (length == META_IO_NAME_BYTES)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' has more than %d bytes: '%.40s…'",
                          argument, META_IO_NAME_BYTES - 1, name);
    for (const char *c = name; *c; ++c)
        if (*c == '/' || (unsigned char)*c < ' ' || *c == 0x7f)
            return core->fail(META_ERR_ARGUMENT, "argument '%s' has %s: leave it out", argument,
                              *c == '/' ? "a '/'" : "a control character");
    if (strcmp(name, ".") == 0)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' is '.': give another name", argument);
    return META_OK;
}

meta_err io_part_check(const meta_io_field *field, int f)
{
    size_t element;
    META_TRY(io_name_check(field->name, name_of(f, ".name")));
    META_TRY(core->check_type(field->type, name_of(f, ".type"), &element));
    META_TRY(core->check_box(&field->box, name_of(f, ".box")));
    if (!field->buf && !is_empty(&field->box))
        return core->fail(META_ERR_ARGUMENT, "argument '%s' is NULL, and the box is not empty",
                          name_of(f, ".buf"));
    return META_OK;
}

/* The last cell of the box, from the beginning of the array. */
static int64_t last_cell(const meta_box *box)
{
    int64_t cell = 0;
    for (int d = box->ndim - 1; d >= 0; --d) cell = cell * box->size[d] + box->end[d] - 1;
    return cell;
}

static meta_err check_place(const meta_io_field *field, int f, const io_grid *grid)
{
    const meta_box *box = &field->box;
    if (box->ndim != grid->ndim)
        return core->fail(META_ERR_MISMATCH, "argument '%s' has %d dimensions, the field %d",
                          name_of(f, ".box"), box->ndim, grid->ndim);
    for (int d = 0; d < box->ndim && !is_empty(box); ++d) {
        const int64_t cells = box->end[d] - box->start[d];
        if (field->first[d] >= 0 && field->first[d] <= grid->cells[d] - cells) continue;
        return core->fail(META_ERR_BOUNDS,
                          "argument '%s' in dimension %d: the %" PRId64 " cells from %" PRId64
                          " on leave the grid, which has %" PRId64,
                          name_of(f, ".first"), d, cells, field->first[d], grid->cells[d]);
    }
    return META_OK;
}

meta_err io_part_open(io_part *part, const meta_io_field *field, int f, const io_grid *grid)
{
    int on_device = 0;
    meta_span span;
    *part = (io_part){.buf = field->buf, .type = field->type, .box = field->box};
    for (int d = 0; d < META_MAX_DIM; ++d) part->place.cells[d] = 1;
    META_TRY(check_place(field, f, grid));
    META_TRY(core->check_type(field->type, "type", &part->element));
    if (is_empty(&field->box)) {
        part->place.cells[0] = 0;
        return META_OK;
    }
    part->place.count = 1;
    for (int d = 0; d < grid->ndim; ++d) {
        part->place.first[d] = field->first[d];
        part->place.cells[d] = field->box.end[d] - field->box.start[d];
        part->place.count *= part->place.cells[d];
    }
    const meta_err error = core->resolve_any(field->buf, last_cell(&field->box) + 1, field->type,
                                             name_of(f, ".buf"), &on_device, &span);
    /* Where the buffer is too short for a grid's wrong shape, the shape is the cause. */
    if (on_device && (error == META_OK || error == META_ERR_BOUNDS))
        META_TRY(core->check_shape(&span, &field->box, field->type, name_of(f, ".buf")));
    META_TRY(error);
    part->on_device = on_device != 0;
    return META_OK;
}

/* Between a box of a host array and packed memory. */
static void copy_on_host(const io_part *part, const meta_box *box, char *packed, bool to_array)
{
    const size_t row = (size_t)(box->end[0] - box->start[0]) * part->element;
    int64_t at[META_MAX_DIM];
    memcpy(at, box->start, sizeof at);
    for (;; packed += row) {
        int64_t cell = 0;
        int d;
        for (d = box->ndim - 1; d >= 0; --d) cell = cell * box->size[d] + at[d];
        char *cells = part->buf + cell * (int64_t)part->element;
        memcpy(to_array ? cells : packed, to_array ? packed : cells, row);
        for (d = 1; d < box->ndim && ++at[d] == box->end[d]; ++d) at[d] = box->start[d];
        if (d >= box->ndim) return;
    }
}

static meta_err copy_box(const io_part *part, const meta_box *box, char *packed, bool to_array)
{
    meta_box dense = {.ndim = box->ndim};
    if (!part->on_device) {
        copy_on_host(part, box, packed, to_array);
        return META_OK;
    }
    for (int d = 0; d < box->ndim; ++d) dense.size[d] = dense.end[d] = box->end[d] - box->start[d];
    if (to_array) return meta_copy_box_h2d(part->buf, box, packed, &dense, part->type, NULL);
    return meta_copy_box_d2h(packed, &dense, part->buf, box, part->type, NULL);
}

/* The largest box of whole lower dimensions that begins with cell @p from and ends before @p to:
 * *cells of it. */
static void next_box(const io_part *part, int64_t from, int64_t to, meta_box *box, int64_t *cells)
{
    const meta_box *all = &part->box;
    int64_t at[META_MAX_DIM], below = 1, planes = 1, rest = from;
    int level = 0;
    bool begins = true;
    *box = *all;
    for (int d = 0; d < all->ndim; ++d) {
        const int64_t extent = all->end[d] - all->start[d];
        at[d] = rest % extent;
        rest /= extent;
    }
    for (int d = 0; d < all->ndim && begins && below <= to - from; ++d) {
        const int64_t extent = all->end[d] - all->start[d], fits = (to - from) / below;
        level = d;
        planes = extent - at[d] < fits ? extent - at[d] : fits;
        *cells = planes * below;
        begins = at[d] == 0 && planes == extent;
        below *= extent;
    }
    for (int d = level; d < all->ndim; ++d) {
        box->start[d] = all->start[d] + at[d];
        box->end[d] = box->start[d] + (d == level ? planes : 1);
    }
}

meta_err io_part_copy(const io_part *part, int64_t from, int64_t to, char *packed, bool to_array)
{
    while (from < to) {
        meta_box box;
        int64_t cells = 0;
        next_box(part, from, to, &box, &cells);
        META_TRY(copy_box(part, &box, packed, to_array));
        packed += cells * (int64_t)part->element;
        from += cells;
    }
    return META_OK;
}
