/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.cu
 *  The shared kernels compiled for the GPU, once per element type; the kernels that combine the
 *  partial results of reductions; and the table of all of them. */
#include "gpurt.h"

#include "lang_gpu.h"

#define META_OWN_EXTREMES
#include "extremes.h"
#include "kernels.h"
#include "meta_extreme.h"
#include "passes.h"
#include "stencil.h"

#include <cmath>

/* ------------------------------------------------------------------ move kernels, by size */

#define MOVE_KERNEL(name, M)                                                                       \
    META_KERNEL(name)                                                                              \
    {                                                                                              \
        (void)partials;                                                                            \
        gpu_move<M>(w);                                                                            \
    }
#define MOVE_KERNELS(M)                                                                            \
    MOVE_KERNEL(copy, M)                                                                           \
    MOVE_KERNEL(pack, M)                                                                           \
    MOVE_KERNEL(unpack, M)                                                                         \
    MOVE_KERNEL(transpose, M)                                                                      \
    META_KERNEL(fill)                                                                              \
    {                                                                                              \
        (void)partials;                                                                            \
        gpu_fill<M>(w);                                                                            \
    }

#define META_SUFFIX u64
MOVE_KERNELS(meta_u64)
#undef META_SUFFIX
#define META_SUFFIX u32
MOVE_KERNELS(meta_u32)
#undef META_SUFFIX
#define META_SUFFIX u16
MOVE_KERNELS(meta_u16)
#undef META_SUFFIX
#define META_SUFFIX u8
MOVE_KERNELS(meta_u8)
#undef META_SUFFIX

/* ------------------------------------------------------------------ combining partial results */

/* As META_CANONICAL. */
template <class T> static __device__ inline void make_canonical(T *x)
{
    const meta_u64 nan = sizeof(T) == 8 ? (meta_u64)0x7ff8 << 48 : (meta_u64)0x7fc00000;
    if (*x == 0) *x = 0;
    if (*x != *x) memcpy(x, &nan, sizeof *x);
}

struct combine_sum {
    static constexpr bool adds = true;
    template <class A> static __device__ A of(A x, A y)
    {
        return x + y;
    }
};
struct combine_min {
    static constexpr bool adds = false;
    template <class A> static __device__ A of(A x, A y)
    {
        return x != x || x < y ? x : y;
    }
};
struct combine_max {
    static constexpr bool adds = false;
    template <class A> static __device__ A of(A x, A y)
    {
        return x != x || x > y ? x : y;
    }
};

#define COMBINE(x, y) Combine::of(x, y)

/* Launched with one block, as a tree reduction: the shared kernels' loop on a single thread would
 * often take longer than the reduction itself. Operand 0 holds the partial results; layout 1's base
 * is the index of the result in operand 1. */
template <class T, class A, class Combine>
static __device__ inline void finish(const meta_gpu_call *w, A value)
{
    const A *partial = (const A *)w->operand[0];
    A whole;
    void *partials = &whole;
    for (meta_i64 k = threadIdx.x; k < w->space.extent[0]; k += META_GPU_BLOCK)
        value = Combine::of(value, partial[k]);
    META_REDUCE(A, value, COMBINE);
    if (threadIdx.x != 0) return;
    T result = (T)whole;
    if (!Combine::adds) make_canonical(&result);
    ((T *)w->operand[1])[w->space.layout[1].base] = result;
}

/* An extreme and the number of its cell, -1 for none. */
template <class T> struct partial_extreme {
    T value;
    meta_i64 number;
};
struct first_lowest {
    template <class A> static __device__ A of(const A &a, const A &b)
    {
        return META_K_LOWEST_AT(a, b);
    }
};
struct first_highest {
    template <class A> static __device__ A of(const A &a, const A &b)
    {
        return META_K_HIGHEST_AT(a, b);
    }
};

