/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_ops_convert.c
 *  Conversions between types. Numbers to be converted to integers are integral already. */
#include "ptx_code.h"

#include <math.h>
#include <string.h>

#define CONVERT(to, D, from, S, value)                                                             \
    PTX_CLONES static void to##_##from(const ptx_ins *in, ptx_context *c)                          \
    {                                                                                              \
        D *d = PTX_ROW(in, c, 0);                                                                  \
        const S *row = PTX_ROW(in, c, 1);                                                          \
        PTX_EACH(c, i, const S a = row[i]; d[i] = (D)(value);)                                     \
    }

/* ------------------------------------------------------------------ integers */

#define TO_INTEGERS(from, S)                                                                       \
    CONVERT(u8, uint8_t, from, S, a)                                                               \
    CONVERT(u16, uint16_t, from, S, a)                                                             \
    CONVERT(u32, uint32_t, from, S, a)                                                             \
    CONVERT(u64, uint64_t, from, S, a)
TO_INTEGERS(u8, uint8_t)
TO_INTEGERS(s8, int8_t)
TO_INTEGERS(u16, uint16_t)
TO_INTEGERS(s16, int16_t)
TO_INTEGERS(u32, uint32_t)
TO_INTEGERS(s32, int32_t)
TO_INTEGERS(u64, uint64_t)
TO_INTEGERS(s64, int64_t)

/* ------------------------------------------------------------------ floats to integers */

/* A NaN becomes 0 where an f32 becomes at most 32 bits, and otherwise the value of which only the
 * highest bit is set. */
#define BETWEEN(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define WITHIN(x, low, above) ((x) >= (low) && (x) < (above) ? (x) : 0)
#define HIGHEST_32            0x80000000u
#define HIGHEST_64            0x8000000000000000u

static inline int32_t s32_of(double x)
{
    return (int32_t)BETWEEN(x, -0x1p31, 0x1p31 - 1);
}
static inline uint32_t u32_of(double x)
{
    return (uint32_t)BETWEEN(x, 0.0, 0x1p32 - 1);
}
static inline uint64_t s64_of(double x)
{
    const int64_t inside = (int64_t)WITHIN(x, -0x1p63, 0x1p63);
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? HIGHEST_64 : (uint64_t)inside;
}
static inline uint64_t u64_of(double x)
{
    const uint64_t inside = (uint64_t)WITHIN(x, 0.0, 0x1p64);
    return x >= 0x1p64 ? UINT64_MAX : inside;
}
#define TO_NARROW(to, D, low, high, highest)                                                       \
    CONVERT(to, D, f32, float, a == a ? (D)(int32_t)BETWEEN((double)a, low, high) : (D)0)          \
    CONVERT(to, D, f64, double, a == a ? (D)(int32_t)BETWEEN(a, low, high) : (D)highest)
TO_NARROW(u8, uint8_t, 0.0, 255.0, 0x80)
TO_NARROW(s8, uint8_t, -128.0, 127.0, 0x80)
TO_NARROW(u16, uint16_t, 0.0, 65535.0, 0x8000)
TO_NARROW(s16, uint16_t, -32768.0, 32767.0, 0x8000)
CONVERT(s32, uint32_t, f32, float, a == a ? (uint32_t)s32_of((double)a) : 0)
CONVERT(u32, uint32_t, f32, float, a == a ? u32_of((double)a) : 0)
CONVERT(s32, uint32_t, f64, double, a == a ? (uint32_t)s32_of(a) : HIGHEST_32)
CONVERT(u32, uint32_t, f64, double, a == a ? u32_of(a) : HIGHEST_32)
CONVERT(s64, uint64_t, f32, float, a == a ? s64_of((double)a) : HIGHEST_64)
CONVERT(u64, uint64_t, f32, float, a == a ? u64_of((double)a) : HIGHEST_64)
CONVERT(s64, uint64_t, f64, double, a == a ? s64_of(a) : HIGHEST_64)
CONVERT(u64, uint64_t, f64, double, a == a ? u64_of(a) : HIGHEST_64)

