/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.cu
 *  The shared kernels, compiled for the GPU once for each type, the kernels that combine partial
 *  results, and the table of them all. */
#include "gpurt.h"

#include "lang_gpu.h"

#include "kernels.h"

#include "stencil.h"

#include <cmath>

/* ------------------------------------------------------------------ moving, by element size */

#define META_SUFFIX u64
#define META_M      meta_u64
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u32
#define META_M      meta_u32
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u16
#define META_M      meta_u16
#include "move.h"
#undef META_SUFFIX
#undef META_M
#define META_SUFFIX u8
#define META_M      meta_u8
#include "move.h"
#undef META_SUFFIX
#undef META_M

/* ------------------------------------------------------------------ combining partial results */

/* As META_CANONICAL of arithmetic.h. */
template <class T> static __device__ inline void make_canonical(T *x)
{
    const meta_u64 nan = sizeof(T) == 8 ? (meta_u64)0x7ff8 << 48 : (meta_u64)0x7fc00000;
    if (*x == 0) *x = 0;
    if (*x != *x) memcpy(x, &nan, sizeof *x);
}

struct sum {
    static constexpr bool adds = true;
    template <class A> static __device__ A of(A x, A y)
    {
        return x + y;
    }
};
struct least {
    static constexpr bool adds = false;
    template <class A> static __device__ A of(A x, A y)
    {
        return x != x || x < y ? x : y;
    }
};
struct greatest {
    static constexpr bool adds = false;
    template <class A> static __device__ A of(A x, A y)
    {
        return x != x || x > y ? x : y;
    }
};

#define COMBINE(x, y) Combine::of(x, y)

/* One block. The shared kernels' own way, one thread for all, would take longer than many a
 * reduction. Operand 0 has the partial results, base[1] of operand 1 is the result's place. */
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

/* In place of the shared kernels of these names, which are left unused. */
#define FINISH(T, A, LOWEST, HIGHEST)                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_sum_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls, void *)     \
    {                                                                                              \
        finish<T, A, sum>(&calls.call[0], (A)0);                                                   \
    }                                                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_least_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls, void *)   \
    {                                                                                              \
        finish<T, T, least>(&calls.call[0], HIGHEST);                                              \
    }                                                                                              \
    template <int N>                                                                               \
    META_GPU_GLOBAL void META_JOIN(gpu_greatest_, META_SUFFIX)(META_GPU_ARGUMENTS(N) calls,        \
                                                               void *)                             \
    {                                                                                              \
        finish<T, T, greatest>(&calls.call[0], LOWEST);                                            \
    }

/* ------------------------------------------------------------------ stencils */

/* In place of the shared kernels. */
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

