/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stencil.h
 *  The stencils on a GPU, instead of the shared kernels: a thread marches along the stencil's last
 *  dimension and keeps in registers what the next cell needs again. Of 27 points, nine are loaded
 * per cell, and each plane's sum is used for three cells. The order of additions is that of
 *  arithmetic.h, so results are bitwise identical. (Register marching: P. Micikevicius, 3D finite
 *  difference computation on GPUs using CUDA, 2009.) */
#ifndef META_GPU_STENCIL_H
#define META_GPU_STENCIL_H

#include "lang_gpu.h"

/* Read what the kernel does not write: such loads may go ahead of earlier stores. */
#if defined(__CUDA_ARCH__)
#define GPU_READ(p) __ldg(p)
#else
#define GPU_READ(p) (*(p))
#endif

/* x / N for an odd N without the branches of a division: the product with the reciprocal, corrected
 * by what that times N exceeds x. The bits are those of a division, see vector_quotient_f64() in
 * backends/openmp/vector.h. */
template <class T, int N> struct gpu_quotient {
    static __device__ T of(T x)
    {
        return x / (T)N;
    }
};
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
template <int N> struct gpu_quotient<meta_f64, N> {
    static __device__ meta_f64 of(meta_f64 x)
    {
        const meta_f64 reciprocal = 1.0 / N, q = x * reciprocal, excess = fma(q, (meta_f64)N, -x);
        return excess == excess ? fma(-excess, reciprocal, q) : q;
    }
};
template <int N> struct gpu_quotient<meta_f32, N> {
    static __device__ meta_f32 of(meta_f32 x)
    {
        const meta_f32 reciprocal = 1.0f / N, q = x * reciprocal;
        const meta_f32 excess = fmaf(q, (meta_f32)N, -x);
        return excess == excess ? fmaf(-excess, reciprocal, q) : q;
    }
};
#endif

/* Each stencil provides start(c), with c at the first cell, and step(c), which returns the sum of
 * the points around c and shifts the registers by one cell. W is the type of the additions. */
template <class T, class W> struct gpu_2d5p {
    enum { POINTS = 5, ALONG = 1 };
    W before, here;
    __device__ void start(const T *c, meta_i64 sy, meta_i64)
    {
        before = (W)GPU_READ(c - sy);
        here = (W)GPU_READ(c);
    }
    __device__ W step(const T *c, meta_i64 sy, meta_i64)
    {
        const W after = (W)GPU_READ(c + sy);
        const W sum = ((((W)GPU_READ(c - 1) + before) + here) + after) + (W)GPU_READ(c + 1);
        before = here;
        here = after;
        return sum;
    }
};

template <class T, class W> struct gpu_2d9p {
    enum { POINTS = 9, ALONG = 1 };
    W before[3], here[3];
    __device__ void start(const T *c, meta_i64 sy, meta_i64)
    {
        for (int x = 0; x < 3; ++x) {
            before[x] = (W)GPU_READ(c + x - 1 - sy);
            here[x] = (W)GPU_READ(c + x - 1);
        }
    }
    __device__ W step(const T *c, meta_i64 sy, meta_i64)
    {
        W after[3], sum = before[0];
        for (int x = 0; x < 3; ++x) {
            after[x] = (W)GPU_READ(c + x - 1 + sy);
            if (x > 0) sum = sum + before[x];
            sum = (sum + here[x]) + after[x];
            before[x] = here[x];
            here[x] = after[x];
        }
        return sum;
    }
};

template <class T, class W> struct gpu_3d7p {
    enum { POINTS = 7, ALONG = 2 };
    W before, here;
    __device__ void start(const T *c, meta_i64, meta_i64 sz)
    {
        before = (W)GPU_READ(c - sz);
        here = (W)GPU_READ(c);
    }
    __device__ W step(const T *c, meta_i64 sy, meta_i64 sz)
    {
        const W after = (W)GPU_READ(c + sz);
        const W sum = (((((before + (W)GPU_READ(c - 1)) + (W)GPU_READ(c - sy)) + here) +
                        (W)GPU_READ(c + sy)) +
                       (W)GPU_READ(c + 1)) +
                      after;
        before = here;
        here = after;
        return sum;
    }
};

