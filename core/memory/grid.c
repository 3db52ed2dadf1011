/* SPDX-License-Identifier: BSD-3-Clause */
/** @file grid.c
 *  Allocation of grids with ghost cells: rows are aligned to cache lines, and padding keeps rows
 * and planes from competing for the same cache sets. */
#include "memory/shape.h"

#include <inttypes.h>

enum {
    LINE = 64,         /* bytes of a cache line and of the longest vector */
    WORD = 8,          /* buffers are aligned to so many at least */
    SET_STRIDE = 4096, /* addresses this far apart map to the same set of a first-level cache */
    WORTH_PADDING = 256 << 10, /* bytes; what stencils gain of less, exchanges lose */
    LARGE = 24 << 20           /* from here on, whatever share of the grid the padding is */
};

/* Round up to a multiple of @p line; false on overflow. */
static bool round_up(int64_t *elements, int64_t line)
{
    if (__builtin_add_overflow(*elements, line - 1, elements)) return false;
    *elements -= *elements % line;
    return true;
}

/* The box and its bytes, with rows of a multiple of @p line elements; false on overflow. The first
 * own cell lies a multiple of WORD behind the beginning. The ghosts behind a row's last own cell
 * share a line with those before the first one of the next row. */
static bool lay_out(meta_box *box, const int64_t *cells, const int *low, const int *high,
                    int64_t line, size_t element, size_t *bytes)
{
    /* Rows and planes whose distance is a multiple of SET_STRIDE compete for one set, and a store
     * to one looks like a store to what is loaded of the next. One more line separates rows; one
     * more row then separates planes, because a row is no such multiple any more. */
    const int64_t stride = SET_STRIDE / LINE * line;
    const int64_t word = line * WORD > LINE ? line * WORD / LINE : 1;
    int64_t *size = box->size, total = (int64_t)element;
    for (int d = 0; d < box->ndim; ++d) {
        box->start[d] = low[d];
        if (d == 0 && !round_up(&box->start[d], word)) return false;
        if (__builtin_add_overflow(box->start[d], cells[d], &box->end[d])) return false;
        if (__builtin_add_overflow(box->end[d], high[d], &size[d])) return false;
        if (d == 0 && !round_up(&size[d], line)) return false;
    }
    if (line > 1 && box->ndim > 1 && size[0] > 0 && size[0] % stride == 0) size[0] += line;
    if (line > 1 && box->ndim > 2 && size[1] > 0 &&
        size[0] % stride * (size[1] % stride) % stride == 0)
        ++size[1];
    for (int d = 0; d < box->ndim; ++d)
        if (__builtin_mul_overflow(total, size[d] > 0 ? size[d] : 1, &total)) return false;
    *bytes = (size_t)total;
    return true;
}

meta_err meta_grid_alloc(void **ptr, meta_box *box, int ndim, const int64_t *cells, const int *low,
                         const int *high, meta_type type)
{
    meta_device *device;
    meta_shape shape;
    meta_box made = {.ndim = ndim};
    bool is_padded = false;
    size_t element, bytes = 0, lead = 0;
    meta_site made_at;
    META_SITE_TAKE(&made_at);
    META_ENTER();
    META_NEED(ptr);
    META_NEED(box);
    META_NEED(cells);
    META_NEED(low);
    META_NEED(high);
    if (ndim < 1 || ndim > META_MAX_DIM)
        return meta_fail(META_ERR_ARGUMENT, "argument 'ndim' is %d: give 1 to %d", ndim,
                         META_MAX_DIM);
    META_TRY(meta_type_check(type, &element));
    for (int d = 0; d < ndim; ++d) {
        const char *name = low[d] < 0 ? "low" : "high";
        if (cells[d] < 0)
            return meta_fail(META_ERR_ARGUMENT, "argument 'cells': cells[%d] is %" PRId64, d,
                             cells[d]);
        if (low[d] < 0 || high[d] < 0)
            return meta_fail(META_ERR_ARGUMENT, "argument '%s': %s[%d] is %d", name, name, d,
                             low[d] < 0 ? low[d] : high[d]);
    }
    bool fits = lay_out(&made, cells, low, high, 1, element, &bytes);
    if (fits && bytes >= WORTH_PADDING) {
        const int64_t line = LINE / (int64_t)element;
        meta_box padded = made;
        size_t more;
        fits = lay_out(&padded, cells, low, high, line, element, &more);
        if (fits && (bytes >= LARGE || more - bytes <= bytes / 4)) {
            made = padded;
            is_padded = true;
            bytes = more;
            lead = (size_t)((line - made.start[0] % line) % line) * element;
        }
    }
    if (!fits)
        return meta_fail(META_ERR_OVERFLOW, "argument 'cells': with its ghosts the grid has more "
                                            "bytes than any buffer can have");
    META_TRY(meta_device_current(&device));
    shape = (meta_shape){
        .box = made, .padded = is_padded, .moved = made.start[0] > low[0], .element = element};
    for (int d = 0; d < ndim; ++d) shape.low[d] = low[d];
    META_TRY(meta_buffer(device, lead, bytes, &shape, &made_at, ptr));
    *box = made;
    return META_OK;
}
