/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_gpu.h
 *  The kernel language for CUDA and HIP. Blocks are one-dimensional with META_GPU_BLOCK threads; the
 *  arguments give how many threads of a block, and how many blocks, lie across the columns; the others
 *  cover rows. Dimension y of the grid is the index of the call in a fused launch.
 *
 *  Include it after the vendor's runtime header and before any other header of libmeta. All kernels
 *  have the same parameters, so launches are data and the kernels fit one table: META_KERNEL(copy)
 *  with META_SUFFIX u64 makes the template copy_u64<N>, for at most N calls. */
#ifndef META_LANG_GPU_H
#define META_LANG_GPU_H

#define META_INLINE static __host__ __device__ inline
#include "lang_c.h"

/** Threads per block; a power of two. */
#define META_GPU_BLOCK 256
/** The resident blocks per multiprocessor that a kernel's registers allow. */
#define META_GPU_RESIDENT 4
#if defined(__HIP_CPU_RT__)
#define META_GPU_GLOBAL static __global__
#else
#define META_GPU_GLOBAL static __global__ __launch_bounds__(META_GPU_BLOCK, META_GPU_RESIDENT)
#endif

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
/** Before a loop that is not worth the registers it takes unrolled. */
#define META_GPU_ROLLED _Pragma("unroll 1")
/** Before a loop over a thread's loads, of which several are to be in flight. */
#define META_GPU_UNROLLED _Pragma("unroll 16")
#else
#define META_GPU_ROLLED
#define META_GPU_UNROLLED
#endif

/** The arguments of one call: the operands' addresses, the bits of the element passed by value, the
 *  iteration space, and how it is mapped to the grid: 2^columns_log2 threads of a block and `wide`
 *  blocks lie across the columns, `high` blocks across the rows; a thread takes `depth` consecutive
 *  rows. */
typedef struct meta_gpu_call {
    void *operand[META_SPACE_OPERANDS];
    meta_u64 scalar;
    meta_space space;
    meta_u32 columns_log2, wide, high, depth, pieces; /* pieces: for stencils, see stencil.h */
    meta_u32 widened; /* the space counts elements of 16 bytes, see passes.h */
} meta_gpu_call;

/** The arguments of a launch, passed by value. */
template <int N> struct meta_gpu_calls {
    meta_gpu_call call[N];
};

/* How a kernel declares arguments that it indexes: so that they are not copied to local memory. */
#if defined(__CUDACC__)
#define META_GPU_ARGUMENTS(N) const __grid_constant__ meta_gpu_calls<N>
#define META_GPU_POINTED(N)   const meta_gpu_calls<N>
#elif defined(__HIP_CPU_RT__) /* too large for the stack of an emulated thread */
#define META_GPU_ARGUMENTS(N) const meta_gpu_calls<N> &
#define META_GPU_POINTED(N)   const meta_gpu_calls<N> &
#else
#define META_GPU_ARGUMENTS(N) const meta_gpu_calls<N>
#define META_GPU_POINTED(N)   const meta_gpu_calls<N>
#endif
/** A kernel for at most N calls; each block of a reduction writes a partial result to @p partials. */
template <int N> struct meta_gpu_kernel {
    typedef void type(META_GPU_POINTED(N), void *partials);
};

/** A row: the index of its column 0 in each operand, its number, its coordinate in dimension 1, and how
 *  many rows the thread has left, including this one. */
typedef struct meta_gpu_row {
    meta_i64 at[META_SPACE_OPERANDS], number, y;
    meta_u32 left;
} meta_gpu_row;

META_INLINE meta_gpu_row meta_gpu_row_of(const meta_space *s, meta_i64 number, meta_u32 left)
{
    meta_gpu_row r;
    r.number = number;
    r.y = 0;
    r.left = number < s->rows ? left : 0;
    for (int k = 0; k < META_SPACE_OPERANDS; ++k) r.at[k] = s->layout[k].base;
    META_GPU_ROLLED
    for (int d = 1; d < (int)s->ndim; ++d) {
        const meta_i64 extent = s->extent[d];
        /* A 32-bit division takes a fraction of the time of a 64-bit one. */
        const meta_i64 whole = (number | extent) >> 32 ? number / extent
                                                       : (meta_u32)number / (meta_u32)extent;
        for (int k = 0; k < META_SPACE_OPERANDS; ++k)
            r.at[k] += (number - whole * extent) * s->layout[k].stride[d];
        if (d == 1) r.y = number - whole * extent;
        number = whole;
    }
    return r;
}

