/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_kernel_pass.h
 *  One pass over a kernel file: which element type and, where the kernels are compiled, which
 *  instruction set it is for. The file includes itself, as META_AGAIN, until all have had a pass.
 *  Only meta_kernel.h includes this. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#ifndef META_KERNEL_TYPES
#define META_KERNEL_TYPES (META_KERNEL_F64 | META_KERNEL_F32)
#endif
/* Instruction sets, and the last variant: where kernels are compiled, the one that checks. */
#if defined META_KERNELS_HERE && defined __x86_64__ && !defined META_KERNEL_ONE_VARIANT
#define META_K_VARIANTS 3 /* the program's own target, AVX2, AVX-512 */
#elif defined META_KERNELS_HERE && defined __aarch64__ && defined __linux__ &&                     \
    !defined META_KERNEL_ONE_VARIANT
#define META_K_VARIANTS 2 /* the program's own target, SVE */
#else
#define META_K_VARIANTS 1
#endif
#if defined META_KERNELS_HERE && defined META_KERNEL_REPORT
#define META_K_LAST (META_K_VARIANTS - 1)
#elif defined META_KERNELS_HERE
#define META_K_LAST 3
#else
#define META_K_LAST 0
#endif

/* sqrt() sets errno of what is negative, and so gcc and clang call it for each cell. Where it is
 * declared to depend on its argument alone it is an instruction, which vectorizes. gcc has no option
 * for part of a file that does this. The parentheses are for <tgmath.h>, whose sqrt is a macro. */
#if defined META_KERNELS_HERE && !defined META_K_SQRT_IS_CONST
#define META_K_SQRT_IS_CONST
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
#ifdef __cplusplus
extern "C" {
__attribute__((const)) double(sqrt)(double) noexcept(noexcept((sqrt)(0.0)));
__attribute__((const)) float(sqrtf)(float) noexcept(noexcept((sqrtf)(0.0f)));
}
#else
__attribute__((const)) double(sqrt)(double);
__attribute__((const)) float(sqrtf)(float);
#endif
#pragma GCC diagnostic pop
#endif

/* ------------------------------------------------------------------ the next pass */

#ifndef META_K_TYPE /* the first pass */
#pragma push_macro("T")
#pragma push_macro("FN")
#pragma push_macro("AT")
#pragma push_macro("AT1")
#pragma push_macro("AT2")
#pragma push_macro("AT4")
#pragma push_macro("ON")
#pragma push_macro("GET")
#pragma push_macro("INDEX")
#pragma push_macro("ADD")
#pragma push_macro("ADD_TO")
#pragma push_macro("LOWER")
#pragma push_macro("RAISE")
#pragma push_macro("ABS")
#pragma push_macro("LEAST")
#pragma push_macro("MOST")
#pragma push_macro("SQRT")
#pragma push_macro("MEMBERS")
#pragma push_macro("SHARED")
#pragma push_macro("MY")
#pragma push_macro("EXTENT")
#pragma push_macro("START")
#pragma push_macro("TEAM")
#pragma push_macro("TEAMS")
#undef T
#undef FN
#undef AT
#undef AT1
#undef AT2
#undef AT4
#undef ON
#undef GET
#undef INDEX
#undef ADD
#undef ADD_TO
#undef LOWER
#undef RAISE
#undef ABS
#undef LEAST
#undef MOST
#undef SQRT
#undef MEMBERS
#undef SHARED
#undef MY
#undef EXTENT
#undef START
#undef TEAM
#undef TEAMS
#define META_K_AS(result) (__typeof__(*(result)))
#include "meta_kernel_body.h"
#include "meta_kernel_team_body.h"
#define META_FUNCTION    static inline __attribute__((always_inline, unused))
#define FN(name)         META_K_TAGGED(name, META_K_NAME, META_K_VARIANT)
#define META_K_VARIANT   0
#if (META_KERNEL_TYPES) & META_KERNEL_F64
#define META_K_TYPE 0
#elif (META_KERNEL_TYPES) & META_KERNEL_F32
#define META_K_TYPE 1
#elif (META_KERNEL_TYPES) & META_KERNEL_I64
#define META_K_TYPE 2
#elif (META_KERNEL_TYPES) & META_KERNEL_U64
#define META_K_TYPE 3
#elif (META_KERNEL_TYPES) & META_KERNEL_I32
#define META_K_TYPE 4
#elif (META_KERNEL_TYPES) & META_KERNEL_U32
#define META_K_TYPE 5
#else
#error "META_KERNEL_TYPES names no element type"
#endif
#define META_K_FIRST 1

