/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_ops_float.c
 *  Floating-point instructions. Those of f32 return one NaN, 0x7fffffff, as the manual says; those
 * of f64 return what the processor does, which keeps NaNs as the manual wants it. */
#include "ptx_code.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static inline uint32_t bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline uint64_t bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float of_bits_f32(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline double of_bits_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define NAN_f32  of_bits_f32(0x7fffffff)
#define NAN_f64  of_bits_f64(0xfff8000000000000)
#define SIGN_f32 ((uint32_t)1 << 31)
#define SIGN_f64 ((uint64_t)1 << 63)

static inline float result_f32(float x)
{
    return x == x ? x : NAN_f32;
}
static inline double result_f64(double x)
{
    return x;
}

#define BINARY(name, D, T, value) PTX_BINARY(name, D, T, T, value)
#define TERNARY(name, T, value)   PTX_TERNARY(name, T, T, T, T, value)

/* min(-0, +0) is -0 and max(-0, +0) is +0: combine the sign bits of equal operands. */
#define LESSER(t, T)                                                                               \
    static inline T lesser_##t(T a, T b)                                                           \
    {                                                                                              \
        const T same = of_bits_##t(bits_##t(a) | bits_##t(b));                                     \
        const T least = a < b ? a : b < a ? b : same;                                              \
        return a != a ? b != b ? NAN_##t : b : b != b ? a : least;                                 \
    }                                                                                              \
    static inline T greater_##t(T a, T b)                                                          \
    {                                                                                              \
        const T same = of_bits_##t(bits_##t(a) & bits_##t(b));                                     \
        const T most = a > b ? a : b > a ? b : same;                                               \
        return a != a ? b != b ? NAN_##t : b : b != b ? a : most;                                  \
    }
LESSER(f32, float)
LESSER(f64, double)

