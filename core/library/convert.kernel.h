/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion from each arithmetic type to T, with a result for every number: see meta_convert(). */
#define META_KERNEL_TYPES                                                                          \
    (META_KERNEL_F64 | META_KERNEL_F32 | META_KERNEL_I64 | META_KERNEL_U64 | META_KERNEL_I32 |     \
     META_KERNEL_U32)
#define META_KERNEL_FILE "convert.kernel.h"
#include <meta_kernel.h>

/* The limits of an integer T: of LIMIT the first number above the range, a power of two, and of
 * LOWEST the least number in it. Floats hold both exactly. */
#define IS_FLOATING ((T)0.5f > (T)0)
#define IS_UNSIGNED ((T)-1 > (T)0)
#define LOWEST      (IS_UNSIGNED ? 0.0f : sizeof(T) == 8 ? -9223372036854775808.0f : -2147483648.0f)
#define LIMIT                                                                                      \
    (IS_UNSIGNED ? (sizeof(T) == 8 ? 18446744073709551616.0f : 4294967296.0f)                      \
                 : (sizeof(T) == 8 ? 9223372036854775808.0f : 2147483648.0f))
#define FROM_FLOATING(x)                                                                           \
    (IS_FLOATING      ? (T)(x)                                                                     \
     : (x) >= LIMIT   ? (T)((T)-1 - (T)LOWEST)                                                     \
     : (x) <= LOWEST  ? (T)LOWEST                                                                  \
     : (x) == (x)     ? (T)(x)                                                                     \
                      : (T)0)

#define meta_convert_f64_ARGS(A) A(OUT, T, to) A(IN, double, from, CELL)
META_CELLS(meta_convert_f64)
{
    const double x = AT1(from, 0);
    AT1(to, 0) = FROM_FLOATING(x);
}

#define meta_convert_f32_ARGS(A) A(OUT, T, to) A(IN, float, from, CELL)
META_CELLS(meta_convert_f32)
{
    const float x = AT1(from, 0);
    AT1(to, 0) = FROM_FLOATING(x);
}

#define meta_convert_i64_ARGS(A) A(OUT, T, to) A(IN, int64_t, from, CELL)
META_CELLS(meta_convert_i64)
{
    AT1(to, 0) = (T)AT1(from, 0);
}

#define meta_convert_u64_ARGS(A) A(OUT, T, to) A(IN, uint64_t, from, CELL)
META_CELLS(meta_convert_u64)
{
    AT1(to, 0) = (T)AT1(from, 0);
}

#define meta_convert_i32_ARGS(A) A(OUT, T, to) A(IN, int32_t, from, CELL)
META_CELLS(meta_convert_i32)
{
    AT1(to, 0) = (T)AT1(from, 0);
}

#define meta_convert_u32_ARGS(A) A(OUT, T, to) A(IN, uint32_t, from, CELL)
META_CELLS(meta_convert_u32)
{
    AT1(to, 0) = (T)AT1(from, 0);
}

#undef IS_FLOATING
#undef IS_UNSIGNED
#undef LOWEST
#undef LIMIT
#undef FROM_FLOATING
#include META_AGAIN
