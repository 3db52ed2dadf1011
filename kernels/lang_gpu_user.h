/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_gpu_user.h
 *  The language of a program's kernels, see meta_kernel.h, for the compilers that CUDA and HIP have
 * at run time, which are C++ compilers and read no system header. Threads are mapped to cells as in
 *  lang_gpu.h. With META_USER_HOST, for a compiler of the CPU, which emulates a GPU for tests: a
 * block is a call of a function, which loops over the block's threads.
 *
 *  Before it are defined META_SPACE_OPERANDS; META_USER_WORDS, the words of values; META_USER_ITEMS,
 * the threads of a block, for a kernel of teams;
 * META_USER_SUFFIX, the name of the element type; META_USER_FLOATING or META_USER_UNSIGNED where it
 * is one; META_USER_IN_MEMORY where the arguments are too large to be passed by value; and
 *  META_USER_REPRODUCIBLE where floating-point sums are exact. The text
 * that the core generates follows in namespace meta_user, and after that META_USER_ENTRY, which
 * calls it. */
#ifndef META_LANG_GPU_USER_H
#define META_LANG_GPU_USER_H

#ifdef META_USER_HOST
#include <math.h>
#define META_FUNCTION static inline __attribute__((unused))
#define META_USER_ROLLED
#else
#define META_FUNCTION static __device__ inline
/** Before a loop that is not worth the registers it takes unrolled. */
#define META_USER_ROLLED _Pragma("unroll 1")
#endif
#define META_INLINE META_FUNCTION

typedef long meta_i64;
typedef unsigned long meta_u64;
typedef int meta_i32;
typedef unsigned int meta_u32;
typedef double meta_f64;
typedef float meta_f32;

#include "meta_types.h"

#include "meta_space.h"

#include "meta_kernel_body.h"

#include "meta_extreme.h"

/* In the namespace of the kernels, where the compiler's own types of these names are hidden. */
namespace meta_user
{
typedef meta_i64 int64_t;
typedef meta_u64 uint64_t;
typedef meta_i32 int32_t;
typedef meta_u32 uint32_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
} // namespace meta_user

/* ------------------------------------------------------------------ words of a kernel's body */

#define META_GLOBAL
#define META_RESTRICT    __restrict__
#define META_JOIN3(a, b) a##_##b
#define META_JOIN4(a, b) META_JOIN3(a, b)
#define FN(name)         META_JOIN4(name, META_USER_SUFFIX)
#define SQRT(x)          sqrt((T)(x))
#if defined META_USER_FLOATING
#define ABS(x) fabs((T)(x))
#elif defined META_USER_UNSIGNED
#define ABS(x) ((T)(x))
#else
#define ABS(x) ((T)(x) < 0 ? -(T)(x) : (T)(x))
#endif

/* What <math.h> and <stdint.h> define, where no header has. */
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fc00000)
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef INT64_MAX
#define INT64_MIN  (-0x7fffffffffffffffL - 1)
#define INT64_MAX  0x7fffffffffffffffL
#define UINT64_MAX 0xffffffffffffffffUL
#define INT32_MIN  (-0x7fffffff - 1)
#define INT32_MAX  0x7fffffff
#define UINT32_MAX 0xffffffffU
#endif

#define META_MOST_f64  ((meta_f64)INFINITY)
#define META_MOST_f32  ((meta_f32)INFINITY)
#define META_MOST_i64  INT64_MAX
#define META_MOST_u64  UINT64_MAX
#define META_MOST_i32  INT32_MAX
#define META_MOST_u32  UINT32_MAX
#define META_LEAST_f64 (-(meta_f64)INFINITY)
#define META_LEAST_f32 (-(meta_f32)INFINITY)
#define META_LEAST_i64 INT64_MIN
#define META_LEAST_u64 0
#define META_LEAST_i32 INT32_MIN
#define META_LEAST_u32 0

/* ------------------------------------------------------------------ ADD arrays */

template <typename meta_k> struct meta_added_of {
    meta_k meta_added;
};
typedef meta_added_of<meta_f64> meta_added_f64;
typedef meta_added_of<meta_f32> meta_added_f32;
typedef meta_added_of<meta_i64> meta_added_i64;
typedef meta_added_of<meta_u64> meta_added_u64;
typedef meta_added_of<meta_i32> meta_added_i32;
typedef meta_added_of<meta_u32> meta_added_u32;

