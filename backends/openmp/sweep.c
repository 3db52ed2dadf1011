/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sweep.c
 *  Dividing a thread's share of a grid into cache-sized blocks, and these into pieces of four rows;
 * see sweep.h. */
#include "openmp.h"

#include "sides.h"
#include "stream.h"
#include "sweep.h"

/* ROWS_AHEAD: of a plane; the next row is loaded with this one already. */
enum { LINE = 64, ROWS_AHEAD = 2 };

typedef struct block {
    sweep_piece piece;
    const sweep_stencil *stencil;
    char *out;
    const char *in;
    meta_i64 out_along, in_along;  /* strides */
    meta_i64 cells, across, along; /* extents: columns, rows per plane, planes */
    meta_i64 first[SIDES_DIMS];    /* of the stencil's: its first column, row and plane */
    const sides *sides;
    double *side_sums;
} block;

static meta_i64 least(meta_i64 a, meta_i64 b)
{
    return a < b ? a : b;
}

/* Pieces of so many rows, @p times along the plane. */
static void run_pieces(block *b, meta_i64 x, meta_i64 y, meta_i64 z, int rows, meta_i64 times)
{
    const meta_i64 bytes = (meta_i64)b->stencil->bytes;
    if (times == 0) return;
    b->piece.rows = rows;
    b->piece.times = times;
    b->piece.out = b->out + (x + y * b->piece.out_across + z * b->out_along) * bytes;
    b->piece.in = b->in + (x + y * b->piece.across + z * b->in_along) * bytes;
    b->stencil->run(&b->piece);
}

/* Rows [y, y + rows) of one plane; a 2D stencil sweeps four quarters of them concurrently. */
static void sweep_plane(block *b, meta_i64 x, meta_i64 y, meta_i64 rows, meta_i64 z)
{
    const meta_i64 quarter = b->stencil->flat ? rows / SWEEP_ROWS : 0, done = SWEEP_ROWS * quarter;
    b->piece.out_apart = quarter * b->piece.out_across;
    b->piece.in_apart = b->stencil->flat ? quarter * b->piece.across : b->in_along;
    run_pieces(b, x, y, z, SWEEP_ROWS, quarter);
    run_pieces(b, x, y + done, z, 1, rows - done);
}

/* Of what was just swept: so many columns, rows and planes from (x, y, z) of the block. */
static void add_sides(const block *b, meta_i64 x, meta_i64 y, meta_i64 z, meta_i64 rows,
                      meta_i64 planes)
{
    const meta_i64 bytes = (meta_i64)b->stencil->bytes, at[] = {x, y, z},
                   extent[] = {b->piece.cells, rows, planes};
    for (int n = 0; n < b->sides->count; ++n) {
        const side *s = &b->sides->of[n];
        meta_i64 from[SIDES_DIMS], to[SIDES_DIMS];
        int meets = 1;
        for (int d = 0; d < SIDES_DIMS; ++d) {
            from[d] = s->start[d] - b->first[d] > at[d] ? s->start[d] - b->first[d] : at[d];
            to[d] = least(s->end[d] - b->first[d], at[d] + extent[d]);
            meets &= from[d] < to[d];
        }
        for (meta_i64 plane = from[2]; meets && plane < to[2]; ++plane)
            b->side_sums[n] += b->stencil->sum_of(
                b->in + (from[0] + from[1] * b->piece.across + plane * b->in_along) * bytes,
                to[0] - from[0], to[1] - from[1], b->piece.across);
    }
}

/* Rows [y, y + rows) of all planes, four planes at a time. */
static void sweep_planes(block *b, meta_i64 x, meta_i64 y, meta_i64 rows)
{
    const meta_i64 fours = b->along - b->along % SWEEP_ROWS;
    b->piece.out_apart = b->out_along;
    b->piece.in_apart = b->in_along;
    for (meta_i64 z = 0; z < fours; z += SWEEP_ROWS) {
        run_pieces(b, x, y, z, SWEEP_ROWS, rows);
        if (b->sides) add_sides(b, x, y, z, rows, SWEEP_ROWS);
    }
    for (meta_i64 z = fours; z < b->along; ++z) {
        sweep_plane(b, x, y, rows, z);
        if (b->sides) add_sides(b, x, y, z, rows, 1);
    }
}

/* Half the cache holds a block's working set until its rows are reused: the rows of the result
 * planes, of the two adjacent planes, and as many being prefetched. */
static void sweep_block(block *b)
{
    enum { PLANES = 2 * SWEEP_ROWS + 2, FEW_ROWS = 8 };
    const meta_i64 room = stream_cache() / 2 / PLANES / (meta_i64)b->stencil->bytes;
    const meta_i64 columns = room / FEW_ROWS;
    for (meta_i64 x = 0; x < b->cells; x += columns) {
        b->piece.cells = least(columns, b->cells - x);
        const meta_i64 rows = b->along > 1 ? room / b->piece.cells : b->across;
        for (meta_i64 y = 0; y < b->across; y += rows)
            sweep_planes(b, x, y, least(rows, b->across - y));
    }
}

int sweep_is_aligned(const meta_space *s, meta_i64 bytes)
{
    return s->layout[0].stride[1] * bytes % LINE == 0 &&
           (s->ndim <= 2 || s->layout[0].stride[2] * bytes % LINE == 0);
}

void sweep(const meta_work *work, const sweep_stencil *stencil, void *sum)
{
    const meta_space *s = work->space;
    const int solid = s->ndim > 2;
    const meta_i64 bytes = (meta_i64)stencil->bytes;
    block b = {
        .stencil = stencil,
        .cells = work->column[1] - work->column[0],
        .first = {work->column[0]},
        .sides = work->sides,
        .side_sums = work->side_sums,
        .out_along = solid ? s->layout[0].stride[2] : 0,
        .in_along = solid ? s->layout[1].stride[2] : 0,
        .piece = {.out_across = s->layout[0].stride[1],
                  .across = s->layout[1].stride[1],
                  .ahead = work->way & SWEEP_REQUESTS ? ROWS_AHEAD * s->layout[1].stride[1] : 0,
                  .aligned = sweep_is_aligned(s, bytes),
                  .stream = work->way & SWEEP_STREAMS,
                  .sum = sum}};
    /* Whole planes as one block; partial planes at the ends of the share as their own. */
    for (meta_i64 number = work->row[0]; number < work->row[1];) {
        const meta_row row = meta_row_first(s, number);
        const meta_i64 left = work->row[1] - number, y = row.coordinate[1];
        const int whole = solid && y == 0 && left >= s->extent[1];
        b.across = whole ? s->extent[1] : least(s->extent[1] - y, left);
        b.along = whole ? least(left / s->extent[1], s->extent[2] - row.coordinate[2]) : 1;
        b.first[1] = y;
        b.first[2] = solid ? row.coordinate[2] : 0;
        b.out = (char *)work->object[0] + (row.at[0] + work->column[0]) * bytes;
        b.in = (const char *)work->object[1] + (row.at[1] + work->column[0]) * bytes;
        sweep_block(&b);
        number += b.across * b.along;
    }
    if (b.piece.stream) stream_end();
}
