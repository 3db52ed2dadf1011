/* SPDX-License-Identifier: BSD-3-Clause */
/** @file png.c
 *  A plane of a field as a picture: a pixel or more for each cell, or the mean of cells where there
 * are more than pixels; the first dimension to the right, the second one upwards. */
#include "formats/formats.h"

#ifdef HAVE_PNG

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

/* Pixels along the longer side. */
enum { USUAL_SIDE = 640, LONGEST_SIDE = 1000, MOST_BYTES = 1 << 30 };

typedef struct pixel {
    unsigned char red, green, blue;
} pixel;

typedef struct picture {
    const io_field *field;
    const char *cells;
    int64_t nx, ny;
    double low, high;
    int width, height;
    pixel *pixels;
} picture;

static bool is_begun(const void *start, int64_t bytes)
{
    return bytes >= 8 && memcmp(start, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static meta_err check(const io_head *head)
{
    const int ndim = head->field[0].grid.ndim;
    if (head->fields != 1)
        return core->fail(META_ERR_UNSUPPORTED,
                          "argument 'fields' is %d: a picture is of one field; write several",
                          head->fields);
    if (head->attributes > 0)
        return core->fail(META_ERR_UNSUPPORTED,
                          "argument 'desc->attributes' is %d: a picture has none; give 0",
                          head->attributes);
    if (ndim == 2 || ndim == 3) return META_OK;
    return core->fail(META_ERR_UNSUPPORTED,
                      "argument 'field[0].box' has %d dimensions: a picture is of 2 or 3", ndim);
}

static meta_err lay_out(io_head *head, const meta_io_desc *desc)
{
    io_grid *grid = &head->field[0].grid;
    const int axis = grid->ndim == 2 ? -1 : desc->axis < 0 ? 2 : desc->axis;
    io_grid_runs(grid, io_piece_room(head->field[0].element));
    head->axis = axis;
    head->plane = axis < 0 ? 0 : desc->plane < 0 ? grid->cells[axis] / 2 : desc->plane;
    if (axis >= 0 && head->plane >= grid->cells[axis])
        return core->fail(META_ERR_BOUNDS,
                          "argument 'desc->plane' is %lld: the grid has %lld planes along axis %d, "
                          "from 0 on",
                          (long long)head->plane, (long long)grid->cells[axis], axis);
    if (grid->count / (axis < 0 ? 1 : grid->cells[axis]) <=
        MOST_BYTES / (int64_t)head->field[0].element)
        return META_OK;
    return core->fail(META_ERR_UNSUPPORTED,
                      "argument 'field[0].cells': a plane has more than %d bytes; use META_IO_HDF5",
                      MOST_BYTES);
}

/* ------------------------------------------------------------------ cells and colours */

static double value_of(const picture *p, int64_t cell)
{
    const char *at = p->cells + cell * (int64_t)p->field->element;
#define VALUE(TYPE, type)                                                                          \
    case TYPE: {                                                                                   \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        return (double)value;                                                                      \
    }
    switch (p->field->type) {
        VALUE(META_F64, double)
        VALUE(META_F32, float)
        VALUE(META_I64, int64_t)
        VALUE(META_U64, uint64_t)
        VALUE(META_I32, int32_t)
        VALUE(META_U32, uint32_t)
        VALUE(META_I16, int16_t)
        VALUE(META_U16, uint16_t)
        VALUE(META_I8, int8_t)
        VALUE(META_U8, uint8_t)
    default:
        return 0;
    }
#undef VALUE
}

/* Of the finite cells. */
static void find_range(picture *p)
{
    p->low = INFINITY;
    p->high = -INFINITY;
    for (int64_t k = 0; k < p->nx * p->ny; ++k) {
        const double value = value_of(p, k);
        if (!isfinite(value)) continue;
        p->low = fmin(p->low, value);
        p->high = fmax(p->high, value);
    }
}

/* From dark to light, so that it is one in grey as well; NaN is none of these. */
static pixel colour_of(double share)
{
    static const pixel stops[] = {
        {18, 22, 72}, {28, 84, 142}, {24, 144, 148}, {108, 190, 96}, {250, 232, 92}};
    enum { LAST = sizeof stops / sizeof *stops - 1 };
    if (isnan(share)) return (pixel){200, 0, 160};
    const double at = fmin(fmax(share, 0), 1) * LAST;
    const int low = at >= LAST ? LAST - 1 : (int)at;
    const double part = at - low;
    const pixel a = stops[low], b = stops[low + 1];
    return (pixel){(unsigned char)lround(a.red + part * (b.red - a.red)),
                   (unsigned char)lround(a.green + part * (b.green - a.green)),
                   (unsigned char)lround(a.blue + part * (b.blue - a.blue))};
}

/* The mean of the cells that a pixel stands for; one cell where there are more pixels. */
static double mean_at(const picture *p, int column, int row)
{
    const int64_t x0 = column * p->nx / p->width, x1 = (column + 1) * p->nx / p->width;
    const int64_t y0 = row * p->ny / p->height, y1 = (row + 1) * p->ny / p->height;
    double sum = 0;
    int64_t count = 0;
    for (int64_t y = y0; y < y1 || y == y0; ++y)
        for (int64_t x = x0; x < x1 || x == x0; ++x, ++count) sum += value_of(p, y * p->nx + x);
    return sum / (double)count;
}

static meta_err draw(picture *p)
{
    const int64_t longest = p->nx > p->ny ? p->nx : p->ny;
    const double dots = longest > USUAL_SIDE ? fmin(1, (double)LONGEST_SIDE / (double)longest)
                                             : (double)(USUAL_SIDE / longest);
    p->width = (int)fmax(1, round(dots * (double)p->nx));
    p->height = (int)fmax(1, round(dots * (double)p->ny));
    p->pixels = malloc((size_t)p->width * (size_t)p->height * sizeof *p->pixels);
    if (!p->pixels) return io_no_memory((uint64_t)p->width * (uint64_t)p->height * 3);
    for (int row = 0; row < p->height; ++row)
        for (int column = 0; column < p->width; ++column) {
            const double value = mean_at(p, column, p->height - 1 - row);
            const double share =
                p->high > p->low ? (value - p->low) / (p->high - p->low) : value - p->low;
            p->pixels[(size_t)row * (size_t)p->width + (size_t)column] = colour_of(share);
        }
    return META_OK;
}

/* ------------------------------------------------------------------ the file */

static meta_err encode(const picture *p, void **content, size_t *bytes)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)p->width,
                       .height = (png_uint_32)p->height,
                       .format = PNG_FORMAT_RGB};
    png_alloc_size_t size = 0;
    if (png_image_write_to_memory(&image, NULL, &size, 0, p->pixels, 0, NULL)) {
        *content = malloc(size);
        *bytes = size;
        if (!*content) return io_no_memory(size);
        if (png_image_write_to_memory(&image, *content, bytes, 0, p->pixels, 0, NULL))
            return META_OK;
    }
    return core->fail(META_ERR_FILE, "argument 'path': libpng cannot make the picture: %s",
                      image.message);
}

