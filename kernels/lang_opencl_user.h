/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_opencl_user.h
 *  The language of a program's kernels, see meta_kernel.h, in OpenCL C. Compiled after
 *  lang_opencl_body.h and meta_kernel_body.h; the core generates what uses it.
 *
 *  A result has META_USER_PARTIALS partial results of 8 bytes, of 16 with a place, or of
 *  META_EXACT_WORDS words if it is an exact sum, one for each work group, behind those of the results
 *  before it; n counts their words. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* not every body can be vectorised */
#endif
typedef long int64_t;
typedef ulong uint64_t;
typedef int int32_t;
typedef uint uint32_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef char int8_t;
typedef uchar uint8_t;

#define META_FUNCTION static inline
#define META_JOIN3(a, b) a##_##b
#define META_JOIN4(a, b) META_JOIN3(a, b)
#define FN(name)      META_JOIN4(name, META_USER_SUFFIX)
#define META_RESTRICT restrict
#define SQRT(x)       sqrt((T)(x))
#ifdef META_USER_FLOATING
#define ABS(x) fabs((T)(x))
#else
#define ABS(x) ((T)(x) < 0 ? -(T)(x) : (T)(x))
#endif
/* As in C, where an argument is converted to the function's type. */
#define fabsf(x) fabs((float)(x))
#define sqrtf(x) sqrt((float)(x))
#ifdef META_CPU
/* PoCL 3.1 gives 0 for numbers beyond 64-bit integers that its compiler knows. */
static inline float __attribute__((overloadable)) meta_rint(float x)
{
    const float whole = 0x1p23f; /* from here on there are no fractions */
    return fabs(x) < whole ? copysign((fabs(x) + whole) - whole, x) : x;
}
#ifdef META_HAS_F64
static inline double __attribute__((overloadable)) meta_rint(double x)
{
    const double whole = 0x1p52;
    return fabs(x) < whole ? copysign((fabs(x) + whole) - whole, x) : x;
}
#endif
#undef rint /* PoCL's headers rename it by a macro */
#define rint(x) meta_rint(x)
#endif

/* What <stdint.h> defines. */
#define INT64_MIN  LONG_MIN
#define INT64_MAX  LONG_MAX
#define UINT64_MAX ULONG_MAX
#define INT32_MIN  INT_MIN
#define INT32_MAX  INT_MAX
#define UINT32_MAX UINT_MAX

#define META_MOST_f64  INFINITY
#define META_MOST_f32  INFINITY
#define META_MOST_i64  LONG_MAX
#define META_MOST_u64  ULONG_MAX
#define META_MOST_i32  INT_MAX
#define META_MOST_u32  UINT_MAX
#define META_LEAST_f64 (-INFINITY)
#define META_LEAST_f32 (-INFINITY)
#define META_LEAST_i64 LONG_MIN
#define META_LEAST_u64 0
#define META_LEAST_i32 INT_MIN
#define META_LEAST_u32 0

/* ------------------------------------------------------------------ ADD arrays */

/* The language selects no function by the type of an argument: the length of meta_kind says what an
 * element is, 1 a floating number, 2 signed, 3 unsigned. */
typedef union {
    meta_f64 meta_added;
    char meta_kind[1];
} meta_added_f64;
typedef union {
    meta_f32 meta_added;
    char meta_kind[1];
} meta_added_f32;
typedef union {
    meta_i64 meta_added;
    char meta_kind[2];
} meta_added_i64;
typedef union {
    meta_u64 meta_added;
    char meta_kind[3];
} meta_added_u64;
typedef union {
    meta_i32 meta_added;
    char meta_kind[2];
} meta_added_i32;
typedef union {
    meta_u32 meta_added;
    char meta_kind[3];
} meta_added_u32;