/* The same for an extreme with its place, see extremes.h. */
template <class T, class Combine>
static __device__ inline void finish_at(const meta_gpu_call *w, T none)
{
    typedef partial_extreme<T> extreme;
    const extreme *partial = (const extreme *)w->operand[0];
    meta_i64 *result = (meta_i64 *)w->operand[1] + w->space.layout[1].base;
    extreme value = {none, -1}, whole;
    void *partials = &whole;
    for (meta_i64 k = threadIdx.x; k < (meta_i64)w->scalar; k += META_GPU_BLOCK)
        value = Combine::of(value, partial[k]);
    META_REDUCE(extreme, value, COMBINE);
    if (threadIdx.x != 0) return;
    make_canonical(&whole.value);
    *(T *)result = whole.value;
    meta_extreme_index(&w->space, whole.number, result + 1);
}

/* Used instead of the shared finish_sum, finish_min, finish_max, finish_min_at and finish_max_at.
 */
#define FINISH(T, A, LOWEST, HIGHEST)                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_finish_sum_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls,      \
                                                                 void *)                           \
    {                                                                                              \
        finish<T, A, combine_sum>(&calls.call[0], (A)0);                                           \
    }                                                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_finish_min_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls,      \
                                                                 void *)                           \
    {                                                                                              \
        finish<T, T, combine_min>(&calls.call[0], HIGHEST);                                        \
    }                                                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_finish_max_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls,      \
                                                                 void *)                           \
    {                                                                                              \
        finish<T, T, combine_max>(&calls.call[0], LOWEST);                                         \
    }                                                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_finish_min_at_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls,   \
                                                                    void *)                        \
    {                                                                                              \
        finish_at<T, first_lowest>(&calls.call[0], HIGHEST);                                       \
    }                                                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_finish_max_at_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls,   \
                                                                    void *)                        \
    {                                                                                              \
        finish_at<T, first_highest>(&calls.call[0], LOWEST);                                       \
    }

/* ------------------------------------------------------------------ stencils */

/* Used instead of the shared stencils. */
#define META_OWN_STENCILS
#define PLUS(x, y) ((x) + (y))
#define STENCIL(T, W, A, points)                                                                   \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(stencil_##points##_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls,  \
                                                                     void *)                       \
    {                                                                                              \
        gpu_stencil<gpu_##points<T, W>, T, A>(&calls.call[0]);                                     \
    }                                                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(stencil_##points##_sum_,                                        \
                                   META_SUFFIX)(META_GPU_ARGUMENTS(N) calls, void *partials)       \
    {                                                                                              \
        const A sum = gpu_stencil<gpu_##points<T, W>, T, A>(&calls.call[0]);                       \
        META_REDUCE(A, sum, PLUS);                                                                 \
    }

/* ------------------------------------------------------------------ passes over cells */

/* Used instead of the shared axpy, sums, dot products and extremes. */
#define META_OWN_PASSES
#define META_OWN_MINIMA
#define PASSES(T, W, A, LOWEST, HIGHEST)                                                           \
    META_KERNEL(axpy)                                                                              \
    {                                                                                              \
        (void)partials;                                                                            \
        gpu_axpy<T, W>(w);                                                                         \
    }                                                                                              \
    META_KERNEL(reduce_sum)                                                                        \
    {                                                                                              \
        gpu_summed<T, A> take = {(const T *)w->operand[0], 0};                                     \
        gpu_cells(w, take);                                                                        \
        META_REDUCE(A, take.sum, PLUS);                                                            \
    }                                                                                              \
    META_KERNEL(dot)                                                                               \
    {                                                                                              \
        gpu_dotted<T, A> take = {(const T *)w->operand[0], (const T *)w->operand[1], 0};           \
        gpu_cells(w, take);                                                                        \
        META_REDUCE(A, take.sum, PLUS);                                                            \
    }                                                                                              \
    META_KERNEL(reduce_min)                                                                        \
    {                                                                                              \
        gpu_best<T, combine_min> take = {(const T *)w->operand[0], HIGHEST};                       \
        gpu_cells(w, take);                                                                        \
        META_REDUCE(T, take.best, combine_min::of);                                                \
    }                                                                                              \
    META_KERNEL(reduce_max)                                                                        \
    {                                                                                              \
        gpu_best<T, combine_max> take = {(const T *)w->operand[0], LOWEST};                        \
        gpu_cells(w, take);                                                                        \
        META_REDUCE(T, take.best, combine_max::of);                                                \
    }