static meta_err write_plane(io_writer *w, const io_grid *plane, const void *cells,
                            const meta_io_desc *desc)
{
    int64_t extents[2] = {1, 1};
    int count = 0;
    for (int d = 0; d < plane->ndim; ++d)
        if (d != w->head->axis) extents[count++] = plane->cells[d];
    picture p = {.field = &w->head->field[0],
                 .cells = cells,
                 .nx = extents[0],
                 .ny = extents[1],
                 .low = desc->low,
                 .high = desc->high};
    void *content = NULL;
    size_t bytes = 0;
    if (p.low == p.high) find_range(&p);
    meta_err error = draw(&p);
    if (error == META_OK) error = encode(&p, &content, &bytes);
    if (error == META_OK) error = io_queue_write(w->queue, w->path, w->file, content, bytes, 0);
    free(p.pixels);
    free(content);
    return error;
}

const io_format io_png = {.format = META_IO_PNG,
                          .name = "META_IO_PNG",
                          .is_there = true,
                          .is_begun = is_begun,
                          .check = check,
                          .lay_out = lay_out,
                          .write_plane = write_plane};

#else

#include <string.h>

static bool is_begun(const void *start, int64_t bytes)
{
    return bytes >= 4 && memcmp(start, "\x89PNG", 4) == 0;
}

const io_format io_png = {.format = META_IO_PNG,
                          .name = "META_IO_PNG",
                          .is_there = false,
                          .why =
                              "install libpng (Debian: libpng-dev), and configure and build anew",
                          .is_begun = is_begun};

#endif
