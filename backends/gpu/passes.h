/* SPDX-License-Identifier: BSD-3-Clause */
/** @file passes.h
 *  What a GPU does with cells, several at a time (see cells.h), instead of the shared kernels:
 *  moves, sums, dot products and extremes. */
#ifndef META_GPU_PASSES_H
#define META_GPU_PASSES_H

#include "cells.h"

/* N elements, da apart. */
template <int N, class T>
static __device__ inline void gpu_load(T *value, const T *from, meta_i64 apart)
{
    for (int k = 0; k < N; ++k) value[k] = from[k * apart];
}

/* ------------------------------------------------------------------ moves */

/** 16 bytes, the most that a thread loads or stores at a time. */
struct alignas(16) gpu_wide {
    meta_u64 part[2];
};

template <class M> struct gpu_moved {
    M *out;
    const M *in;
    template <int N> __device__ inline void cells(meta_i64 a, meta_i64 da, meta_i64 b, meta_i64 db)
    {
        M value[N];
        gpu_load<N>(value, in + b, db);
        for (int k = 0; k < N; ++k) out[a + k * da] = value[k];
    }
};

template <class M> static __device__ inline void gpu_move_all(const meta_gpu_call *w)
{
    gpu_moved<M> take = {(M *)w->operand[0], (const M *)w->operand[1]};
    gpu_cells(w, take);
}

template <class M> static __device__ inline void gpu_move(const meta_gpu_call *w)
{
    if (w->widened) gpu_move_all<gpu_wide>(w);
    else gpu_move_all<M>(w);
}

template <class M> struct gpu_filled {
    M *out, value;
    template <int N> __device__ inline void cells(meta_i64 a, meta_i64 da, meta_i64, meta_i64)
    {
        for (int k = 0; k < N; ++k) out[a + k * da] = value;
    }
};

template <class M> static __device__ inline void gpu_fill(const meta_gpu_call *w)
{
    gpu_filled<M> take = {(M *)w->operand[0], 0};
    memcpy(&take.value, &w->scalar, sizeof take.value);
    gpu_cells(w, take);
}

/* ------------------------------------------------------------------ axpy */

template <class T, class W> struct gpu_axpied {
    T *y;
    const T *x;
    W alpha;
    template <int N> __device__ inline void cells(meta_i64 a, meta_i64 da, meta_i64 b, meta_i64 db)
    {
        T to[N], from[N];
        gpu_load<N>(to, y + a, da);
        gpu_load<N>(from, x + b, db);
        for (int k = 0; k < N; ++k) y[a + k * da] = (T)((W)to[k] + alpha * (W)from[k]);
    }
};

template <class T, class W> static __device__ inline void gpu_axpy(const meta_gpu_call *w)
{
    T alpha;
    memcpy(&alpha, &w->scalar, sizeof alpha);
    gpu_axpied<T, W> take = {(T *)w->operand[0], (const T *)w->operand[1], (W)alpha};
    gpu_cells(w, take);
}

/* ------------------------------------------------------------------ reductions */

/* Of T, added as A. */
template <class T, class A> struct gpu_summed {
    const T *in;
    A sum;
    template <int N> __device__ inline void cells(meta_i64 a, meta_i64 da, meta_i64, meta_i64)
    {
        T value[N];
        gpu_load<N>(value, in + a, da);
        for (int k = 0; k < N; ++k) sum += (A)value[k];
    }
};

template <class T, class A> struct gpu_dotted {
    const T *x, *y;
    A sum;
    template <int N> __device__ inline void cells(meta_i64 a, meta_i64 da, meta_i64 b, meta_i64 db)
    {
        T left[N], right[N];
        gpu_load<N>(left, x + a, da);
        gpu_load<N>(right, y + b, db);
        for (int k = 0; k < N; ++k) sum += (A)left[k] * (A)right[k];
    }
};

/* Combine::of is the better of two. */
template <class T, class Combine> struct gpu_best {
    const T *in;
    T best;
    template <int N> __device__ inline void cells(meta_i64 a, meta_i64 da, meta_i64, meta_i64)
    {
        T value[N];
        gpu_load<N>(value, in + a, da);
        for (int k = 0; k < N; ++k) best = Combine::of(best, value[k]);
    }
};

#endif
