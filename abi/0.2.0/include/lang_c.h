/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_c.h
 *  The kernel language for CPUs: rows and columns are loops over one thread's share. */
#ifndef META_LANG_C_H
#define META_LANG_C_H

#include <stdint.h>
#include <string.h>

typedef int64_t meta_i64;
typedef uint64_t meta_u64;
typedef int32_t meta_i32;
typedef uint32_t meta_u32;
typedef uint16_t meta_u16;
typedef uint8_t meta_u8;
typedef double meta_f64;
typedef float meta_f32;

#include "meta_types.h"
#include "meta_space.h"

/* Reinterpret a double as its bits, and back. */
META_INLINE meta_u64 meta_f64_bits(meta_f64 x)
{
    meta_u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

META_INLINE meta_f64 meta_f64_of(meta_u64 bits)
{
    meta_f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/** One thread's share of a kernel: rows [row[0], row[1]) and columns [column[0], column[1]). */
typedef struct meta_work {
    void *object[META_SPACE_OPERANDS];
    const void *scalar; /**< the element passed by value */
    const meta_space *space;
    meta_i64 row[2], column[2];
    int way;                   /**< how a stencil accesses memory */
    const struct sides *sides; /**< boxes whose sums a stencil adds up … */
    double *side_sums;         /**< … to these; NULL: there are none */
    void *partial;             /**< the thread's partial result of a reduction */
} meta_work;

typedef void meta_kernel_function(const meta_work *work);

#define META_GLOBAL
#define META_JOIN_(a, b) a##_##b
#define META_JOIN(a, b) META_JOIN_(a, b)
#define META_KERNEL(name) \
    static void META_JOIN(name, META_SUFFIX)(const meta_work *w)
#define META_SPACE const meta_space *s = w->space
#define META_OUT(T, name, k) T *name = (T *)w->object[k]
#define META_IN(T, name, k) const T *name = (const T *)w->object[k]
#define META_SCALAR(T, name) \
    T name;                  \
    memcpy(&name, w->scalar, sizeof name)
#define META_ROWS(r) \
    for (meta_row r = meta_row_first(s, w->row[0]); r.number < w->row[1]; meta_row_next(s, &r))
#define META_COLUMNS(i) for (meta_i64 i = w->column[0]; i < w->column[1]; ++i)
#define META_COLUMNS_FROM w->column[0]
#define META_COLUMNS_END w->column[1]
#define META_AT(r, k) r.at[k]
#define META_STRIDE(k, d) s->layout[k].stride[d]
#define META_SIMD _Pragma("omp simd")
#define META_SIMD_SUM(x) _Pragma(META_TEXT(omp simd reduction(+ : x)))
#define META_SIMD_EXACT(high, low, below, left) \
    _Pragma(META_TEXT(omp simd reduction(+ : high, low) reduction(& : below) reduction(| : left)))
#define META_TEXT(x) #x
#define META_PREFETCH(p) __builtin_prefetch(p)
#define META_REDUCE(A, accumulator, COMBINE) *(A *)w->partial = accumulator
/* The partial result of an exact sum. */
#define META_EXACT_PARTIAL ((meta_i64 *)w->partial)
/* For the combining kernels: one thread, partial results in operand 0, the result in operand 1. */
#define META_PARTIALS s->extent[0]

#endif
