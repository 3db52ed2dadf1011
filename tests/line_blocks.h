/* SPDX-License-Identifier: BSD-3-Clause */
/** @file line_blocks.h
 *  A line of cells in blocks over a ring of ranks, for the programs whose ranks die: cut, and moved
 * to other blocks. */
#ifndef META_TEST_LINE_BLOCKS_H
#define META_TEST_LINE_BLOCKS_H

#include "meta_comm.h"

enum { LINE_CELLS = 5000, LINE_MOST_RANKS = 16 };

static inline void line_even_cuts(MPI_Comm line, int64_t *cut)
{
    int size;
    MPI_Comm_size(line, &size);
    for (int k = 0; k <= size; ++k) cut[k] = (int64_t)LINE_CELLS * k / size;
}

static inline meta_decompose_desc line_desc(MPI_Comm line)
{
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    desc.cart = line;
    desc.cells[0] = LINE_CELLS;
    return desc;
}

static inline meta_err line_decompose(MPI_Comm line)
{
    int64_t cut[LINE_MOST_RANKS + 1];
    const meta_cuts cuts = {{cut}};
    const meta_decompose_desc desc = line_desc(line);
    double seconds;
    return meta_decompose(&cuts, &desc, &seconds);
}

/** All cells of @p from to @p to: each rank but the first begins a cell later there. */
static inline meta_err line_redistribute(MPI_Comm line, const void *from, void *to)
{
    int64_t even[LINE_MOST_RANKS + 1], odd[LINE_MOST_RANKS + 1];
    const meta_cuts before = {{even}}, after = {{odd}};
    meta_redistribute_field field = {.type = META_F64, .from = from, .to = to};
    int rank, size;
    MPI_Comm_rank(line, &rank);
    MPI_Comm_size(line, &size);
    line_even_cuts(line, even);
    for (int k = 0; k <= size; ++k) odd[k] = even[k] + (k > 0 && k < size);
    const int64_t mine = even[rank + 1] - even[rank], then = odd[rank + 1] - odd[rank];
    field.from_box = (meta_box){1, {mine}, {0}, {mine}};
    field.to_box = (meta_box){1, {then}, {0}, {then}};
    return meta_redistribute(line, &before, &after, 1, &field);
}

#endif