/* Divides only at the end of dimension 1. */
META_INLINE void meta_gpu_row_next(const meta_space *s, meta_gpu_row *r)
{
    if (--r->left == 0) return;
    if (++r->y < s->extent[1] && s->ndim > 1) {
        ++r->number;
        for (int k = 0; k < META_SPACE_OPERANDS; ++k) r->at[k] += s->layout[k].stride[1];
    } else {
        *r = meta_gpu_row_of(s, r->number + 1, r->left);
    }
}

#undef META_JOIN_
#undef META_JOIN
#undef META_KERNEL
#undef META_SPACE
#undef META_OUT
#undef META_IN
#undef META_SCALAR
#undef META_ROWS
#undef META_COLUMNS
#undef META_SIMD
#undef META_SIMD_SUM
#undef META_REDUCE

#define META_JOIN_(a, b) a##b
#define META_JOIN(a, b)  META_JOIN_(a, b)
/* The name is pasted before macro expansion, as in lang_opencl_body.h. */
#define META_KERNEL(name)                                                              \
    static __device__ inline void META_JOIN(name##_body_, META_SUFFIX)(                \
        const meta_gpu_call *w, void *partials);                                       \
    template <int N> META_GPU_GLOBAL void META_JOIN(name##_, META_SUFFIX)(            \
        META_GPU_ARGUMENTS(N) calls, void *partials)                                   \
    {                                                                                  \
        META_JOIN(name##_body_, META_SUFFIX)(&calls.call[blockIdx.y], partials);       \
    }                                                                                  \
    static __device__ inline void META_JOIN(name##_body_, META_SUFFIX)(                \
        const meta_gpu_call *w, void *partials)
#define META_SPACE                     \
    const meta_space *s = &w->space;   \
    (void)partials
#define META_OUT(T, name, k) T *name = (T *)w->operand[k]
#define META_IN(T, name, k)  const T *name = (const T *)w->operand[k]
#define META_SCALAR(T, name) \
    T name;                  \
    memcpy(&name, &w->scalar, sizeof name)
#define META_ROWS(r)                                                                             \
    const meta_u32 across_ = 1u << w->columns_log2, along_ = META_GPU_BLOCK >> w->columns_log2,  \
                   thread_ = threadIdx.x, high_ = blockIdx.x / w->wide,                          \
                   wide_ = blockIdx.x - high_ * w->wide;                                         \
    const meta_i64 columns_from_ = (meta_i64)wide_ * across_ + (thread_ & (across_ - 1)),        \
                   columns_step_ = (meta_i64)w->wide * across_,                                  \
                   rows_step_ = (meta_i64)w->high * along_ * w->depth;                           \
    /* A fused launch has as many blocks as its largest call needs. */                                 \
    for (meta_i64 row_ = high_ < w->high                                                         \
                             ? ((meta_i64)high_ * along_ + (thread_ >> w->columns_log2)) * w->depth \
                             : s->rows;                                                          \
         row_ < s->rows; row_ += rows_step_)                                                     \
        for (meta_gpu_row r = meta_gpu_row_of(s, row_, w->depth); r.left > 0;                    \
             meta_gpu_row_next(s, &r))
#define META_COLUMNS(i) \
    for (meta_i64 i = columns_from_; i < s->extent[0]; i += columns_step_)
#define META_SIMD
/* Unrolled, so that a thread has several loads in flight. */
#if defined(__HIP_CPU_RT__)
#define META_SIMD_SUM(x)
#else
#define META_SIMD_SUM(x) _Pragma("unroll 4")
#endif
/* A tree reduction over the block's threads: the order of combining is the same in every run. */
#define META_REDUCE(A, accumulator, COMBINE)                                       \
    do {                                                                           \
        __shared__ A tree_[META_GPU_BLOCK];                                        \
        const meta_u32 me_ = threadIdx.x;                                          \
        tree_[me_] = accumulator;                                                  \
        __syncthreads();                                                           \
        for (meta_u32 half_ = META_GPU_BLOCK / 2; half_ > 0; half_ /= 2) {         \
            if (me_ < half_) tree_[me_] = COMBINE(tree_[me_], tree_[me_ + half_]); \
            __syncthreads();                                                       \
        }                                                                          \
        if (me_ == 0) ((A *)partials)[blockIdx.x] = tree_[0];                      \
    } while (0)

#undef META_EXACT_PARTIAL
#define META_EXACT_PARTIAL      ((meta_i64 *)partials + META_EXACT_WORDS * (size_t)blockIdx.x)
#define META_EXACT_FUNCTION     static __device__ inline
#define META_LOCAL
#define META_EXACT_MEMORY(name) __shared__ meta_u32 name[META_EXACT_SHARED]
#define META_ATOMIC_ADD(p, x)   atomicAdd(p, x)
#define META_BARRIER            __syncthreads()
#define META_THREAD             threadIdx.x
#define META_THREADS            META_GPU_BLOCK

#endif
