/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pieces.c
 *  A grid's pieces: runs of cells, or boxes. */
#include <inttypes.h>

#include "grid/grid.h"

enum { PIECE_BYTES = 4 << 20 };

int64_t io_piece_room(size_t element)
{
    const size_t chunk = job->chunk(), most = chunk < PIECE_BYTES ? chunk : PIECE_BYTES;
    return most < element ? 1 : (int64_t)(most / element);
}

meta_err io_grid_set(io_grid *grid, int ndim, const int64_t *cells, size_t element, int f)
{
    int64_t bytes = (int64_t)element;
    *grid = (io_grid){.ndim = ndim};
    for (int d = 0; d < ndim; ++d) {
        grid->cells[d] = cells[d];
        if (cells[d] < 1)
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'field[%d].cells[%d]' is %" PRId64 ": give the "
                              "extent of the global grid, 1 or more",
                              f, d, cells[d]);
        if (__builtin_mul_overflow(bytes, cells[d], &bytes))
            return core->fail(META_ERR_OVERFLOW,
                              "argument 'field[%d].cells': the grid has more bytes than any file",
                              f);
    }
    grid->count = bytes / (int64_t)element;
    return META_OK;
}

void io_grid_runs(io_grid *grid, int64_t piece)
{
    grid->level = -1;
    grid->piece = piece < grid->count ? piece : grid->count;
    grid->pieces = (grid->count - 1) / grid->piece + 1;
}

void io_grid_boxes(io_grid *grid, int64_t piece)
{
    grid->below = 1;
    grid->level = 0;
    while (grid->level < grid->ndim - 1 && grid->below * grid->cells[grid->level] <= piece)
        grid->below *= grid->cells[grid->level++];
    const int64_t extent = grid->cells[grid->level];
    grid->along = piece / grid->below < extent ? piece / grid->below : extent;
    grid->per_line = (extent - 1) / grid->along + 1;
    grid->piece = grid->along * grid->below;
    grid->pieces = grid->per_line * (grid->count / (grid->below * extent));
}

void io_piece(const io_grid *grid, int64_t k, int64_t *start, int64_t *cells)
{
    if (grid->level < 0) {
        *start = k * grid->piece;
        *cells = grid->count - *start < grid->piece ? grid->count - *start : grid->piece;
        return;
    }
    const int64_t extent = grid->cells[grid->level], at = k % grid->per_line * grid->along;
    *start = (k / grid->per_line * extent + at) * grid->below;
    *cells = (extent - at < grid->along ? extent - at : grid->along) * grid->below;
}

void io_piece_box(const io_grid *grid, int64_t k, int64_t *first, int64_t *cells)
{
    int64_t start, count;
    io_piece(grid, k, &start, &count);
    for (int d = 0; d < grid->ndim; ++d) {
        first[d] = start % grid->cells[d];
        start /= grid->cells[d];
        cells[d] = d < grid->level ? grid->cells[d] : d == grid->level ? count / grid->below : 1;
    }
}