#else /* a later pass */
/* gcc does not end where a body leaves a parenthesis of a word open, but takes what follows for the word's
 * argument: directives have effect there, and _Pragma has none. */
#if defined __GNUC__ && !defined __clang__
#define META_K_CLOSED
#pragma push_macro("META_K_CLOSED")
#undef META_K_CLOSED
_Pragma("pop_macro(\"META_K_CLOSED\")")
#ifndef META_K_CLOSED
#include <mistake in a kernel: a body before this leaves a parenthesis open: meta-kernel check says where>
#endif
#undef META_K_CLOSED
#endif
#pragma GCC diagnostic pop
#ifdef __clang__
#if META_K_VARIANT == 1 || META_K_VARIANT == 2
#pragma clang attribute pop
#endif
#else
#pragma GCC pop_options
#endif
#undef META_K_FIRST
#define META_K_FIRST 0
#undef T
#undef ABS
#undef SQRT
#undef META_K_NAME
#undef META_K_ENUM
#undef META_K_FLAGS
#undef META_K_JUDGE_FIRST
#undef META_CELLS
#undef META_TEAMS
#undef META_AGAIN
#undef META_K_AT
#undef META_K_GET
#undef META_K_SHARED_AT
#define META_K_AT(array, x, y, z, w) META_K_INDEX(array, x, y, z, w)
#define META_K_GET(array, n)         (n) META_K_WHOLE(array)
#define META_K_SHARED_AT(array, n)   ((void)meta_i, (n))
#if META_K_VARIANT == 0 && META_K_VARIANTS > 1
#undef META_K_VARIANT
#define META_K_VARIANT 1
#elif META_K_VARIANT == 1 && META_K_VARIANTS > 2
#undef META_K_VARIANT
#define META_K_VARIANT 2
#elif META_K_VARIANT < META_K_LAST
#undef META_K_VARIANT
#define META_K_VARIANT 3
#undef META_K_AT
#undef META_K_GET
#undef META_K_SHARED_AT
#define META_K_AT(array, x, y, z, w)                                                               \
    (meta_kernel_near(meta_r, #array, __LINE__, meta_i, (x), (y), (z), (w)) +                      \
     meta_i1 * meta_1_##array + meta_i2 * meta_2_##array)
#define META_K_GET(array, n) meta_kernel_element(meta_r, #array, __LINE__, (n))
#define META_K_SHARED_AT(array, n)                                                                 \
    ((void)meta_i, meta_kernel_near(meta_r, #array, __LINE__, (int64_t)(n), 0, 0, 0, 0))
#else
#undef META_K_VARIANT
#define META_K_VARIANT 0
#if META_K_TYPE < 1 && ((META_KERNEL_TYPES) & META_KERNEL_F32)
#undef META_K_TYPE
#define META_K_TYPE 1
#elif META_K_TYPE < 2 && ((META_KERNEL_TYPES) & META_KERNEL_I64)
#undef META_K_TYPE
#define META_K_TYPE 2
#elif META_K_TYPE < 3 && ((META_KERNEL_TYPES) & META_KERNEL_U64)
#undef META_K_TYPE
#define META_K_TYPE 3
#elif META_K_TYPE < 4 && ((META_KERNEL_TYPES) & META_KERNEL_I32)
#undef META_K_TYPE
#define META_K_TYPE 4
#else
#undef META_K_TYPE
#define META_K_TYPE 5
#endif
#endif
#endif

/* ------------------------------------------------------------------ this pass */

#if META_K_TYPE == 0
#define T           double
#define ABS(x)      fabs((T)(x))
#define SQRT(x)     sqrt((T)(x))
#define META_K_NAME f64
#define META_K_ENUM META_F64
#elif META_K_TYPE == 1
#define T           float
#define ABS(x)      fabsf((T)(x))
#define SQRT(x)     sqrtf((T)(x))
#define META_K_NAME f32
#define META_K_ENUM META_F32
#elif META_K_TYPE == 2
#define T           int64_t
#define ABS(x)      ((T)(x) < 0 ? -(T)(x) : (T)(x))
#define META_K_NAME i64
#define META_K_ENUM META_I64
#elif META_K_TYPE == 3
#define T           uint64_t
#define ABS(x)      ((T)(x))
#define META_K_NAME u64
#define META_K_ENUM META_U64
#elif META_K_TYPE == 4
#define T           int32_t
#define ABS(x)      ((T)(x) < 0 ? -(T)(x) : (T)(x))
#define META_K_NAME i32
#define META_K_ENUM META_I32
#else
#define T           uint32_t
#define ABS(x)      ((T)(x))
#define META_K_NAME u32
#define META_K_ENUM META_U32
#endif

/* Whether a later type follows. */
#if (META_KERNEL_TYPES) >> META_K_TYPE > 1
#define META_K_MORE 1
#else
#define META_K_MORE 0
#endif
#if META_K_VARIANT < META_K_LAST || META_K_MORE
#ifdef META_KERNEL_FILE
#define META_AGAIN META_KERNEL_FILE
#elif defined __FILE_NAME__
#define META_AGAIN __FILE_NAME__
#else
#error "this compiler needs META_KERNEL_FILE, the kernel file's own name in quotes, defined in it"
#endif
#else
#define META_AGAIN "meta_kernel_end.h"
#endif
#undef META_K_MORE

/* Warnings about the words that kernels consist of, and a kernel's text is C for OpenCL's compilers,
 * whatever the program's language and style are. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#else
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wc11-extensions"
#pragma clang diagnostic ignored "-Wc++98-compat-pedantic"
#pragma clang diagnostic ignored "-Wpass-failed" /* not every body can be vectorised */
#pragma clang diagnostic ignored "-Wunused-function" /* a typed function that is not called */
#pragma clang diagnostic ignored "-Wused-but-marked-unused"
#if __has_warning("-Wunsafe-buffer-usage")
#pragma clang diagnostic ignored "-Wunsafe-buffer-usage" /* an array is a pointer, AT() an element */
#endif
#if __has_warning("-Wpre-c11-compat")
#pragma clang diagnostic ignored "-Wpre-c11-compat"
#endif
#else
#pragma GCC diagnostic ignored "-Wduplicated-branches"
#pragma GCC diagnostic ignored "-Winline"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wuseless-cast"
#else
#pragma GCC diagnostic ignored "-Wc++-compat"
#endif
#if !defined __cplusplus && __STDC_VERSION__ < 201112
#pragma GCC diagnostic ignored "-Wpedantic" /* _Generic */
#endif
#endif

/* Compile for this pass's instruction set, without contraction, and with gcc for speed whatever the
 * program's level is; clang cannot, and META_KERNEL_PROGRAM_LEVEL asks for that level. META_K_FLAGS is
 * not what __OPTIMIZE__ is within: a preprocessor that runs alone does not follow these options. */
#if defined __OPTIMIZE__ || !(defined __clang__ || defined META_KERNEL_PROGRAM_LEVEL)
#define META_K_FLAGS 0
#else
#define META_K_FLAGS META_KERNEL_UNOPTIMIZED
#endif
#ifdef __clang__
#pragma clang fp contract(off)
#if META_K_VARIANT == 1 && defined __aarch64__
#pragma clang attribute push(__attribute__((target("sve"))), apply_to = function)
#elif META_K_VARIANT == 1
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#elif META_K_VARIANT == 2
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))), apply_to = function)
#endif
#else
#if META_K_FIRST && !defined __NO_TRAPPING_MATH__
#define META_K_TELLS
#endif
#pragma GCC push_options
#if !defined META_KERNELS_HERE || defined META_KERNEL_PROGRAM_LEVEL
#pragma GCC optimize("fp-contract=off", "no-trapping-math")
#elif META_K_VARIANT == 3
#pragma GCC optimize("O1", "fp-contract=off", "no-trapping-math")
#else
#pragma GCC optimize("O3", "fp-contract=off", "no-trapping-math")
#endif
/* gcc has these options at file scope only, and in C a macro tells: not within a body that has left a brace
 * open, of which it would say that all that follows is wrong. */