/* ------------------------------------------------------------------ integers and floats to floats
 */

static inline float canonical(float x)
{
    static const uint32_t bits = 0x7fffffff;
    float nan;
    memcpy(&nan, &bits, sizeof nan);
    return x == x ? x : nan;
}
CONVERT(f32, float, f64, double, canonical((float)a))
CONVERT(f64, double, f32, float, a)

/* The nearest number was found; move by one where that is on the wrong side. */
#define DIRECTED(t, F, next)                                                                       \
    static inline F directed_##t(__int128 exact, F nearest, uint32_t rounding)                     \
    {                                                                                              \
        const __int128 found = (__int128)nearest;                                                  \
        const bool down = rounding == PTX_DOWN || (rounding == PTX_TO_ZERO && exact > 0);          \
        const bool up = rounding == PTX_UP || (rounding == PTX_TO_ZERO && exact < 0);              \
        if (found > exact && down) return next(nearest, (F)-INFINITY);                             \
        if (found < exact && up) return next(nearest, (F)INFINITY);                                \
        return nearest;                                                                            \
    }
DIRECTED(f32, float, nextafterf)
DIRECTED(f64, double, nextafter)

#define TO_FLOAT(t, F, from, S)                                                                    \
    CONVERT(t, F, from, S, a)                                                                      \
    static void t##_directed_##from(const ptx_ins *in, ptx_context *c)                             \
    {                                                                                              \
        F *d = PTX_ROW(in, c, 0);                                                                  \
        const S *a = PTX_ROW(in, c, 1);                                                            \
        PTX_EACH(c, i, d[i] = directed_##t(a[i], (F)a[i], in->aux);)                               \
    }
#define TO_FLOATS(from, S)                                                                         \
    TO_FLOAT(f32, float, from, S)                                                                  \
    TO_FLOAT(f64, double, from, S)
TO_FLOATS(u32, uint32_t)
TO_FLOATS(s32, int32_t)
TO_FLOATS(u64, uint64_t)
TO_FLOATS(s64, int64_t)

/* ------------------------------------------------------------------ by types */

#define OF_ALL(u, to)                                                                              \
    {                                                                                              \
        [PTX_U8] = u##_u8, [PTX_S8] = u##_s8, [PTX_U16] = u##_u16, [PTX_S16] = u##_s16,            \
        [PTX_U32] = u##_u32, [PTX_S32] = u##_s32, [PTX_U64] = u##_u64, [PTX_S64] = u##_s64,        \
        [PTX_F32] = to##_f32, [PTX_F64] = to##_f64                                                 \
    }
#define OF_WORDS(to)                                                                               \
    [PTX_U32] = to##_u32, [PTX_S32] = to##_s32, [PTX_U64] = to##_u64, [PTX_S64] = to##_s64

ptx_handler *ptx_convert(ptx_type to, ptx_type from)
{
    static ptx_handler *const table[PTX_TYPES][PTX_TYPES] = {
        [PTX_U8] = OF_ALL(u8, u8),
        [PTX_S8] = OF_ALL(u8, s8),
        [PTX_U16] = OF_ALL(u16, u16),
        [PTX_S16] = OF_ALL(u16, s16),
        [PTX_U32] = OF_ALL(u32, u32),
        [PTX_S32] = OF_ALL(u32, s32),
        [PTX_U64] = OF_ALL(u64, u64),
        [PTX_S64] = OF_ALL(u64, s64),
        [PTX_F32] = {OF_WORDS(f32), [PTX_F64] = f32_f64},
        [PTX_F64] = {OF_WORDS(f64), [PTX_F32] = f64_f32}};
    return table[to][from];
}

const ptx_op ptx_ops_convert[] = {{"directed.f32", "ft", {OF_WORDS(f32_directed)}},
                                  {"directed.f64", "dt", {OF_WORDS(f64_directed)}},
                                  {0}};
