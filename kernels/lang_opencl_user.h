/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lang_opencl_user.h
 *  The language of a program's kernels, see meta_kernel.h, in OpenCL C. Compiled after
 *  lang_opencl_body.h and meta_kernel_body.h; the core generates what uses it.
 *
 *  A result has META_USER_PARTIALS partial results of 8 bytes, one for each work group, behind those
 *  of the results before it. */
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
#define SQRT(x)       sqrt(x)
#ifdef META_USER_FLOATING
#define ABS(x) fabs(x)
#else
#define ABS(x) ((x) < 0 ? -(x) : (x))
#endif
#define fabsf(x) fabs(x)
#define sqrtf(x) sqrt(x)

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

#ifdef META_CPU
#define META_USER_KERNEL __kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
#else
#define META_USER_KERNEL __kernel void
#endif
#define META_USER_RESULTS_PARAMETERS , __global void *partials, __local void *scratch
#define META_USER_ARRAY(k)           __global void *operand##k
#define META_USER_WORD(k)            const meta_u64 word##k

#define META_USER_SUM(a, b) ((a) + (b))
#define META_USER_MIN(a, b) META_K_LEAST(a, b)
#define META_USER_MAX(a, b) META_K_MOST(a, b)
#define META_USER_PARTIAL(A, n)                                                                    \
    ((__global A *)((__global char *)partials + 8 * (n)*META_USER_PARTIALS))[                      \
        get_group_id(1) * get_num_groups(0) + get_group_id(0)]
#ifdef META_CPU
#define META_USER_COMBINE(A, n, result, COMBINE) META_USER_PARTIAL(A, n) = result
#else
#define META_USER_COMBINE(A, n, result, COMBINE)                                                   \
    do {                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE); /* the result before has been read */                        \
        META_TREE(A, result, COMBINE, META_USER_PARTIAL(A, n));                                    \
    } while (0)
#endif
