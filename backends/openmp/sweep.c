/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sweep.c
 *  Dividing a thread's share of a grid into blocks of the cache's size, and these into pieces of
 * four rows; see sweep.h. */
#include "openmp.h"

#include "stream.h"
#include "sweep.h"

enum { LINE = 64 };

typedef struct block {
    sweep_piece piece;
    char *out;
    const char *in;
    meta_i64 bytes, out_across;
    int rows;                      /* of a piece, where there are that many */
    meta_i64 cells, across, along; /* its extents */
} block;

static meta_i64 least(meta_i64 a, meta_i64 b)
{
    return a < b ? a : b;
}

/* The rows of one block from @p x on, four planes after four planes. */
static void sweep_columns(block *b, meta_i64 x, meta_i64 y, meta_i64 rows, sweep_function *run)
{
    for (meta_i64 z = 0; z < b->along; z += b->piece.rows) {
        b->piece.rows = b->along - z >= b->rows ? b->rows : 1;
        for (meta_i64 k = y; k < y + rows; ++k) {
            const meta_i64 to = x + k * b->out_across + z * b->piece.out_along;
            const meta_i64 from = x + k * b->piece.across + z * b->piece.in_along;
            b->piece.out = b->out + to * b->bytes;
            b->piece.in = b->in + from * b->bytes;
            run(&b->piece);
        }
    }
}

/* Half a cache for what a block reads before it comes to the same rows again: those of the results'
 * planes, the two beside them, and as many that are on their way. */
static void sweep_block(block *b, sweep_function *run)
{
    enum { PLANES = 2 * SWEEP_ROWS + 2, FEW_ROWS = 8 };
    const meta_i64 room = stream_cache() / 2 / PLANES / b->bytes;
    const meta_i64 columns = b->across > 1 ? room / FEW_ROWS : room;
    for (meta_i64 x = 0; x < b->cells; x += columns) {
        b->piece.cells = least(columns, b->cells - x);
        const meta_i64 rows = room / b->piece.cells;
        for (meta_i64 y = 0; y < b->across; y += rows)
            sweep_columns(b, x, y, least(rows, b->across - y), run);
    }
}

/* Rows of results that are not aligned alike are not streamed: what lies in one line of memory
 * would go there by two ways, at twice the cost. In a core's cache one row after the other is as
 * fast as it gets, where rows share no sums. */
void sweep(const meta_work *work, const sweep_stencil *stencil, void *sum)
{
    const meta_space *s = work->space;
    const int along = stencil->along;
    const meta_i64 width = along == 2 ? s->extent[1] : 1;
    const meta_i64 bytes = (meta_i64)stencil->bytes;
    const int large = stream_pays(s->rows * s->extent[0] * bytes);
    const int stream =
        large && s->stride[0][1] * bytes % LINE == 0 && s->stride[0][along] * bytes % LINE == 0;
    block b = {.bytes = bytes,
               .rows = large || stencil->shares ? SWEEP_ROWS : 1,
               .cells = work->column[1] - work->column[0],
               .out_across = s->stride[0][1],
               .piece = {.out_along = s->stride[0][along],
                         .in_along = s->stride[1][along],
                         .across = s->stride[1][1],
                         .rows = 1,
                         .stream = stream,
                         .sum = sum}};
    /* Whole planes together; what a share has of a plane before and after them by itself. */
    for (meta_i64 number = work->row[0]; number < work->row[1];) {
        const meta_row row = meta_row_first(s, number);
        const meta_i64 left = work->row[1] - number, y = along == 2 ? row.coordinate[1] : 0;
        const int whole = y == 0 && left >= width;
        b.across = whole ? width : least(width - y, left);
        b.along = whole ? least(left / width, s->extent[along] - row.coordinate[along]) : 1;
        b.out = (char *)work->object[0] + (row.at[0] + work->column[0]) * b.bytes;
        b.in = (const char *)work->object[1] + (row.at[1] + work->column[0]) * b.bytes;
        sweep_block(&b, stencil->run);
        number += b.across * b.along;
    }
    if (stream) stream_end();
}