#define ARITHMETIC(t, T, suffix)                                                                   \
    BINARY(add_##t, T, T, result_##t(a + b))                                                       \
    BINARY(sub_##t, T, T, result_##t(a - b))                                                       \
    BINARY(mul_##t, T, T, result_##t(a *b))                                                        \
    BINARY(div_##t, T, T, result_##t(a / b))                                                       \
    TERNARY(fma_##t, T, result_##t(__builtin_fma##suffix(a, b, e)))                                \
    PTX_UNARY(sqrt_##t, T, T, result_##t(__builtin_sqrt##suffix(a)))                               \
    PTX_UNARY(rcp_##t, T, T, result_##t((T)1 / a))                                                 \
    BINARY(min_##t, T, T, lesser_##t(a, b))                                                        \
    BINARY(max_##t, T, T, greater_##t(a, b))                                                       \
    PTX_UNARY(neg_##t, T, T, of_bits_##t(bits_##t(a) ^ SIGN_##t))                                  \
    PTX_UNARY(abs_##t, T, T, of_bits_##t(bits_##t(a) & ~SIGN_##t))                                 \
    BINARY(copysign_##t, T, T, of_bits_##t((bits_##t(b) & ~SIGN_##t) | (bits_##t(a) & SIGN_##t)))  \
    PTX_UNARY(saturate_##t, T, T, a > 0 ? a < 1 ? a : (T)1 : (T)0)                                 \
    PTX_UNARY(rni_##t, T, T, result_##t(__builtin_rint##suffix(a)))                                \
    PTX_UNARY(rzi_##t, T, T, result_##t(__builtin_trunc##suffix(a)))                               \
    PTX_UNARY(rmi_##t, T, T, result_##t(__builtin_floor##suffix(a)))                               \
    PTX_UNARY(rpi_##t, T, T, result_##t(__builtin_ceil##suffix(a)))                                \
    BINARY(eq_##t, uint8_t, T, a == b)                                                             \
    BINARY(ne_##t, uint8_t, T, (a < b) | (a > b))                                                  \
    BINARY(lt_##t, uint8_t, T, a < b)                                                              \
    BINARY(le_##t, uint8_t, T, a <= b)                                                             \
    BINARY(gt_##t, uint8_t, T, a > b)                                                              \
    BINARY(ge_##t, uint8_t, T, a >= b)                                                             \
    BINARY(equ_##t, uint8_t, T, !((a < b) | (a > b)))                                              \
    BINARY(neu_##t, uint8_t, T, a != b)                                                            \
    BINARY(ltu_##t, uint8_t, T, !(a >= b))                                                         \
    BINARY(leu_##t, uint8_t, T, !(a > b))                                                          \
    BINARY(gtu_##t, uint8_t, T, !(a <= b))                                                         \
    BINARY(geu_##t, uint8_t, T, !(a < b))                                                          \
    BINARY(num_##t, uint8_t, T, (a == a) & (b == b))                                               \
    BINARY(nan_##t, uint8_t, T, (a != a) | (b != b))                                               \
    PTX_UNARY(finite_##t, uint8_t, T, a - a == 0)                                                  \
    PTX_UNARY(infinite_##t, uint8_t, T, (a == a) & (a - a != 0))                                   \
    PTX_UNARY(number_##t, uint8_t, T, a == a)                                                      \
    PTX_UNARY(notanumber_##t, uint8_t, T, a != a)                                                  \
    PTX_UNARY(normal_##t, uint8_t, T, isnormal(a) != 0)                                            \
    PTX_UNARY(subnormal_##t, uint8_t, T, fpclassify(a) == FP_SUBNORMAL)
ARITHMETIC(f32, float, f)
ARITHMETIC(f64, double, )
BINARY(minnan_f32, float, float, a != a || b != b ? NAN_f32 : lesser_f32(a, b))
BINARY(maxnan_f32, float, float, a != a || b != b ? NAN_f32 : greater_f32(a, b))

static inline float flushed_f32(float x)
{
    return bits_f32(x) & 0x7f800000 ? x : of_bits_f32(bits_f32(x) & SIGN_f32);
}
static inline double flushed_f64(double x)
{
    return bits_f64(x) & 0x7ff0000000000000 ? x : of_bits_f64(bits_f64(x) & SIGN_f64);
}
PTX_UNARY(flush_f32, float, float, flushed_f32(a))

/* Approximations: the manual bounds their errors, and these are better than that. */
#define APPROXIMATE(name, value)                                                                   \
    static void name(const ptx_ins *in, ptx_context *c)                                            \
    {                                                                                              \
        float *d = PTX_ROW(in, c, 0);                                                              \
        const float *row_a = PTX_ROW(in, c, 1);                                                    \
        PTX_EACH_EXACTLY(c, i, const double a = (double)row_a[i];                                  \
                         d[i] = result_f32((float)(value));)                                       \
    }
APPROXIMATE(rsqrt_f32, 1 / sqrt(a))
APPROXIMATE(ex2_f32, exp2(a))
APPROXIMATE(lg2_f32, log2(a))
APPROXIMATE(sin_f32, sin(a))
APPROXIMATE(cos_f32, cos(a))
APPROXIMATE(tanh_f32, tanh(a))

PTX_UNARY(rsqrt_f64, double, double, 1 / sqrt(a))

/* With .ftz the low half of an approximate f64 is 0, and subnormal numbers are, on both sides. */
static inline double rough(double x)
{
    return flushed_f64(of_bits_f64(bits_f64(x) & ~(uint64_t)0xffffffff));
}
PTX_UNARY(rcp_rough_f64, double, double, rough(1 / flushed_f64(a)))
PTX_UNARY(rsqrt_rough_f64, double, double, rough(1 / sqrt(flushed_f64(a))))

void ptx_directed(const ptx_ins *in, ptx_context *c)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(modes[in->aux]);
    in->plain(in, c);
    fesetround(FE_TONEAREST);
}

#define BOTH(f)                                                                                    \
    {                                                                                              \
        [PTX_F32] = f##_f32, [PTX_F64] = f##_f64                                                   \
    }
#define SINGLE(f)                                                                                  \
    {                                                                                              \
        [PTX_F32] = f##_f32                                                                        \
    }

const ptx_op ptx_ops_float[] = {{"add", "ttt", BOTH(add)},
                                {"sub", "ttt", BOTH(sub)},
                                {"mul", "ttt", BOTH(mul)},
                                {"fma", "tttt", BOTH(fma)},
                                {"mad", "tttt", BOTH(fma)},
                                {"div", "ttt", BOTH(div)},
                                {"div.full", "ttt", SINGLE(div)},
                                {"div.approx", "ttt", SINGLE(div)},
                                {"sqrt", "tt", BOTH(sqrt)},
                                {"sqrt.approx", "tt", SINGLE(sqrt)},
                                {"rcp", "tt", BOTH(rcp)},
                                {"rcp.approx", "tt", SINGLE(rcp)},
                                {"rcp.approx.ftz", "tt", {[PTX_F64] = rcp_rough_f64}},
                                {"rsqrt.approx", "tt", BOTH(rsqrt)},
                                {"rsqrt.approx.ftz", "tt", {[PTX_F64] = rsqrt_rough_f64}},
                                {"ex2.approx", "tt", SINGLE(ex2)},
                                {"lg2.approx", "tt", SINGLE(lg2)},
                                {"sin.approx", "tt", SINGLE(sin)},
                                {"cos.approx", "tt", SINGLE(cos)},
                                {"tanh.approx", "tt", SINGLE(tanh)},
                                {"min", "ttt", BOTH(min)},
                                {"max", "ttt", BOTH(max)},
                                {"min.NaN", "ttt", SINGLE(minnan)},
                                {"max.NaN", "ttt", SINGLE(maxnan)},
                                {"neg", "tt", BOTH(neg)},
                                {"abs", "tt", BOTH(abs)},
                                {"copysign", "ttt", BOTH(copysign)},
                                {"saturate", "tt", BOTH(saturate)},
                                {"flush", "tt", SINGLE(flush)},
                                {"rni", "tt", BOTH(rni)},
                                {"rzi", "tt", BOTH(rzi)},
                                {"rmi", "tt", BOTH(rmi)},
                                {"rpi", "tt", BOTH(rpi)},
                                {"testp.finite", "pt", BOTH(finite)},
                                {"testp.infinite", "pt", BOTH(infinite)},
                                {"testp.number", "pt", BOTH(number)},
                                {"testp.notanumber", "pt", BOTH(notanumber)},
                                {"testp.normal", "pt", BOTH(normal)},
                                {"testp.subnormal", "pt", BOTH(subnormal)},
                                {"setp.eq", "ptt", BOTH(eq)},
                                {"setp.ne", "ptt", BOTH(ne)},
                                {"setp.lt", "ptt", BOTH(lt)},
                                {"setp.le", "ptt", BOTH(le)},
                                {"setp.gt", "ptt", BOTH(gt)},
                                {"setp.ge", "ptt", BOTH(ge)},
                                {"setp.equ", "ptt", BOTH(equ)},
                                {"setp.neu", "ptt", BOTH(neu)},
                                {"setp.ltu", "ptt", BOTH(ltu)},
                                {"setp.leu", "ptt", BOTH(leu)},
                                {"setp.gtu", "ptt", BOTH(gtu)},
                                {"setp.geu", "ptt", BOTH(geu)},
                                {"setp.num", "ptt", BOTH(num)},
                                {"setp.nan", "ptt", BOTH(nan)},
                                {0}};