#if defined META_K_TELLS && !defined __NO_TRAPPING_MATH__
#if !META_K_FIRST
#include <mistake in a kernel: a body before this leaves a brace open: meta-kernel check says where>
#endif
#undef META_K_TELLS
#endif
#if META_K_VARIANT == 1 && defined __aarch64__
#pragma GCC target("+sve")
#elif META_K_VARIANT == 1
#pragma GCC target("avx2")
#elif META_K_VARIANT == 2
#pragma GCC target("avx512f,avx512vl,avx512bw,avx512dq,prefer-vector-width=512")
#endif
#endif

#if META_K_FIRST
#define META_K_JUDGE_FIRST(name, by) META_K_JUDGE(name, by)
#else
#define META_K_JUDGE_FIRST(name, by)
#endif

#if !defined META_KERNELS_HERE
#define META_CELLS(name)                                                                           \
    META_K_JUDGE_FIRST(name, meta_CELLS) META_K_DECLARE(name, META_K_NAME, META_K_VARIANT)
#elif defined META_KERNEL_REPORT
#define META_CELLS(name) META_K_REPORTED(name, META_K_NAME, META_K_VARIANT)
#elif META_K_FIRST
#define META_CELLS(name) META_K_JUDGE_FIRST(name, meta_CELLS) META_K_BASELINE_FIRST(name, META_K_NAME)
#elif META_K_VARIANT == 0
#define META_CELLS(name) META_K_BASELINE(name, META_K_NAME)
#elif META_K_VARIANT == 1
#define META_CELLS(name) META_K_WIDE(name, META_K_NAME)
#elif META_K_VARIANT == 2
#define META_CELLS(name) META_K_WIDEST(name, META_K_NAME)
#elif META_K_VARIANTS > 1
#define META_CELLS(name) META_K_CHECKED(name, META_K_NAME, META_K_ENUM)
#else
#define META_CELLS(name) META_K_CHECKED_ALONE(name, META_K_NAME, META_K_ENUM)
#endif

