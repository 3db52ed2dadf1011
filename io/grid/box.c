/* SPDX-License-Identifier: BSD-3-Clause */
/** @file box.c
 *  A rank's box in the global grid: which of its cells lie in a piece, and where. */
#include <string.h>

#include "grid/grid.h"

int64_t io_box_before(const io_grid *grid, const io_box *box, int64_t cell)
{
    int64_t at[META_MAX_DIM], below = box->count, before = 0;
    if (box->count == 0 || cell >= grid->count) return box->count;
    for (int d = 0; d < grid->ndim; ++d) {
        at[d] = cell % grid->cells[d] - box->first[d];
        cell /= grid->cells[d];
    }
    for (int d = grid->ndim - 1; d >= 0; --d) {
        below /= box->cells[d];
        if (at[d] < 0) return before;
        if (at[d] >= box->cells[d]) return before + below * box->cells[d];
        before += at[d] * below;
    }
    return before;
}

/* The cells of the box that follow each other in the grid too, and the first dimension behind them.
 */
static int64_t run_of(const io_grid *grid, const io_box *box, int *behind)
{
    int64_t run = box->cells[0];
    int d = 1;
    for (; d < grid->ndim && box->cells[d - 1] == grid->cells[d - 1]; ++d) run *= box->cells[d];
    *behind = d;
    return run;
}

void io_box_move(const io_grid *grid, const io_box *box, int64_t from, int64_t to, size_t element,
                 char *packed, char *piece, int64_t start, bool to_piece)
{
    int behind;
    const int64_t run = run_of(grid, box, &behind);
    while (from < to) {
        int64_t number = from / run, cell = 0, stride = 1;
        const int64_t skip = from % run, rest = run - skip, left = to - from;
        const int64_t cells = rest < left ? rest : left;
        for (int d = 0; d < grid->ndim; ++d) {
            int64_t at = box->first[d];
            if (d >= behind) {
                at += number % box->cells[d];
                number /= box->cells[d];
            }
            cell += at * stride;
            stride *= grid->cells[d];
        }
        char *there = piece + (cell + skip - start) * (int64_t)element;
        memcpy(to_piece ? there : packed, to_piece ? packed : there, (size_t)cells * element);
        packed += cells * (int64_t)element;
        from += cells;
    }
}

bool io_boxes_meet(const io_grid *grid, const io_box *a, const io_box *b)
{
    if (a->count == 0 || b->count == 0) return false;
    for (int d = 0; d < grid->ndim; ++d)
        if (a->first[d] >= b->first[d] + b->cells[d] || b->first[d] >= a->first[d] + a->cells[d])
            return false;
    return true;
}