static inline void meta_add_to_u32(__global void *to, meta_u32 x)
{
    atomic_add((volatile __global uint *)to, x);
}
static inline void meta_add_to_f32(__global void *to, meta_f32 x)
{
    volatile __global uint *bits = (volatile __global uint *)to;
    uint was, seen = *bits;
    do {
        was = seen;
        seen = atomic_cmpxchg(bits, was, as_uint(as_float(was) + x));
    } while (seen != was);
}
#ifdef META_USER_ATOMIC_64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
static inline void meta_add_to_u64(__global void *to, meta_u64 x)
{
    atom_add((volatile __global ulong *)to, x);
}
#else /* kernels that would call it are refused */
static inline void meta_add_to_u64(__global void *to, meta_u64 x)
{
}
#endif
#if defined META_USER_ATOMIC_64 && defined META_HAS_F64
static inline void meta_add_to_f64(__global void *to, meta_f64 x)
{
    volatile __global ulong *bits = (volatile __global ulong *)to;
    ulong was, seen = *bits;
    do {
        was = seen;
        seen = atom_cmpxchg(bits, was, as_ulong(as_double(was) + x));
    } while (seen != was);
}
#else
static inline void meta_add_to_f64(__global void *to, meta_f64 x)
{
}
#endif
/* Only one of the calls remains. A conversion of a negative number is defined to a signed type. */
#define META_ADD_TO_OF(element, x, bits)                                                           \
    (sizeof((element).meta_kind) == 1                                                              \
         ? meta_add_to_f##bits(&(element), (meta_f##bits)(x))                                      \
         : sizeof((element).meta_kind) == 2                                                        \
         ? meta_add_to_u##bits(&(element), (meta_u##bits)(meta_i##bits)(x))                        \
         : meta_add_to_u##bits(&(element), (meta_u##bits)(x)))
#define META_K_ADD_TO(element, x)                                                                  \
    (sizeof(element) == 8 ? META_ADD_TO_OF(element, x, 64) : META_ADD_TO_OF(element, x, 32))

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

#ifdef META_CPU
#define META_USER_KERNEL __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
#else
#define META_USER_KERNEL __kernel void
#endif
/* Pasted, so that the name may be that of an array, a built-in function or a macro as well. */
#define META_USER_NAME(name) meta_user_##name
#define META_USER_RESULTS_PARAMETERS , __global void *partials, __local void *scratch
#define META_USER_ARRAY(k)           __global void *operand##k
#define META_USER_WORD(k)            const meta_u64 word##k
/* Of values that are many, in memory. */
#define META_USER_WORDS_PARAMETER __global const meta_u64 *meta_words,
#define META_USER_WORD_AT(k)      meta_words[k]

#define META_USER_SUM(a, b) ((a) + (b))
#define META_USER_MIN(a, b) META_K_LEAST(a, b)
#define META_USER_MAX(a, b) META_K_MOST(a, b)
#define META_USER_MIN_AT(a, b) META_K_LOWEST_AT(a, b)
#define META_USER_MAX_AT(a, b) META_K_HIGHEST_AT(a, b)
#define META_USER_PARTIAL(A, n)                                                                    \
    ((__global A *)((__global char *)partials + 8 * (n)*META_USER_PARTIALS))[                      \
        get_group_id(1) * get_num_groups(0) + get_group_id(0)]
#define META_USER_EXACT_AT(word)                                                                   \
    ((__global meta_i64 *)partials + (word)*META_USER_PARTIALS +                                   \
     META_EXACT_WORDS * (get_group_id(1) * get_num_groups(0) + get_group_id(0)))
#define META_USER_SHARED(name, k)                                                                  \
    __local meta_u32 *name = (__local meta_u32 *)scratch + (k)*META_EXACT_SHARED
#ifdef META_CPU
#define META_USER_COMBINE(A, n, result, COMBINE) META_USER_PARTIAL(A, n) = result
#else
#define META_USER_COMBINE(A, n, result, COMBINE)                                                   \
    do {                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE); /* the result before has been read */                        \
        META_TREE(A, result, COMBINE, META_USER_PARTIAL(A, n));                                    \
    } while (0)
#endif