static int along_of(uint32_t kernel)
{
    switch (kernel) {
    case META_KERNEL_STENCIL_2D5P:
    case META_KERNEL_STENCIL_2D5P_SUM:
    case META_KERNEL_STENCIL_2D9P:
    case META_KERNEL_STENCIL_2D9P_SUM:
        return 1;
    case META_KERNEL_STENCIL_3D7P:
    case META_KERNEL_STENCIL_3D7P_SUM:
    case META_KERNEL_STENCIL_3D27P:
    case META_KERNEL_STENCIL_3D27P_SUM:
        return 2;
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ arithmetic, by type */

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

/* One block, in place of the shared kernel: threads add up a word each, GROUPS of them the same
 * one, then one thread makes the carries. */
static __device__ inline void finish_exact(const meta_gpu_call *w, int bytes)
{
    enum { GROUPS = META_GPU_BLOCK / META_EXACT_WORDS };
    __shared__ meta_i64 part[GROUPS][META_EXACT_WORDS];
    const meta_i64 *partial = (const meta_i64 *)w->operand[0];
    meta_i64 *result = (meta_i64 *)w->operand[1] + w->space.layout[1].base;
    const int group = (int)threadIdx.x / META_EXACT_WORDS, k = (int)threadIdx.x % META_EXACT_WORDS;
    meta_i64 word = 0;
    for (meta_i64 n = group; n < w->space.extent[0] && group < GROUPS; n += GROUPS)
        word += partial[n * META_EXACT_WORDS + k];
    if (group < GROUPS) part[group][k] = word;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int g = 1; g < GROUPS; ++g)
        for (int j = 0; j < META_EXACT_WORDS; ++j) part[0][j] += part[g][j];
    meta_exact_carry(part[0]);
    for (int j = 0; j < META_EXACT_WORDS; ++j) result[j] = part[0][j];
    result[META_EXACT_WORDS] = (meta_i64)meta_exact_round(part[0], bytes);
}

#define FINISH_EXACT(type)                                                                         \
    template <int N> META_GPU_GLOBAL void gpu_exact_##type(META_GPU_ARGUMENTS(N) calls, void *)    \
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

/* ------------------------------------------------------------------ tables */

/* By element size: 8, 4, 2, 1 bytes. */
#define ONE_MOVE(kernel)                                                                           \
    {                                                                                              \
        kernel<1>, kernel<GPU_MAX_CALLS>, nullptr, 0, 0                                            \
    }
#define ROW(NAME, name, operands)                                                                  \
    {ONE_MOVE(name##_u64), ONE_MOVE(name##_u32), ONE_MOVE(name##_u16), ONE_MOVE(name##_u8)},
static const gpu_kernel moving[][4] = {META_MOVE_KERNELS(ROW)};
#undef ROW

static int size_class(uint32_t type)
{
    switch (type) {
    case META_F64:
    case META_I64:
    case META_U64:
        return 0;
    case META_F32:
    case META_I32:
    case META_U32:
        return 1;
    case META_I16:
    case META_U16:
        return 2;
    default:
        return 3;
    }
}

enum { FIRST_COMPUTING = META_KERNEL_AXPY, ARITHMETIC_TYPES = META_I16 };

#define MAP(name, type)                                                                            \
    {                                                                                              \
        name##_##type<1>, nullptr, nullptr, 0, 0                                                   \
    }
#define ROW(NAME, name, operands)                                                                  \
    {MAP(name, f64), MAP(name, f32), MAP(name, i64),                                               \
     MAP(name, u64), MAP(name, i32), MAP(name, u32)},
#define gpu_finish_sum(type) gpu_sum_##type<1>
#define gpu_finish_min(type) gpu_least_##type<1>
#define gpu_finish_max(type) gpu_greatest_##type<1>
#define REDUCTION(name, finish, type)                                                              \
    {                                                                                              \
        name##_##type<1>, nullptr, gpu_##finish(type), 0, 0                                        \
    }
#define REDUCTION_ROW(NAME, name, operands, finish)                                                \
    {REDUCTION(name, finish, f64), REDUCTION(name, finish, f32), REDUCTION(name, finish, i64),     \
     REDUCTION(name, finish, u64), REDUCTION(name, finish, i32), REDUCTION(name, finish, u32)},
#define gpu_finish_exact(type) gpu_exact_##type<1>
#define EXACT_ROW(NAME, name, operands, finish)                                                    \
    {REDUCTION(name, finish, f64), REDUCTION(name, finish, f32)},
static const gpu_kernel computing[][ARITHMETIC_TYPES] = {
    META_MAP_KERNELS(ROW) META_REDUCTION_KERNELS(REDUCTION_ROW) META_EXACT_KERNELS(EXACT_ROW)};

/* The columns of `computing` are written in the order of the types, its rows in that of kernels. */
static_assert(META_F64 == 0 && META_F32 == 1 && META_I64 == 2 && META_U64 == 3 && META_I32 == 4 &&
                  META_U32 == 5 && ARITHMETIC_TYPES == 6,
              "the order of the arithmetic types");
static_assert(sizeof computing / sizeof *computing == META_KERNEL_COUNT - FIRST_COMPUTING &&
                  sizeof moving / sizeof *moving == FIRST_COMPUTING,
              "a row for each kernel");
static_assert(sizeof(meta_gpu_calls<GPU_MAX_CALLS>) + sizeof(void *) <= 4096,
              "the arguments fit in what every device takes");

gpu_kernel gpu_kernel_of(uint32_t kernel, uint32_t type)
{
    gpu_kernel found = {nullptr, nullptr, nullptr, 0, 0};
    if (type >= META_TYPE_COUNT || kernel >= META_KERNEL_COUNT) return found;
    if (kernel < FIRST_COMPUTING) return moving[kernel][size_class(type)];
    if (type < ARITHMETIC_TYPES) found = computing[kernel - FIRST_COMPUTING][type];
    found.along = along_of(kernel);
    found.exact = meta_kernel_is_exact(kernel);
    return found;
}