/* ------------------------------------------------------------------ arithmetic kernels, by type */

#define META_SUFFIX  f64
#define META_T       meta_f64
#define META_W       meta_f64
#define META_A       meta_f64
#define META_LOWEST  (-(meta_f64)INFINITY)
#define META_HIGHEST ((meta_f64)INFINITY)
#include "gpu_type.h"
#define META_SUFFIX  f32
#define META_T       meta_f32
#define META_W       meta_f32
#define META_A       meta_f64
#define META_LOWEST  (-(meta_f32)INFINITY)
#define META_HIGHEST ((meta_f32)INFINITY)
#include "gpu_type.h"
#define META_SUFFIX  i64
#define META_T       meta_i64
#define META_W       meta_u64
#define META_A       meta_u64
#define META_LOWEST  INT64_MIN
#define META_HIGHEST INT64_MAX
#include "gpu_type.h"
#define META_SUFFIX  u64
#define META_T       meta_u64
#define META_W       meta_u64
#define META_A       meta_u64
#define META_LOWEST  0
#define META_HIGHEST UINT64_MAX
#include "gpu_type.h"
#define META_SUFFIX  i32
#define META_T       meta_i32
#define META_W       meta_u32
#define META_A       meta_u32
#define META_LOWEST  INT32_MIN
#define META_HIGHEST INT32_MAX
#include "gpu_type.h"
#define META_SUFFIX  u32
#define META_T       meta_u32
#define META_W       meta_u32
#define META_A       meta_u32
#define META_LOWEST  0
#define META_HIGHEST UINT32_MAX
#include "gpu_type.h"

/* ------------------------------------------------------------------ exact sums */

#include "exact.h"

#include "exact_threads.h"

/* Launched with one block, instead of the shared finish_exact: each thread accumulates two words
 * over every GROUPS-th partial result, with several loads in flight; then the groups are added, and
 * one thread propagates the carries. */
static __device__ inline void finish_exact(const meta_gpu_call *w, int bytes)
{
    enum { HALF = META_EXACT_WORDS / 2, GROUPS = META_GPU_BLOCK / HALF };
    static_assert(META_EXACT_WORDS % 2 == 0, "a thread takes a word of each half");
    __shared__ meta_i64 part[GROUPS][META_EXACT_WORDS];
    const meta_i64 *partial = (const meta_i64 *)w->operand[0];
    meta_i64 *result = (meta_i64 *)w->operand[1] + w->space.layout[1].base;
    const int me = (int)threadIdx.x, group = me / HALF, k = me % HALF;
    meta_i64 low = 0, high = 0;
    META_GPU_UNROLLED
    for (int n = group; n < (int)w->space.extent[0]; n += GROUPS) {
        low += partial[n * META_EXACT_WORDS + k];
        high += partial[n * META_EXACT_WORDS + k + HALF];
    }
    if (group < GROUPS) {
        part[group][k] = low;
        part[group][k + HALF] = high;
    }
    __syncthreads();
    if (me < META_EXACT_WORDS)
        for (int g = 1; g < GROUPS; ++g) part[0][me] += part[g][me];
    __syncthreads();
    if (me == 0) {
        meta_exact_carry(part[0]);
        result[META_EXACT_WORDS] = (meta_i64)meta_exact_round(part[0], bytes);
    }
    __syncthreads();
    if (me < META_EXACT_WORDS) result[me] = part[0][me];
}