template <class T, class W> struct gpu_3d27p {
    enum { POINTS = 27, ALONG = 2 };
    W before, here;
    static __device__ W plane(const T *c, meta_i64 sy)
    {
        W sum = (W)GPU_READ(c - 1 - sy);
        sum = (sum + (W)GPU_READ(c - 1)) + (W)GPU_READ(c - 1 + sy);
        sum = ((sum + (W)GPU_READ(c - sy)) + (W)GPU_READ(c)) + (W)GPU_READ(c + sy);
        return ((sum + (W)GPU_READ(c + 1 - sy)) + (W)GPU_READ(c + 1)) + (W)GPU_READ(c + 1 + sy);
    }
    __device__ void start(const T *c, meta_i64 sy, meta_i64 sz)
    {
        before = plane(c - sz, sy);
        here = plane(c, sy);
    }
    __device__ W step(const T *c, meta_i64 sy, meta_i64 sz)
    {
        const W after = plane(c + sz, sy);
        const W sum = (before + here) + after;
        before = here;
        here = after;
        return sum;
    }
};

/* Before the loop of a march: the loads of two cells are in flight. */
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define GPU_TWO_CELLS _Pragma("unroll 2")
#else
#define GPU_TWO_CELLS
#endif

/* One march over @p cells cells. @return the sum of the new values; unused, it is optimised away.
 */
template <class S, class T, class A>
static __device__ inline A gpu_march(const meta_space *s, T *o, const T *c, meta_i64 cells)
{
    const meta_i64 sy = s->layout[1].stride[1], sz = s->layout[1].stride[2];
    const meta_i64 step = s->layout[1].stride[S::ALONG], out_step = s->layout[0].stride[S::ALONG];
    S points;
    A sum = 0;
    points.start(c, sy, sz);
    GPU_TWO_CELLS
    for (int k = 0; k < (int)cells; ++k, c += step, o += out_step) {
        const T average = gpu_quotient<T, S::POINTS>::of((T)points.step(c, sy, sz));
        *o = average;
        sum += (A)average;
    }
    return sum;
}

/* All marches of a thread. Lines are numbered by the coordinates of the dimensions other than the
 * columns' and the marching one, the lowest fastest, then by the piece of the marching dimension.
 */
template <class S, class T, class A> static __device__ inline A gpu_stencil(const meta_gpu_call *w)
{
    const meta_space *s = &w->space;
    const meta_u32 across = 1u << w->columns_log2, along = META_GPU_BLOCK >> w->columns_log2;
    const meta_u32 high = blockIdx.x / w->wide, wide = blockIdx.x - high * w->wide;
    const meta_i64 column = (meta_i64)wide * across + (threadIdx.x & (across - 1));
    const meta_i64 lines = s->rows / s->extent[S::ALONG] * w->pieces;
    A sum = 0;
    if (high >= w->high) return sum;
    for (meta_i64 line = (meta_i64)high * along + (threadIdx.x >> w->columns_log2); line < lines;
         line += (meta_i64)w->high * along) {
        meta_i64 rest = line, out = s->layout[0].base, in = s->layout[1].base;
        META_GPU_ROLLED
        for (int d = 1; d < (int)s->ndim; ++d) {
            if (d == S::ALONG) continue;
            const meta_i64 extent = s->extent[d];
            const meta_i64 whole =
                (rest | extent) >> 32 ? rest / extent : (meta_u32)rest / (meta_u32)extent;
            const meta_i64 coordinate = rest - whole * extent;
            rest = whole;
            out += coordinate * s->layout[0].stride[d];
            in += coordinate * s->layout[1].stride[d];
        }
        const meta_i64 first = rest * w->depth, left = s->extent[S::ALONG] - first;
        out += first * s->layout[0].stride[S::ALONG];
        in += first * s->layout[1].stride[S::ALONG];
        for (meta_i64 i = column; i < s->extent[0]; i += (meta_i64)w->wide * across)
            sum += gpu_march<S, T, A>(s, (T *)w->operand[0] + out + i,
                                      (const T *)w->operand[1] + in + i,
                                      left < w->depth ? left : w->depth);
    }
    return sum;
}

#endif
