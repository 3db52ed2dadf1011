/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_opencl_body.h
 *  The second half of the kernel language in OpenCL C: what needs meta_space.
 *
 *  On a GPU, adjacent work items access adjacent elements. With META_CPU defined, each work item takes
 *  a contiguous share of rows and columns, as a thread does in lang_c.h, and a work group is one work
 *  item: the compiler vectorises the loop over columns. */
#define META_GLOBAL __global
#define META_TEXT(x) #x
#define META_JOIN_(a, b) a##b
#define META_JOIN(a, b) META_JOIN_(a, b)
#define META_OUT(T, name, k) __global T *name = (__global T *)operand##k
#define META_IN(T, name, k) __global const T *name = (__global const T *)operand##k
#define META_SCALAR(T, name)  \
    union {                   \
        meta_u64 bits;        \
        T value;              \
    } name##_of;              \
    name##_of.bits = scalar;  \
    const T name = name##_of.value
#define META_AT(r, k) r.at[k]
#define META_STRIDE(k, d) s->layout[k].stride[d]
/* For the combining kernels: one work item, partial results in operand 0, the result in operand 1. */
#define META_PARTIALS s->extent[0]
/* This work group's partial result. */
#define META_PARTIAL(A) \
    ((__global A *)partials)[get_group_id(1) * get_num_groups(0) + get_group_id(0)]

/* This work group's partial result of an exact sum. */
#define META_EXACT_PARTIAL \
    ((__global meta_i64 *)partials + \
     META_EXACT_WORDS * (get_group_id(1) * get_num_groups(0) + get_group_id(0)))

/* META_KERNEL pastes the name before macro expansion: some compilers define built-in functions, such as
 * dot, as macros. */
#ifdef META_CPU

/* The start of the share of work item k of n; the end of the share of work item k - 1. */
static inline meta_i64 meta_share(meta_i64 total, meta_i64 k, meta_i64 n)
{
    const meta_i64 rest = total % n;
    return total / n * k + (k < rest ? k : rest);
}

#define META_KERNEL(name)                                                                        \
    __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void META_JOIN(name##_, META_SUFFIX)( \
        __global void *operand0, __global void *operand1, const meta_u64 scalar,                 \
        META_SPACE_PARAMETER, __global void *partials, __local void *scratch)
#define META_SHARE(total, d, of) \
    meta_share(total, (meta_i64)get_global_id(d) + (of), (meta_i64)get_global_size(d))
#define META_ROWS(r)                                                     \
    const meta_i64 rows_end_ = META_SHARE(s->rows, 1, 1),                \
                   columns_from_ = META_SHARE(s->extent[0], 0, 0),       \
                   columns_end_ = META_SHARE(s->extent[0], 0, 1);        \
    for (meta_row r = meta_row_first(s, META_SHARE(s->rows, 1, 0)); r.number < rows_end_; \
         meta_row_next(s, &r))
#define META_COLUMNS(i) for (meta_i64 i = columns_from_; i < columns_end_; ++i)
#define META_COLUMNS_FROM columns_from_
#define META_COLUMNS_END  columns_end_
#ifdef __clang__
#define META_SIMD _Pragma("clang loop vectorize(assume_safety)")
#define META_SIMD_SUM(x) _Pragma("clang loop vectorize(enable)")
#else
#define META_SIMD
#define META_SIMD_SUM(x)
#endif
#define META_SIMD_EXACT(high, low, below, left) META_SIMD_SUM(high)
/* Loops of programs' kernels that LLVM's vectorizer may compile wrongly, see core/kernels/text_divides.c. */
#if defined __clang__ && __clang_major__ >= 16
#define META_SIMD_DIVIDES _Pragma("clang loop vectorize(disable)")
#endif
/* The language has several address spaces, a CPU only one. */
#ifdef __clang__
#define META_PREFETCH(p) __builtin_prefetch((const void *)(size_t)(p))
#else
#define META_PREFETCH(p)
#endif
#define META_REDUCE(A, accumulator, COMBINE) META_PARTIAL(A) = accumulator

#else

#define META_KERNEL(name)                                                                       \
    __kernel void META_JOIN(name##_, META_SUFFIX)(                                              \
        __global void *operand0, __global void *operand1, const meta_u64 scalar,                \
        META_SPACE_PARAMETER, __global void *partials, __local void *scratch)
#define META_ROWS(r)                                                                             \
    for (meta_i64 row_ = (meta_i64)get_global_id(1); row_ < s->rows;                             \
         row_ += (meta_i64)get_global_size(1))                                                   \
        for (meta_row r = meta_row_first(s, row_), *once_ = &r; once_; once_ = 0)
#define META_COLUMNS(i)                                                    \
    for (meta_i64 i = (meta_i64)get_global_id(0); i < s->extent[0];        \
         i += (meta_i64)get_global_size(0))
#define META_SIMD
#define META_SIMD_SUM(x)
/* The number of work items in a group is a power of two. */
#define META_TREE(A, value, COMBINE, destination)                                               \
    do {                                                                                        \
        __local A *tree_ = (__local A *)scratch;                                                \
        const uint me_ = (uint)(get_local_id(1) * get_local_size(0) + get_local_id(0));         \
        tree_[me_] = value;                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                           \
        for (uint half_ = (uint)(get_local_size(0) * get_local_size(1)) / 2; half_ > 0;         \
             half_ /= 2) {                                                                      \
            if (me_ < half_) tree_[me_] = COMBINE(tree_[me_], tree_[me_ + half_]);              \
            barrier(CLK_LOCAL_MEM_FENCE);                                                       \
        }                                                                                       \
        if (me_ == 0) destination = tree_[0];                                                   \
    } while (0)
#define META_REDUCE(A, accumulator, COMBINE)                                                    \
    META_TREE(A, accumulator, COMBINE, META_PARTIAL(A))
#define META_EXACT_FUNCTION static inline
#define META_LOCAL          __local
#define META_EXACT_MEMORY(name) __local meta_u32 *name = (__local meta_u32 *)scratch
#define META_ATOMIC_ADD(p, x)   atomic_add(p, x)
#define META_BARRIER            barrier(CLK_LOCAL_MEM_FENCE)
#define META_THREAD  ((meta_u32)(get_local_id(1) * get_local_size(0) + get_local_id(0)))
#define META_THREADS ((meta_u32)(get_local_size(0) * get_local_size(1)))

#endif