#define FINISH_EXACT(type)                                                                         \
    template <int N>                                                                               \
    META_GPU_GLOBAL void gpu_finish_exact_##type(META_GPU_ARGUMENTS(N) calls, void *)              \
    {                                                                                              \
        finish_exact(&calls.call[0], (int)sizeof(meta_##type));                                    \
    }
FINISH_EXACT(f64)
FINISH_EXACT(f32)

#define META_SUFFIX f64
#define META_T      meta_f64
#include "exact_sum.h"
#define META_SUFFIX f32
#define META_T      meta_f32
#include "exact_sum.h"

/* ------------------------------------------------------------------ the table */

/* A row per kernel, in the order of the kernel numbers; a column per element type, in the order of
 * meta_type. What a family has no kernel for stays zero. */
#define MOVE_OF(name, type)                                                                        \
    {                                                                                              \
        name##_##type<1>, name##_##type<GPU_MAX_CALLS>, nullptr                                    \
    }
#define MAP_OF(name, type)                                                                         \
    {                                                                                              \
        name##_##type<1>, nullptr, nullptr                                                         \
    }
#define REDUCTION_OF(name, to, type)                                                               \
    {                                                                                              \
        name##_##type<1>, nullptr, gpu_finish_##to##_##type<1>                                     \
    }

#define MOVE(name, to)                                                                             \
    {                                                                                              \
        MOVE_OF(name, u64), MOVE_OF(name, u32), MOVE_OF(name, u64), MOVE_OF(name, u64),            \
            MOVE_OF(name, u32), MOVE_OF(name, u32), MOVE_OF(name, u16), MOVE_OF(name, u16),        \
            MOVE_OF(name, u8), MOVE_OF(name, u8)                                                   \
    }
#define MAP(name, to)                                                                              \
    {                                                                                              \
        MAP_OF(name, f64), MAP_OF(name, f32), MAP_OF(name, i64), MAP_OF(name, u64),                \
            MAP_OF(name, i32), MAP_OF(name, u32)                                                   \
    }
#define REDUCTION(name, to)                                                                        \
    {                                                                                              \
        REDUCTION_OF(name, to, f64), REDUCTION_OF(name, to, f32), REDUCTION_OF(name, to, i64),     \
            REDUCTION_OF(name, to, u64), REDUCTION_OF(name, to, i32), REDUCTION_OF(name, to, u32)  \
    }
#define EXACT(name, to)                                                                            \
    {                                                                                              \
        REDUCTION_OF(name, to, f64), REDUCTION_OF(name, to, f32)                                   \
    }
static_assert(META_F64 == 0 && META_F32 == 1 && META_I64 == 2 && META_U64 == 3 && META_I32 == 4 &&
                  META_U32 == 5 && META_I16 == 6 && META_U16 == 7 && META_I8 == 8 && META_U8 == 9 &&
                  META_TYPE_COUNT == 10,
              "the columns are in the order of meta_type");

#define ROW(number, NAME, name, FAMILY, access0, access1, reach, values, result)                   \
    FAMILY(name, result),
static const gpu_kernel table[META_KERNEL_COUNT][META_TYPE_COUNT] = {META_KERNELS(ROW)};
#undef ROW

#define ROW(number, NAME, ...) PLACE_##NAME,
enum { META_KERNELS(ROW) };
#undef ROW
#define ROW(number, NAME, ...) static_assert((number) == PLACE_##NAME, "rows are in order");
META_KERNELS(ROW)
#undef ROW

static_assert(sizeof(meta_gpu_calls<GPU_MAX_CALLS>) + sizeof(void *) <= 4096,
              "kernel arguments fit in 4 KiB, which every device accepts");

const gpu_kernel *gpu_kernel_of(uint32_t number, uint32_t type)
{
    if (number >= META_KERNEL_COUNT || type >= META_TYPE_COUNT || !table[number][type].one)
        return nullptr;
    return &table[number][type];
}

/* By meta_type; only of kernels of the program's. */
#define PLACES(to)                                                                                 \
    {                                                                                              \
        gpu_finish_##to##_f64<1>, gpu_finish_##to##_f32<1>, gpu_finish_##to##_i64<1>,              \
            gpu_finish_##to##_u64<1>, gpu_finish_##to##_i32<1>, gpu_finish_##to##_u32<1>           \
    }

/* At file scope: clang 15 does not emit the kernels that a function's table names. */
static meta_gpu_kernel<1>::type *const places[2][META_U32 + 1] = {PLACES(min_at), PLACES(max_at)};

meta_gpu_kernel<1>::type *gpu_finish_of(uint32_t combine, uint32_t type)
{
    if (meta_has_place(combine))
        return type <= META_U32 ? places[combine == META_COMBINE_max_at][type] : nullptr;
    const gpu_kernel *reduction = gpu_kernel_of(meta_reduction_of(combine), type);
    return reduction ? reduction->finish : nullptr;
}