#ifdef META_USER_HOST /* blocks run on several threads */
template <typename meta_k> META_FUNCTION void meta_add_float(meta_k *to, meta_k x)
{
    meta_k was, sum;
    __atomic_load(to, &was, __ATOMIC_RELAXED);
    do sum = was + x;
    while (!__atomic_compare_exchange(to, &was, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
META_FUNCTION void meta_add_to(meta_f64 *to, meta_f64 x)
{
    meta_add_float(to, x);
}
META_FUNCTION void meta_add_to(meta_f32 *to, meta_f32 x)
{
    meta_add_float(to, x);
}
META_FUNCTION void meta_add_to(meta_u64 *to, meta_u64 x)
{
    __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
META_FUNCTION void meta_add_to(meta_u32 *to, meta_u32 x)
{
    __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
#else
META_FUNCTION void meta_add_to(meta_f64 *to, meta_f64 x)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 600 /* which has no such instruction */
    unsigned long long *bits = (unsigned long long *)to, was, seen = *bits;
    do {
        was = seen;
        seen = atomicCAS(bits, was,
                         (unsigned long long)__double_as_longlong(
                             __longlong_as_double((long long)was) + x));
    } while (seen != was);
#else
    atomicAdd(to, x);
#endif
}
META_FUNCTION void meta_add_to(meta_f32 *to, meta_f32 x)
{
    atomicAdd(to, x);
}
META_FUNCTION void meta_add_to(meta_u64 *to, meta_u64 x)
{
    atomicAdd((unsigned long long *)to, (unsigned long long)x);
}
META_FUNCTION void meta_add_to(meta_u32 *to, meta_u32 x)
{
    atomicAdd(to, x);
}
#endif
META_FUNCTION void meta_add_to(meta_i64 *to, meta_i64 x)
{
    meta_add_to((meta_u64 *)to, (meta_u64)x);
}
META_FUNCTION void meta_add_to(meta_i32 *to, meta_i32 x)
{
    meta_add_to((meta_u32 *)to, (meta_u32)x);
}
#define META_K_ADD_TO(element, x)                                                                  \
    meta_add_to(&(element).meta_added, (decltype((element).meta_added))(x))

/* ------------------------------------------------------------------ arguments */

/** Threads per block; a power of two. A team's is as large as the team. */
#ifdef META_USER_ITEMS
#define META_GPU_BLOCK META_USER_ITEMS
#else
#define META_GPU_BLOCK 256
#endif

/** The arguments of a launch; the host writes the same bytes. 2^columns_log2 threads of a block and
 *  `wide` blocks lie across the columns, `high` blocks across the rows; a thread takes `depth`
 *  consecutive rows. */
typedef struct meta_user_call {
    meta_u32 columns_log2, wide, high, depth;
    void *operand[META_SPACE_OPERANDS];
    meta_u64 word[META_USER_WORDS];
    meta_space space;
} meta_user_call;

/** A block: its number, and how many there are. */
typedef struct meta_user_block {
    meta_u32 number, count;
} meta_user_block;

#define META_USER_KERNEL             META_FUNCTION void
#define META_USER_NAME(name)         meta_user_##name /* that may be an array's or a helper's too */
#define META_USER_ARRAY(k)           void *operand##k
#define META_USER_WORD(k)            const meta_u64 word##k
#define META_USER_WORDS_PARAMETER    /* many are not passed one by one */
#define META_USER_WORD_AT(k)         meta_w->word[k]
#define META_SPACE_PARAMETER         const meta_user_call *meta_w, const meta_user_block meta_block
#define META_USER_RESULTS_PARAMETERS , void *meta_partials
#define META_SPACE                   const meta_space *s = &meta_w->space
#define META_STRIDE(k, d)            s->layout[k].stride[d]

/* The function that is launched begins with META_USER_ENTRY and META_USER_BEGIN. */
#if defined META_USER_HOST
#define META_USER_ENTRY                                                                            \
    extern "C" __attribute__((visibility("default"))) void meta_user_entry(                        \
        const meta_user_call *meta_w, void *meta_partials, meta_u32 meta_number,                   \
        meta_u32 meta_count)
#define META_USER_BEGIN                                                                            \
    const meta_user_block meta_block = {meta_number, meta_count};                                  \
    (void)meta_partials;
#else
#define META_USER_GLOBAL extern "C" __global__ void __launch_bounds__(META_GPU_BLOCK)
#define META_USER_HERE                                                                             \
    const meta_user_block meta_block = {blockIdx.x, gridDim.x};                                    \
    (void)meta_partials;
#if defined META_USER_IN_MEMORY
#define META_USER_ENTRY                                                                            \
    META_USER_GLOBAL meta_user_entry(const meta_user_call *meta_w, void *meta_partials)
#define META_USER_BEGIN META_USER_HERE
#else
/* Indexed where it is, rather than copied to local memory. */
#if defined __CUDACC_VER_MAJOR__
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1107
#define META_USER_BY_VALUE const __grid_constant__ meta_user_call
#endif
#endif
#ifndef META_USER_BY_VALUE
#define META_USER_BY_VALUE const meta_user_call
#endif
#define META_USER_ENTRY                                                                            \
    META_USER_GLOBAL meta_user_entry(META_USER_BY_VALUE meta_call, void *meta_partials)
#define META_USER_BEGIN                                                                            \
    const meta_user_call *meta_w = &meta_call;                                                     \
    META_USER_HERE
#endif
#endif

/* ------------------------------------------------------------------ rows and columns */

/** A thread's cells: its first column and row, and the steps to its next. */
typedef struct meta_user_share {
    meta_i64 column, columns, row, rows;
} meta_user_share;

META_FUNCTION meta_user_share meta_user_share_of(const meta_user_call *w, meta_u32 block,
                                                 meta_u32 thread)
{
    const meta_u32 across = 1u << w->columns_log2, along = META_GPU_BLOCK >> w->columns_log2;
    const meta_u32 high = block / w->wide, wide = block - high * w->wide;
    meta_user_share share;
    share.column = (meta_i64)wide * across + (thread & (across - 1));
    share.columns = (meta_i64)w->wide * across;
    share.row = ((meta_i64)high * along + (thread >> w->columns_log2)) * w->depth;
    share.rows = (meta_i64)w->high * along * w->depth;
    return share;
}

/** A row: the index of its column 0 in each operand, its number, its coordinates in dimensions 1 to
 * 3, and how many rows the thread has left, including this one. */
typedef struct meta_user_row {
    meta_i64 at[META_SPACE_OPERANDS], number, coordinate[4];
    meta_u32 left;
} meta_user_row;

META_FUNCTION meta_user_row meta_user_row_of(const meta_space *s, meta_i64 number, meta_u32 left)
{
    meta_user_row r;
    r.number = number;
    r.coordinate[0] = r.coordinate[1] = r.coordinate[2] = r.coordinate[3] = 0;
    r.left = number < s->rows ? left : 0;
    for (int k = 0; k < META_SPACE_OPERANDS; ++k) r.at[k] = s->layout[k].base;
    META_USER_ROLLED
    for (int d = 1; d < (int)s->ndim; ++d) {
        const meta_i64 extent = s->extent[d];
        /* A 32-bit division takes a fraction of the time of a 64-bit one. */
        const meta_i64 whole =
            (number | extent) >> 32 ? number / extent : (meta_u32)number / (meta_u32)extent;
        const meta_i64 coordinate = number - whole * extent;
        for (int k = 0; k < META_SPACE_OPERANDS; ++k)
            r.at[k] += coordinate * s->layout[k].stride[d];
        /* Not indexed by d: an array that is indexed so does not lie in registers. */
        if (d == 1) r.coordinate[1] = coordinate;
        else if (d == 2) r.coordinate[2] = coordinate;
        else if (d == 3) r.coordinate[3] = coordinate;
        number = whole;
    }
    return r;
}

/* Divides only at the end of dimension 1. */
META_FUNCTION void meta_user_row_next(const meta_space *s, meta_user_row *r)
{
    if (--r->left == 0) return;
    if (s->ndim > 1 && ++r->coordinate[1] < s->extent[1]) {
        ++r->number;
        for (int k = 0; k < META_SPACE_OPERANDS; ++k) r->at[k] += s->layout[k].stride[1];
    } else {
        *r = meta_user_row_of(s, r->number + 1, r->left);
    }
}

#ifdef META_USER_HOST
#define META_USER_THREADS for (meta_u32 thread_ = 0; thread_ < META_GPU_BLOCK; ++thread_)
#define META_USER_THREAD  thread_
#else
#define META_USER_THREADS
#define META_USER_THREAD threadIdx.x
#endif
#define META_ROWS(r)                                                                               \
    META_USER_THREADS for (meta_user_share share_ =                                                \
                               meta_user_share_of(meta_w, meta_block.number, META_USER_THREAD);    \
                           share_.row < s->rows;                                                   \
                           share_.row +=                                                           \
                           share_.rows) for (meta_user_row r =                                     \
                                                 meta_user_row_of(s, share_.row, meta_w->depth);   \
                                             r.left > 0; meta_user_row_next(s, &r))
#define META_COLUMNS(i) for (meta_i64 i = share_.column; i < s->extent[0]; i += share_.columns)
#define META_SIMD_SUM(x)

#include "lang_team.h"

#include "meta_kernel_team_body.h"

/* ------------------------------------------------------------------ results */

/* An extreme while cells contribute to it, and a partial result: an extreme and its cell's number. */
#define META_USER_EXTREME(T)                                                                       \
    typedef struct {                                                                               \
        meta_##T meta_value, meta_has, meta_new;                                                   \
        meta_i64 meta_cell;                                                                        \
    } meta_contributed_##T;                                                                        \
    typedef struct {                                                                               \
        meta_##T value;                                                                            \
        meta_i64 number;                                                                           \
    } meta_best_##T;
META_USER_EXTREME(f64)
META_USER_EXTREME(f32)
META_USER_EXTREME(i64)
META_USER_EXTREME(u64)
META_USER_EXTREME(i32)
META_USER_EXTREME(u32)

#define META_USER_SUM(a, b) ((a) + (b))
#define META_USER_MIN(a, b) META_K_LEAST(a, b)
#define META_USER_MAX(a, b) META_K_MOST(a, b)
#define META_USER_MIN_AT(a, b) META_K_LOWEST_AT(a, b)
#define META_USER_MAX_AT(a, b) META_K_HIGHEST_AT(a, b)
/* Partial results have 8 bytes, 16 with a place, or META_EXACT_WORDS words in an exact sum, one for each
 * block, behind those of the results before; n counts the words of these. */
#define META_USER_PARTIAL(A, n)                                                                    \
    ((A *)((meta_u64 *)meta_partials + (meta_u64)(n)*meta_block.count))[meta_block.number]

#ifdef META_USER_HOST
#define META_USER_COMBINE(A, n, result, COMBINE) META_USER_PARTIAL(A, n) = result
#else
/* One array for all results, of which META_USER_PARTIAL_WORDS is the most words that one has. */
template <int words> META_FUNCTION meta_u64 *meta_user_tree()
{
    __shared__ meta_u64 tree[META_GPU_BLOCK * words];
    return tree;
}

/* A tree reduction over the block's threads: the order of combining is the same in every run. */
#define META_USER_COMBINE(A, n, result, COMBINE)                                                   \
    do {                                                                                           \
        A *tree_ = (A *)meta_user_tree<META_USER_PARTIAL_WORDS>();                                 \
        const meta_u32 me_ = threadIdx.x;                                                          \
        __syncthreads();                                                                           \
        tree_[me_] = result;                                                                       \
        __syncthreads();                                                                           \
        for (meta_u32 half_ = META_GPU_BLOCK / 2; half_ > 0; half_ /= 2) {                         \
            if (me_ < half_) tree_[me_] = COMBINE(tree_[me_], tree_[me_ + half_]);                 \
            __syncthreads();                                                                       \
        }                                                                                          \
        if (me_ == 0) META_USER_PARTIAL(A, n) = tree_[0];                                          \
    } while (0)
#endif

/* ------------------------------------------------------------------ exact sums */

#ifdef META_USER_REPRODUCIBLE

META_FUNCTION meta_u64 meta_f64_bits(meta_f64 x)
{
    union {
        meta_f64 value;
        meta_u64 bits;
    } of;
    of.value = x;
    return of.bits;
}
META_FUNCTION meta_f64 meta_f64_of(meta_u64 bits)
{
    union {
        meta_u64 bits;
        meta_f64 value;
    } of;
    of.bits = bits;
    return of.value;
}

#define META_LOCAL
#define META_EXACT_FUNCTION META_FUNCTION
#define META_USER_EXACT_AT(word)                                                                   \
    ((meta_i64 *)meta_partials + (meta_u64)(word)*meta_block.count +                               \
     (meta_u64)META_EXACT_WORDS * meta_block.number)
#ifdef META_USER_HOST /* which calls the function for one block after another */
META_FUNCTION meta_u32 meta_added_before(meta_u32 *to, meta_u32 x)
{
    const meta_u32 was = *to;
    *to = was + x;
    return was;
}
/* An emulated block's stack is small. */
#define META_USER_SHARED(name, k) static thread_local meta_u32 name[META_EXACT_SHARED]
#define META_ATOMIC_ADD(p, x)     meta_added_before(p, x)
#define META_BARRIER
#define META_THREAD               0
#define META_THREADS              1
#else
#define META_USER_SHARED(name, k) __shared__ meta_u32 name[META_EXACT_SHARED]
#define META_ATOMIC_ADD(p, x)     atomicAdd(p, x)
#define META_BARRIER              __syncthreads()
#define META_THREAD               threadIdx.x
#define META_THREADS              META_GPU_BLOCK
#endif

#include "exact.h"

#include "exact_threads.h"

#include "exact_cells.h"

#endif

#endif
