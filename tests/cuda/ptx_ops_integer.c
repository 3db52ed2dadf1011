/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_ops_integer.c
 *  Instructions on integers, bits and predicates, and the choice between two values. */
#include "ptx_code.h"

typedef __int128 s128;
typedef unsigned __int128 u128;

/* Wide: of at least 32 bits, unsigned, so that nothing overflows. */
#define UNSIGNED_TYPES(F, ...)                                                                     \
    F(u16, uint16_t, uint32_t, ##__VA_ARGS__)                                                      \
    F(u32, uint32_t, uint32_t, ##__VA_ARGS__)                                                      \
    F(u64, uint64_t, uint64_t, ##__VA_ARGS__)

#define WRAPPING(t, T, W)                                                                          \
    PTX_BINARY(add_##t, T, T, T, (W)a + b)                                                         \
    PTX_BINARY(sub_##t, T, T, T, (W)a - b)                                                         \
    PTX_BINARY(mul_##t, T, T, T, (W)a *b)                                                          \
    PTX_BINARY(and_##t, T, T, T, a &b)                                                             \
    PTX_BINARY(or_##t, T, T, T, a | b)                                                             \
    PTX_BINARY(xor_##t, T, T, T, a ^ b)                                                            \
    PTX_UNARY(not_##t, T, T, ~(W)a)                                                                \
    PTX_UNARY(cnot_##t, T, T, a == 0)                                                              \
    PTX_UNARY(neg_##t, T, T, (W)0 - a)                                                             \
    PTX_TERNARY(mad_##t, T, T, T, T, (W)a *b + e)                                                  \
    PTX_BINARY(shl_##t, T, T, uint32_t, b < 8 * sizeof(T) ? (W)a << (b & (8 * sizeof(T) - 1)) : 0) \
    PTX_BINARY(shr_##t, T, T, uint32_t, b < 8 * sizeof(T) ? (W)a >> (b & (8 * sizeof(T) - 1)) : 0) \
    PTX_BINARY(div_##t, T, T, T, b ? a / (b ? b : (T)1) : (T) ~(W)0)                               \
    PTX_BINARY(rem_##t, T, T, T, b ? a % (b ? b : (T)1) : a)                                       \
    PTX_TERNARY(selp_##t, T, T, T, uint8_t, e ? a : b)
UNSIGNED_TYPES(WRAPPING)

PTX_BINARY(and_pred, uint8_t, uint8_t, uint8_t, a &b)
PTX_BINARY(or_pred, uint8_t, uint8_t, uint8_t, a | b)
PTX_BINARY(xor_pred, uint8_t, uint8_t, uint8_t, a ^ b)
PTX_UNARY(not_pred, uint8_t, uint8_t, !a)
PTX_UNARY(mov_u8, uint8_t, uint8_t, a)
PTX_UNARY(mov_u16, uint16_t, uint16_t, a)
PTX_UNARY(mov_u32, uint32_t, uint32_t, a)
PTX_UNARY(mov_u64, uint64_t, uint64_t, a)

/* The manual leaves division by 0 open. The quotient is all ones, as GPUs compute it. */
#define SIGNED(t, T, U, W)                                                                         \
    PTX_BINARY(div_##t, T, T, T,                                                                   \
               b == 0    ? (T)-1                                                                   \
               : b == -1 ? (T)((W)0 - (W)(U)a)                                                     \
                         : a / (b ? b : (T)1))                                                     \
    PTX_BINARY(rem_##t, T, T, T, b == 0 ? a : b == -1 ? (T)0 : a % (b ? b : (T)1))                 \
    PTX_BINARY(shr_##t, T, T, uint32_t, a >> (b < 8 * sizeof(T) ? b : 8 * sizeof(T) - 1))          \
    PTX_UNARY(abs_##t, U, T, a < 0 ? (W)0 - (W)(U)a : (W)(U)a)
SIGNED(s16, int16_t, uint16_t, uint32_t)
SIGNED(s32, int32_t, uint32_t, uint32_t)
SIGNED(s64, int64_t, uint64_t, uint64_t)

/* W: of twice the width, of the same sign. */
#define ORDERED(t, T, U, W)                                                                        \
    PTX_BINARY(min_##t, T, T, T, a < b ? a : b)                                                    \
    PTX_BINARY(max_##t, T, T, T, a > b ? a : b)                                                    \
    PTX_BINARY(mulhi_##t, T, T, T, (W)a *b >> 8 * sizeof(T))                                       \
    PTX_TERNARY(madhi_##t, U, T, T, U, (U)((W)a * b >> 8 * sizeof(T)) + (uint64_t)e)               \
    PTX_BINARY(lt_##t, uint8_t, T, T, a < b)                                                       \
    PTX_BINARY(le_##t, uint8_t, T, T, a <= b)                                                      \
    PTX_BINARY(gt_##t, uint8_t, T, T, a > b)                                                       \
    PTX_BINARY(ge_##t, uint8_t, T, T, a >= b)
ORDERED(u16, uint16_t, uint16_t, uint32_t)
ORDERED(s16, int16_t, uint16_t, int32_t)
ORDERED(u32, uint32_t, uint32_t, uint64_t)
ORDERED(s32, int32_t, uint32_t, int64_t)
ORDERED(u64, uint64_t, uint64_t, u128)
ORDERED(s64, int64_t, uint64_t, s128)

#define EQUAL(t, T, W)                                                                             \
    PTX_BINARY(eq_##t, uint8_t, T, T, a == b)                                                      \
    PTX_BINARY(ne_##t, uint8_t, T, T, a != b)
UNSIGNED_TYPES(EQUAL)

#define WIDE(t, T, W, U)                                                                           \
    PTX_BINARY(mulwide_##t, W, T, T, (W)a *b)                                                      \
    PTX_TERNARY(madwide_##t, U, T, T, U, (U)((W)a * b) + e)
WIDE(u16, uint16_t, uint32_t, uint32_t)
WIDE(s16, int16_t, int32_t, uint32_t)
WIDE(u32, uint32_t, uint64_t, uint64_t)
WIDE(s32, int32_t, int64_t, uint64_t)

static inline int32_t saturated(int64_t x)
{
    return (int32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}
PTX_BINARY(addsat_s32, int32_t, int32_t, int32_t, saturated((int64_t)a + b))
PTX_BINARY(subsat_s32, int32_t, int32_t, int32_t, saturated((int64_t)a - b))

/* Carries: outputs are the sum and the carry, inputs two numbers and the carry. */
#define CARRY(t, T, W, value)                                                                      \
    PTX_CLONES static void t(const ptx_ins *in, ptx_context *c)                                    \
    {                                                                                              \
        T *d = PTX_ROW(in, c, 0);                                                                  \
        uint8_t *carry = PTX_ROW(in, c, 1);                                                        \
        const T *a = PTX_ROW(in, c, 2), *b = PTX_ROW(in, c, 3);                                    \
        const uint8_t *e = PTX_ROW(in, c, 4);                                                      \
        PTX_EACH(c, i, const W x = (value); d[i] = (T)x;                                           \
                 carry[i] = (uint8_t)(x >> 8 * sizeof(T) & 1);)                                    \
    }
CARRY(addc_u32, uint32_t, uint64_t, (uint64_t)a[i] + b[i] + e[i])
CARRY(addc_u64, uint64_t, u128, (u128)a[i] + b[i] + e[i])
CARRY(subc_u32, uint32_t, uint64_t, (uint64_t)a[i] - b[i] - e[i])
CARRY(subc_u64, uint64_t, u128, (u128)a[i] - b[i] - e[i])

/* ------------------------------------------------------------------ bits */

#define COUNTING(t, T, BITS, popcount, leading)                                                    \
    PTX_UNARY(popc_##t, uint32_t, T, popcount(a))                                                  \
    PTX_UNARY(clz_##t, uint32_t, T, a ? leading(a) : BITS)                                         \
    PTX_UNARY(bfind_##t, uint32_t, T, a ? BITS - 1 - leading(a) : -1)                              \
    PTX_UNARY(shiftamt_##t, uint32_t, T, a ? leading(a) : -1)                                      \
    PTX_UNARY(bfind_s##BITS, uint32_t, int##BITS##_t,                                              \
              a ^ a >> (BITS - 1) ? BITS - 1 - leading((T)(a ^ a >> (BITS - 1))) : -1)             \
    PTX_UNARY(shiftamt_s##BITS, uint32_t, int##BITS##_t,                                           \
              a ^ a >> (BITS - 1) ? leading((T)(a ^ a >> (BITS - 1))) : -1)
COUNTING(u32, uint32_t, 32, __builtin_popcount, __builtin_clz)
COUNTING(u64, uint64_t, 64, __builtin_popcountll, __builtin_clzll)

static inline uint64_t reversed(uint64_t x)
{
    x = x >> 32 | x << 32;
    x = (x >> 16 & 0x0000ffff0000ffff) | (x & 0x0000ffff0000ffff) << 16;
    x = (x >> 8 & 0x00ff00ff00ff00ff) | (x & 0x00ff00ff00ff00ff) << 8;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    return (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
}
PTX_UNARY(brev_u32, uint32_t, uint32_t, reversed(a) >> 32)
PTX_UNARY(brev_u64, uint64_t, uint64_t, reversed(a))

/* The low bits of a mask of so many; all of them from 64 on. */
static inline uint64_t low_bits(uint32_t count)
{
    return count < 64 ? ((uint64_t)1 << count) - 1 : ~(uint64_t)0;
}

static inline uint64_t field(uint64_t a, uint32_t at, uint32_t count, uint32_t bits, bool sign)
{
    const uint32_t from = at & 255, most = count & 255, last = from + most - 1;
    const uint64_t found = from < bits ? a >> from & low_bits(most) : 0;
    const uint64_t top = last < bits ? last : bits - 1;
    /* Beyond what there is the sign goes on, which is the field's last bit, or the number's. */
    const uint32_t have = from >= bits ? 0 : most < bits - from ? most : bits - from;
    const bool negative = sign && most > 0 && (a >> top & 1);
    return negative ? found | ~low_bits(have) : found;
}
PTX_TERNARY(bfe_u32, uint32_t, uint32_t, uint32_t, uint32_t, field(a, b, e, 32, false))
PTX_TERNARY(bfe_s32, uint32_t, uint32_t, uint32_t, uint32_t, field(a, b, e, 32, true))
PTX_TERNARY(bfe_u64, uint64_t, uint64_t, uint32_t, uint32_t, field(a, b, e, 64, false))
PTX_TERNARY(bfe_s64, uint64_t, uint64_t, uint32_t, uint32_t, field(a, b, e, 64, true))

static inline uint64_t inserted(uint64_t a, uint64_t b, uint32_t at, uint32_t count, uint32_t bits)
{
    const uint32_t from = at & 255;
    const uint64_t mask = from < bits ? low_bits(count & 255) << (from & 63) : 0;
    return (b & ~mask) | (a << (from & 63) & mask);
}
#define INSERT(t, T, BITS)                                                                         \
    PTX_CLONES static void bfi_##t(const ptx_ins *in, ptx_context *c)                              \
    {                                                                                              \
        T *d = PTX_ROW(in, c, 0);                                                                  \
        const T *a = PTX_ROW(in, c, 1), *b = PTX_ROW(in, c, 2);                                    \
        const uint32_t *at = PTX_ROW(in, c, 3), *count = PTX_ROW(in, c, 4);                        \
        PTX_EACH(c, i, d[i] = (T)inserted(a[i], b[i], at[i], count[i], BITS);)                     \
    }
INSERT(u32, uint32_t, 32)
INSERT(u64, uint64_t, 64)

static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t value = 0;
    for (uint32_t k = 0; k < 4; ++k) {
        const uint32_t nibble = selector >> (4 * k) & 15;
        const uint32_t byte = (uint32_t)(bytes >> (8 * (nibble & 7))) & 255;
        value |= (nibble & 8 ? byte & 128 ? 255 : 0 : byte) << (8 * k);
    }
    return value;
}
PTX_TERNARY(prmt_u32, uint32_t, uint32_t, uint32_t, uint32_t, permuted(a, b, e))

/* Of the funnel b:a. */
static inline uint64_t funnel(uint32_t a, uint32_t b)
{
    return (uint64_t)b << 32 | a;
}
PTX_TERNARY(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a, b) << (e & 31) >> 32)
PTX_TERNARY(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a, b) >> (e & 31))
PTX_TERNARY(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t,
            funnel(a, b) << (e < 32 ? e : 32) >> 32)
PTX_TERNARY(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, funnel(a, b) >> (e < 32 ? e : 32))

/* aux: the truth table. */
PTX_CLONES static void lop3_u32(const ptx_ins *in, ptx_context *c)
{
    uint32_t *d = PTX_ROW(in, c, 0), mask[8];
    const uint32_t *row_a = PTX_ROW(in, c, 1), *row_b = PTX_ROW(in, c, 2),
                   *row_e = PTX_ROW(in, c, 3);
    for (int k = 0; k < 8; ++k) mask[k] = in->aux >> k & 1 ? ~(uint32_t)0 : 0;
    PTX_EACH(c, i, const uint32_t a = row_a[i]; const uint32_t b = row_b[i];
             const uint32_t e = row_e[i];
             d[i] = (~a & ~b & ~e & mask[0]) | (~a & ~b & e & mask[1]) | (~a & b & ~e & mask[2]) |
                    (~a & b & e & mask[3]) | (a & ~b & ~e & mask[4]) | (a & ~b & e & mask[5]) |
                    (a & b & ~e & mask[6]) | (a & b & e & mask[7]);)
}

PTX_TERNARY(slct_u16, uint16_t, uint16_t, uint16_t, int32_t, e >= 0 ? a : b)
PTX_TERNARY(slct_u32, uint32_t, uint32_t, uint32_t, int32_t, e >= 0 ? a : b)
PTX_TERNARY(slct_u64, uint64_t, uint64_t, uint64_t, int32_t, e >= 0 ? a : b)
PTX_TERNARY(slctf_u16, uint16_t, uint16_t, uint16_t, float, e >= 0 ? a : b)
PTX_TERNARY(slctf_u32, uint32_t, uint32_t, uint32_t, float, e >= 0 ? a : b)
PTX_TERNARY(slctf_u64, uint64_t, uint64_t, uint64_t, float, e >= 0 ? a : b)
PTX_TERNARY(selp_u8, uint8_t, uint8_t, uint8_t, uint8_t, e ? a : b)

/* ------------------------------------------------------------------ names */

#define SAME(f)                                                                                    \
    {                                                                                              \
        [PTX_U16] = f##_u16, [PTX_S16] = f##_u16, [PTX_U32] = f##_u32, [PTX_S32] = f##_u32,        \
        [PTX_U64] = f##_u64, [PTX_S64] = f##_u64                                                   \
    }
#define BY_SIGN(f)                                                                                 \
    {                                                                                              \
        [PTX_U16] = f##_u16, [PTX_S16] = f##_s16, [PTX_U32] = f##_u32, [PTX_S32] = f##_s32,        \
        [PTX_U64] = f##_u64, [PTX_S64] = f##_s64                                                   \
    }
#define BITS(f)                                                                                    \
    {                                                                                              \
        [PTX_U32] = f##_u32, [PTX_U64] = f##_u64                                                   \
    }
#define BITWISE(f)                                                                                 \
    {                                                                                              \
        [PTX_U16] = f##_u16, [PTX_U32] = f##_u32, [PTX_U64] = f##_u64, [PTX_PRED] = f##_pred       \
    }
#define NARROW(f)                                                                                  \
    {                                                                                              \
        [PTX_U16] = f##_u16, [PTX_S16] = f##_s16, [PTX_U32] = f##_u32, [PTX_S32] = f##_s32         \
    }
#define BY_WIDTH(f)                                                                                \
    {                                                                                              \
        [PTX_U16] = f##_u16, [PTX_S16] = f##_u16, [PTX_U32] = f##_u32, [PTX_S32] = f##_u32,        \
        [PTX_U64] = f##_u64, [PTX_S64] = f##_u64, [PTX_F32] = f##_u32, [PTX_F64] = f##_u64         \
    }
#define FOUND(f)                                                                                   \
    {                                                                                              \
        [PTX_U32] = f##_u32, [PTX_S32] = f##_s32, [PTX_U64] = f##_u64, [PTX_S64] = f##_s64         \
    }

const ptx_op ptx_ops_integer[] = {
    {"add", "ttt", SAME(add)},
    {"sub", "ttt", SAME(sub)},
    {"add.sat", "ttt", {[PTX_S32] = addsat_s32}},
    {"sub.sat", "ttt", {[PTX_S32] = subsat_s32}},
    {"addc",
     "tpttp",
     {[PTX_U32] = addc_u32, [PTX_S32] = addc_u32, [PTX_U64] = addc_u64, [PTX_S64] = addc_u64}},
    {"subc",
     "tpttp",
     {[PTX_U32] = subc_u32, [PTX_S32] = subc_u32, [PTX_U64] = subc_u64, [PTX_S64] = subc_u64}},
    {"mul.lo", "ttt", SAME(mul)},
    {"mul.hi", "ttt", BY_SIGN(mulhi)},
    {"mul.wide", "wtt", NARROW(mulwide)},
    {"mad.lo", "tttt", SAME(mad)},
    {"mad.hi", "tttt", BY_SIGN(madhi)},
    {"mad.wide", "wttw", NARROW(madwide)},
    {"div", "ttt", BY_SIGN(div)},
    {"rem", "ttt", BY_SIGN(rem)},
    {"neg", "tt", {[PTX_S16] = neg_u16, [PTX_S32] = neg_u32, [PTX_S64] = neg_u64}},
    {"abs", "tt", {[PTX_S16] = abs_s16, [PTX_S32] = abs_s32, [PTX_S64] = abs_s64}},
    {"min", "ttt", BY_SIGN(min)},
    {"max", "ttt", BY_SIGN(max)},
    {"and", "ttt", BITWISE(and)},
    {"or", "ttt", BITWISE(or)},
    {"xor", "ttt", BITWISE(xor)},
    {"not", "tt", BITWISE(not )},
    {"cnot", "tt", SAME(cnot)},
    {"shl", "ttu", SAME(shl)},
    {"shr", "ttu", BY_SIGN(shr)},
    {"popc", "ut", BITS(popc)},
    {"clz", "ut", BITS(clz)},
    {"brev", "tt", BITS(brev)},
    {"bfind", "ut", FOUND(bfind)},
    {"bfind.shiftamt", "ut", FOUND(shiftamt)},
    {"bfe", "ttuu", FOUND(bfe)},
    {"bfi", "tttuu", BITS(bfi)},
    {"prmt", "tttt", {[PTX_U32] = prmt_u32}},
    {"shf.l.wrap", "tttu", {[PTX_U32] = shf_l_wrap}},
    {"shf.r.wrap", "tttu", {[PTX_U32] = shf_r_wrap}},
    {"shf.l.clamp", "tttu", {[PTX_U32] = shf_l_clamp}},
    {"shf.r.clamp", "tttu", {[PTX_U32] = shf_r_clamp}},
    {"lop3", "tttt", {[PTX_U32] = lop3_u32}},
    {"selp",
     "tttp",
     {[PTX_U8] = selp_u8,
      [PTX_PRED] = selp_u8,
      [PTX_U16] = selp_u16,
      [PTX_S16] = selp_u16,
      [PTX_U32] = selp_u32,
      [PTX_S32] = selp_u32,
      [PTX_U64] = selp_u64,
      [PTX_S64] = selp_u64,
      [PTX_F32] = selp_u32,
      [PTX_F64] = selp_u64}},
    {"slct.s32", "tttu", BY_WIDTH(slct)},
    {"slct.f32", "tttf", BY_WIDTH(slctf)},
    {"mov",
     "tt",
     {[PTX_U8] = mov_u8,
      [PTX_S8] = mov_u8,
      [PTX_PRED] = mov_u8,
      [PTX_U16] = mov_u16,
      [PTX_S16] = mov_u16,
      [PTX_U32] = mov_u32,
      [PTX_S32] = mov_u32,
      [PTX_U64] = mov_u64,
      [PTX_S64] = mov_u64,
      [PTX_F32] = mov_u32,
      [PTX_F64] = mov_u64}},
    {"setp.eq", "ptt", SAME(eq)},
    {"setp.ne", "ptt", SAME(ne)},
    {"setp.lt", "ptt", BY_SIGN(lt)},
    {"setp.le", "ptt", BY_SIGN(le)},
    {"setp.gt", "ptt", BY_SIGN(gt)},
    {"setp.ge", "ptt", BY_SIGN(ge)},
    {"setp.lo", "ptt", {[PTX_U16] = lt_u16, [PTX_U32] = lt_u32, [PTX_U64] = lt_u64}},
    {"setp.ls", "ptt", {[PTX_U16] = le_u16, [PTX_U32] = le_u32, [PTX_U64] = le_u64}},
    {"setp.hi", "ptt", {[PTX_U16] = gt_u16, [PTX_U32] = gt_u32, [PTX_U64] = gt_u64}},
    {"setp.hs", "ptt", {[PTX_U16] = ge_u16, [PTX_U32] = ge_u32, [PTX_U64] = ge_u64}},
    {0}};
