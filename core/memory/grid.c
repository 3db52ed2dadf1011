/* SPDX-License-Identifier: BSD-3-Clause */
/** @file grid.c
 *  Memory for grids with ghost cells, laid out so that rows begin where vectors do and rows and
 *  planes do not compete for the same sets of a cache. */
#include "memory/memory.h"

#include <inttypes.h>

enum {
    LINE = 64,         /* bytes: of a cache line, and of the longest vector */
    SET_STRIDE = 4096, /* addresses so far apart fall into the same set of a first-level cache */
    WORTH_PADDING = 24 << 20 /* bytes: in a smaller grid the room in caches is worth more */
};

/* Up to whole lines of @p line elements; false where that is more than an int64_t. */
static bool round_up(int64_t *elements, int64_t line)
{
    if (__builtin_add_overflow(*elements, line - 1, elements)) return false;
    *elements -= *elements % line;
    return true;
}

static meta_err check_counts(int ndim, const int64_t *cells, const int *low, const int *high)
{
    for (int d = 0; d < ndim; ++d) {
        if (cells[d] < 0)
            return meta_fail(META_ERR_ARGUMENT, "argument 'cells': cells[%d] is %" PRId64, d,
                             cells[d]);
        if (low[d] < 0 || high[d] < 0)
            return meta_fail(META_ERR_ARGUMENT, "argument '%s': %s[%d] is %d",
                             low[d] < 0 ? "low" : "high", low[d] < 0 ? "low" : "high", d,
                             low[d] < 0 ? low[d] : high[d]);
    }
    return META_OK;
}

/* Extent and own cells of dimension @p d; false where they are more than an int64_t. In a row both
 * the ghosts before the first own cell and the whole become lines. */
static bool lay_out(meta_box *box, int d, int64_t cells, int low, int high, int64_t line)
{
    box->start[d] = low;
    if (d == 0 && !round_up(&box->start[d], line)) return false;
    if (__builtin_add_overflow(box->start[d], cells, &box->end[d])) return false;
    if (__builtin_add_overflow(box->end[d], high, &box->size[d])) return false;
    return d != 0 || round_up(&box->size[d], line);
}

static bool lay_out_all(meta_box *box, const int64_t *cells, const int *low, const int *high,
                        int64_t line)
{
    for (int d = 0; d < box->ndim; ++d)
        if (!lay_out(box, d, cells[d], low[d], high[d], line)) return false;
    return true;
}

/* Rows, and planes of rows, that lie a multiple of SET_STRIDE apart crowd in one set, and a store
 * to one looks like a store to what is loaded of the next. A line more sets rows apart; a row more
 * then sets planes apart, whatever their number was, because a row is no such multiple any more. */
static void spread(meta_box *box, int64_t line)
{
    const int64_t stride = SET_STRIDE / LINE * line;
    if (box->ndim > 1 && box->size[0] > 0 && box->size[0] % stride == 0) box->size[0] += line;
    if (box->ndim > 2 && box->size[1] > 0 &&
        box->size[0] % stride * (box->size[1] % stride) % stride == 0)
        ++box->size[1];
}

static bool count_bytes(const meta_box *box, size_t element, size_t *bytes)
{
    int64_t total = (int64_t)element;
    for (int d = 0; d < box->ndim; ++d)
        if (__builtin_mul_overflow(total, box->size[d] > 0 ? box->size[d] : 1, &total))
            return false;
    *bytes = (size_t)total;
    return true;
}

meta_err meta_grid_alloc(void **ptr, meta_box *box, int ndim, const int64_t *cells, const int *low,
                         const int *high, meta_type type)
{
    meta_device *device;
    meta_box made = {.ndim = ndim};
    size_t element, bytes = 0;
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
    META_TRY(check_counts(ndim, cells, low, high));
    bool fits = lay_out_all(&made, cells, low, high, 1) && count_bytes(&made, element, &bytes);
    if (fits && bytes >= WORTH_PADDING) {
        const int64_t line = LINE / (int64_t)element;
        fits = lay_out_all(&made, cells, low, high, line);
        if (fits) spread(&made, line);
        fits = fits && count_bytes(&made, element, &bytes);
    }
    if (!fits)
        return meta_fail(META_ERR_OVERFLOW, "argument 'cells': with its ghosts the grid has more "
                                            "bytes than any buffer can have");
    META_TRY(meta_device_current(&device));
    META_TRY(meta_buffer(device, bytes, &made_at, ptr));
    *box = made;
    return META_OK;
}