#if !defined META_KERNELS_HERE
#define META_TEAMS(name, ...)                                                                      \
    META_K_JUDGE_FIRST(name, meta_TEAMS) META_K_JUDGE_EXTENTS(__VA_ARGS__)                         \
    META_K_TEAM_DECLARE(name, META_K_NAME)
#elif defined META_KERNEL_REPORT
#define META_TEAMS(name, x, y, z) META_K_TEAM_SET(name, META_K_NAME, META_K_VARIANT, x, y, z)
#elif META_K_FIRST
#define META_TEAMS(name, ...)                                                                      \
    META_K_JUDGE_FIRST(name, meta_TEAMS) META_K_JUDGE_EXTENTS(__VA_ARGS__)                         \
    META_K_TEAM_FIRST(name, META_K_NAME, __VA_ARGS__)
#elif META_K_VARIANT == 0
#define META_TEAMS(name, x, y, z) META_K_TEAM_BASELINE(name, META_K_NAME, x, y, z)
#elif META_K_VARIANT < 3
#define META_TEAMS(name, x, y, z) META_K_TEAM_SET(name, META_K_NAME, META_K_VARIANT, x, y, z)
#elif META_K_VARIANTS > 1
#define META_TEAMS(name, x, y, z) META_K_TEAM_CHECKED(name, META_K_NAME, META_K_ENUM, x, y, z)
#else
#define META_TEAMS(name, x, y, z) META_K_TEAM_CHECKED_ALONE(name, META_K_NAME, META_K_ENUM, x, y, z)
#endif
