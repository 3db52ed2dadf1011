/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cells.h
 *  A thread's cells on a GPU, several at a time: their loads are all in flight before the first
 * value is used, along a row or, where a thread has only a few columns, along dimension 1. Rows are
 * located as by META_ROWS, once for each run of rows along dimension 1. */
#ifndef META_GPU_CELLS_H
#define META_GPU_CELLS_H

#include "lang_gpu.h"

/** The cells that are taken at a time. */
#define GPU_BATCH 4

/** A thread's columns of a row: from, from + step, … below end. */
struct gpu_columns {
    meta_i64 from, end, step;
};

/* take.cells<N>(a, da, b, db) takes N cells: the first has the index a in operand 0 and b in
 * operand 1, the next are da and db on. */
template <class Take>
static __device__ inline void gpu_take_row(const meta_space *s, Take &take, const gpu_columns &c,
                                           meta_i64 a, meta_i64 b)
{
    const meta_i64 x = s->layout[0].stride[0], y = s->layout[1].stride[0];
    meta_i64 i = c.from;
    META_GPU_ROLLED
    for (; i + (GPU_BATCH - 1) * c.step < c.end; i += GPU_BATCH * c.step)
        take.template cells<GPU_BATCH>(a + i * x, c.step * x, b + i * y, c.step * y);
    META_GPU_ROLLED
    for (; i < c.end; i += c.step) take.template cells<1>(a + i * x, 0, b + i * y, 0);
}

/* One column of @p rows rows. */
template <class Take>
static __device__ inline void gpu_take_column(const meta_space *s, Take &take, meta_i64 a,
                                              meta_i64 b, meta_u32 rows)
{
    const meta_i64 x = s->layout[0].stride[1], y = s->layout[1].stride[1];
    META_GPU_ROLLED
    for (; rows >= GPU_BATCH; rows -= GPU_BATCH, a += GPU_BATCH * x, b += GPU_BATCH * y)
        take.template cells<GPU_BATCH>(a, x, b, y);
    META_GPU_ROLLED
    for (; rows > 0; --rows, a += x, b += y) take.template cells<1>(a, 0, b, 0);
}

/* The columns @p c of @p rows rows from @p r on, which lie along dimension 1. */
template <class Take>
static __device__ inline void gpu_take_rows(const meta_space *s, Take &take, const gpu_columns &c,
                                            const meta_gpu_row &r, meta_u32 rows)
{
    const meta_layout *x = &s->layout[0], *y = &s->layout[1];
    if (rows < GPU_BATCH) {
        META_GPU_ROLLED
        for (meta_u32 n = 0; n < rows; ++n)
            gpu_take_row(s, take, c, r.at[0] + n * x->stride[1], r.at[1] + n * y->stride[1]);
    } else {
        META_GPU_ROLLED
        for (meta_i64 i = c.from; i < c.end; i += c.step)
            gpu_take_column(s, take, r.at[0] + i * x->stride[0], r.at[1] + i * y->stride[0], rows);
    }
}

/** Take all of the calling thread's cells. */
template <class Take> static __device__ inline void gpu_cells(const meta_gpu_call *w, Take &take)
{
    const meta_space *s = &w->space;
    const meta_u32 across = 1u << w->columns_log2, along = META_GPU_BLOCK >> w->columns_log2;
    const meta_u32 high = blockIdx.x / w->wide, wide = blockIdx.x - high * w->wide;
    const gpu_columns columns = {(meta_i64)wide * across + (threadIdx.x & (across - 1)),
                                 s->extent[0], (meta_i64)w->wide * across};
    if (high >= w->high) return; /* a fused launch has as many blocks as its largest call needs */
    for (meta_i64 row = ((meta_i64)high * along + (threadIdx.x >> w->columns_log2)) * w->depth;
         row < s->rows; row += (meta_i64)w->high * along * w->depth) {
        meta_gpu_row r = meta_gpu_row_of(s, row, w->depth);
        while (r.left > 0) {
            const meta_i64 room = s->ndim > 1 ? s->extent[1] - r.y : 1;
            const meta_u32 rows = r.left < room ? r.left : (meta_u32)room;
            gpu_take_rows(s, take, columns, r, rows);
            if (rows == r.left) break;
            r = meta_gpu_row_of(s, r.number + rows, r.left - rows);
        }
    }
}

#endif
