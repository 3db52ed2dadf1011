/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_ptx.c
 *  PTX on the CPU: each instruction's results are those of NVIDIA's manual, "Parallel Thread
 * Execution ISA". Values were written by its rules, or come from integer arithmetic with as many
 * bits as the exact result has. */
/* TEST: labels=core */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ptx_try.h"

#define CASES(...)                                                                                 \
    static const try_case cases[] = {__VA_ARGS__};                                                 \
    try_cases(cases, (int)(sizeof cases / sizeof *cases))
#define OP1(text, types, a, out)                                                                   \
    {                                                                                              \
        text " %x, %a;", types, {(uint64_t)(a)}, (uint64_t)(out)                                   \
    }
#define OP2(text, types, a, b, out)                                                                \
    {                                                                                              \
        text " %x, %a, %b;", types, {(uint64_t)(a), (uint64_t)(b)}, (uint64_t)(out)                \
    }
#define OP3(text, types, a, b, c, out)                                                             \
    {                                                                                              \
        text " %x, %a, %b, %c;", types, {(uint64_t)(a), (uint64_t)(b), (uint64_t)(c)},             \
            (uint64_t)(out)                                                                        \
    }
#define OP4(text, types, a, b, c, e, out)                                                          \
    {                                                                                              \
        text " %x, %a, %b, %c, %e;", types,                                                        \
            {(uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(e)}, (uint64_t)(out)          \
    }

#define MIN16 0x8000
#define MIN32 0x80000000
#define MIN64 0x8000000000000000
#define MAX32 0x7fffffff
#define MAX64 0x7fffffffffffffff
#define ALL32 0xffffffff
#define ALL64 0xffffffffffffffff

/* ------------------------------------------------------------------ integers */

static void integer_sums_and_products_wrap(void)
{
    CASES(OP2("add.u16", "hhh", 0xffff, 2, 1), OP2("add.s16", "hhh", 0x7fff, 1, MIN16),
          OP2("add.s32", "rrr", MAX32, 1, MIN32), OP2("add.u32", "rrr", ALL32, ALL32, 0xfffffffe),
          OP2("add.s64", "ddd", MAX64, 1, MIN64), OP2("add.u64", "ddd", ALL64, 1, 0),
          OP2("sub.u16", "hhh", 0, 1, 0xffff), OP2("sub.s32", "rrr", MIN32, 1, MAX32),
          OP2("sub.u64", "ddd", 0, 1, ALL64), OP2("sub.s64", "ddd", 5, 7, -2),
          OP2("mul.lo.u16", "hhh", 0xffff, 0xffff, 1), OP2("mul.lo.s16", "hhh", -3, 5, -15),
          OP2("mul.lo.s32", "rrr", 0x10001, 0x10001, 0x20001),
          OP2("mul.lo.u32", "rrr", ALL32, ALL32, 1),
          OP2("mul.lo.s64", "ddd", 0x100000001, 0x100000001, 0x200000001),
          OP2("mul.lo.u64", "ddd", ALL64, 7, -7), OP3("mad.lo.u16", "hhhh", 0x100, 0x100, 9, 9),
          OP3("mad.lo.s32", "rrrr", -3, 4, 5, -7),
          OP3("mad.lo.u32", "rrrr", 0x10000, 0x10000, 3, 3),
          OP3("mad.lo.s64", "dddd", -3, 4, 5, -7), OP1("neg.s16", "hh", MIN16, MIN16),
          OP1("neg.s32", "rr", 5, -5), OP1("neg.s32", "rr", MIN32, MIN32),
          OP1("neg.s64", "dd", 1, -1), OP1("abs.s16", "hh", -7, 7), OP1("abs.s32", "rr", -7, 7),
          OP1("abs.s32", "rr", MIN32, MIN32), OP1("abs.s64", "dd", MIN64, MIN64),
          OP1("abs.s64", "dd", 12, 12));
}

static void high_and_wide_products_are_exact(void)
{
    CASES(OP2("mul.hi.u16", "hhh", 0xffff, 0xffff, 0xfffe), OP2("mul.hi.s16", "hhh", -1, 1, -1),
          OP2("mul.hi.s16", "hhh", MIN16, MIN16, 0x4000),
          OP2("mul.hi.u32", "rrr", ALL32, ALL32, 0xfffffffe),
          OP2("mul.hi.s32", "rrr", MIN32, MIN32, 0x40000000), OP2("mul.hi.s32", "rrr", -1, 1, -1),
          OP2("mul.hi.u64", "ddd", ALL64, ALL64, 0xfffffffffffffffe),
          OP2("mul.hi.s64", "ddd", MIN64, MIN64, 0x4000000000000000),
          OP2("mul.hi.s64", "ddd", -1, 1, -1), OP2("mul.hi.s64", "ddd", MIN64, -1, 0),
          OP2("mul.wide.u16", "rhh", 0xffff, 0xffff, 0xfffe0001),
          OP2("mul.wide.s16", "rhh", MIN16, MIN16, 0x40000000),
          OP2("mul.wide.s16", "rhh", -2, 3, -6),
          OP2("mul.wide.u32", "drr", ALL32, ALL32, 0xfffffffe00000001),
          OP2("mul.wide.s32", "drr", MIN32, MIN32, 0x4000000000000000),
          OP2("mul.wide.s32", "drr", -2, 3, -6), OP3("mad.hi.u32", "rrrr", ALL32, ALL32, 5, 3),
          OP3("mad.hi.s32", "rrrr", -1, 1, 1, 0), OP3("mad.hi.u64", "dddd", ALL64, ALL64, 5, 3),
          OP3("mad.hi.s64", "dddd", MIN64, 2, 1, 0), OP3("mad.hi.s16", "hhhh", MIN16, 2, 3, 2),
          OP3("mad.hi.u16", "hhhh", MIN16, 2, 3, 4),
          OP3("mad.wide.u16", "rhhr", 0xffff, 0xffff, 0x20000, 0x1),
          OP3("mad.wide.s16", "rhhr", -1, 1, 1, 0),
          OP3("mad.wide.u32", "drrd", ALL32, ALL32, 0x1ffffffff, 0),
          OP3("mad.wide.s32", "drrd", -2, 3, 7, 1));
}

static void integer_division_truncates(void)
{
    CASES(OP2("div.u16", "hhh", 0xffff, 10, 6553), OP2("div.s16", "hhh", -7, 2, -3),
          OP2("div.s16", "hhh", MIN16, -1, MIN16), OP2("div.u32", "rrr", ALL32, 10, 429496729),
          OP2("div.s32", "rrr", -7, 2, -3), OP2("div.s32", "rrr", 7, -2, -3),
          OP2("div.s32", "rrr", MIN32, -1, MIN32),
          OP2("div.u64", "ddd", ALL64, 10, 1844674407370955161), OP2("div.s64", "ddd", -7, 2, -3),
          OP2("div.s64", "ddd", MIN64, -1, MIN64), OP2("rem.u16", "hhh", 0xffff, 10, 5),
          OP2("rem.s16", "hhh", -7, 2, -1), OP2("rem.u32", "rrr", ALL32, 10, 5),
          OP2("rem.s32", "rrr", -7, 2, -1), OP2("rem.s32", "rrr", 7, -2, 1),
          OP2("rem.s32", "rrr", MIN32, -1, 0), OP2("rem.u64", "ddd", ALL64, 10, 5),
          OP2("rem.s64", "ddd", -7, 2, -1), OP2("rem.s64", "ddd", MIN64, -1, 0));
}

static void saturated_sums_stop_at_the_limits(void)
{
    CASES(OP2("add.sat.s32", "rrr", MAX32, 1, MAX32), OP2("add.sat.s32", "rrr", MIN32, -1, MIN32),
          OP2("add.sat.s32", "rrr", 3, -5, -2), OP2("sub.sat.s32", "rrr", MIN32, 1, MIN32),
          OP2("sub.sat.s32", "rrr", 0, MIN32, MAX32), OP2("sub.sat.s32", "rrr", 3, 5, -2));
}

static void minimum_and_maximum_follow_the_sign(void)
{
    CASES(OP2("min.u16", "hhh", 0xffff, 1, 1), OP2("min.s16", "hhh", 0xffff, 1, 0xffff),
          OP2("min.u32", "rrr", ALL32, 1, 1), OP2("min.s32", "rrr", ALL32, 1, ALL32),
          OP2("min.s32", "rrr", MIN32, MAX32, MIN32), OP2("min.u64", "ddd", ALL64, 1, 1),
          OP2("min.s64", "ddd", ALL64, 1, ALL64), OP2("max.u16", "hhh", 0xffff, 1, 0xffff),
          OP2("max.s16", "hhh", 0xffff, 1, 1), OP2("max.u32", "rrr", ALL32, 1, ALL32),
          OP2("max.s32", "rrr", ALL32, 1, 1), OP2("max.s32", "rrr", MIN32, MAX32, MAX32),
          OP2("max.u64", "ddd", ALL64, 1, ALL64), OP2("max.s64", "ddd", ALL64, 1, 1));
}

static void carries_go_from_one_instruction_to_the_next(void)
{
    CASES(
        {"add.cc.u32 %t0, %a, %b; addc.u32 %x, %c, %e;", "rrrrr", {ALL32, 1, 5, 6}, 12},
        {"add.cc.u32 %t0, %a, %b; addc.u32 %x, %c, %e;", "rrrrr", {ALL32, 0, 5, 6}, 11},
        {"add.cc.u32 %t0, %a, %b; addc.cc.u32 %t1, %c, %e; addc.u32 %x, 0, 0;",
         "rrrrr",
         {ALL32, 1, ALL32, 0},
         1},
        {"add.cc.u32 %t0, %a, %b; addc.cc.u32 %t1, %c, %e; addc.u32 %x, 0, 0;",
         "rrrrr",
         {ALL32, 0, ALL32, 0},
         0},
        {"sub.cc.u32 %t0, %a, %b; subc.u32 %x, %c, %e;", "rrrrr", {0, 1, 5, 2}, 2},
        {"sub.cc.u32 %t0, %a, %b; subc.u32 %x, %c, %e;", "rrrrr", {1, 1, 5, 2}, 3},
        {"sub.cc.u32 %t0, %a, %b; subc.cc.u32 %t1, %c, %e; subc.u32 %x, 0, 0;",
         "rrrrr",
         {0, 1, 0, 0},
         ALL32},
        {"add.cc.u64 %w0, %a, %b; addc.u64 %x, %c, %e;", "ddddd", {ALL64, 1, 5, 6}, 12},
        {"sub.cc.s64 %w0, %a, %b; subc.s64 %x, %c, %e;", "ddddd", {0, 1, 5, 6}, 0xfffffffffffffffe},
        {"mad.lo.cc.u32 %t0, %a, %b, %c; madc.hi.u32 %x, %a, %b, %e;",
         "rrrrr",
         {ALL32, ALL32, ALL32, 7},
         0x6},
        {"mad.lo.cc.u32 %t0, %a, %b, %c; madc.hi.u32 %x, %a, %b, %e;",
         "rrrrr",
         {ALL32, ALL32, 0, 7},
         0x5},
        {"mad.hi.cc.u32 %t0, %a, %b, %c; addc.u32 %x, %e, 0;", "rrrrr", {ALL32, ALL32, 2, 7}, 8});
}

/* ------------------------------------------------------------------ bits */

static void bitwise_instructions_take_each_bit(void)
{
    CASES(OP2("and.b16", "hhh", 0xff00, 0xf0f0, 0xf000),
          OP2("and.b32", "rrr", 0xff00ff00, 0xf0f0f0f0, 0xf000f000),
          OP2("and.b64", "ddd", 0xff00ff00ff00ff00, 0xf0f0f0f0f0f0f0f0, 0xf000f000f000f000),
          OP2("or.b16", "hhh", 0xff00, 0xf0f0, 0xfff0),
          OP2("or.b32", "rrr", 1, 0x80000000, 0x80000001),
          OP2("or.b64", "ddd", 1, MIN64, 0x8000000000000001),
          OP2("xor.b16", "hhh", 0xffff, 0xf0f0, 0x0f0f),
          OP2("xor.b32", "rrr", ALL32, 1, 0xfffffffe),
          OP2("xor.b64", "ddd", ALL64, 1, 0xfffffffffffffffe), OP1("not.b16", "hh", 0x00ff, 0xff00),
          OP1("not.b32", "rr", 0, ALL32), OP1("not.b64", "dd", 1, 0xfffffffffffffffe),
          OP1("cnot.b16", "hh", 0, 1), OP1("cnot.b32", "rr", 5, 0), OP1("cnot.b64", "dd", 0, 1),
          OP2("and.pred", "ppp", 1, 1, 1), OP2("and.pred", "ppp", 1, 0, 0),
          OP2("or.pred", "ppp", 1, 0, 1), OP2("or.pred", "ppp", 0, 0, 0),
          OP2("xor.pred", "ppp", 1, 1, 0), OP2("xor.pred", "ppp", 0, 1, 1),
          OP1("not.pred", "pp", 0, 1), OP1("not.pred", "pp", 1, 0),
          {"mov.pred %x, -1; xor.pred %x, %x, %a;", "pp", {1}, 0},
          {"mov.pred %x, -1; xor.pred %x, %x, %a;", "pp", {0}, 1},
          {"and.pred %x, %a, 2;", "pp", {1}, 1},
          {"lop3.b32 %x, %a, %b, %c, 0x80;", "rrrr", {0xf0, 0xcc, 0xaa}, 0x80},
          {"lop3.b32 %x, %a, %b, %c, 0xfe;", "rrrr", {0xf0, 0xcc, 0xaa}, 0xfe},
          {"lop3.b32 %x, %a, %b, %c, 0x1a;", "rrrr", {0xf0, 0xcc, 0xaa}, 0x1a},
          {"lop3.b32 %x, %a, %b, %c, 0x96;", "rrrr", {0x5, 0x6, 0xffffff00}, 0xffffff03},
          {"lop3.b32 %x, %a, %b, %c, 0x01;", "rrrr", {0xf0, 0xcc, 0xaa}, 0xffffff01});
}

/* Amounts above the width clamp to it. */
static void shifts_clamp_their_amount(void)
{
    CASES(OP2("shl.b16", "hhr", 0x8001, 1, 2), OP2("shl.b16", "hhr", 0x8001, 15, 0x8000),
          OP2("shl.b16", "hhr", 1, 16, 0), OP2("shl.b32", "rrr", 1, 31, MIN32),
          OP2("shl.b32", "rrr", 1, 32, 0), OP2("shl.b32", "rrr", 1, 33, 0),
          OP2("shl.b32", "rrr", 1, 255, 0), OP2("shl.b32", "rrr", 1, ALL32, 0),
          OP2("shl.b32", "rrr", 5, 0, 5), OP2("shl.b64", "ddr", 1, 63, MIN64),
          OP2("shl.b64", "ddr", 1, 64, 0), OP2("shl.b64", "ddr", 1, 32, 0x100000000),
          OP2("shr.u16", "hhr", 0x8000, 15, 1), OP2("shr.u16", "hhr", 0x8000, 16, 0),
          OP2("shr.s16", "hhr", 0x8000, 15, -1), OP2("shr.s16", "hhr", 0x8000, 99, -1),
          OP2("shr.u32", "rrr", MIN32, 31, 1), OP2("shr.u32", "rrr", MIN32, 32, 0),
          OP2("shr.b32", "rrr", ALL32, 255, 0), OP2("shr.s32", "rrr", MIN32, 31, -1),
          OP2("shr.s32", "rrr", MIN32, 32, -1), OP2("shr.s32", "rrr", MIN32, 255, -1),
          OP2("shr.s32", "rrr", MAX32, 33, 0), OP2("shr.s32", "rrr", -8, 1, -4),
          OP2("shr.u64", "ddr", MIN64, 63, 1), OP2("shr.u64", "ddr", MIN64, 64, 0),
          OP2("shr.s64", "ddr", MIN64, 63, -1), OP2("shr.s64", "ddr", MIN64, 64, -1),
          OP2("shr.s64", "ddr", MIN64, ALL32, -1));
}

static void funnel_shifts_wrap_or_clamp(void)
{
    CASES(OP3("shf.l.wrap.b32", "rrrr", 0x12345678, 0x9abcdef0, 8, 0xbcdef012),
          OP3("shf.l.wrap.b32", "rrrr", 0x12345678, 0x9abcdef0, 32, 0x9abcdef0),
          OP3("shf.l.wrap.b32", "rrrr", 0x12345678, 0x9abcdef0, 40, 0xbcdef012),
          OP3("shf.r.wrap.b32", "rrrr", 0x12345678, 0x9abcdef0, 8, 0xf0123456),
          OP3("shf.r.wrap.b32", "rrrr", 0x12345678, 0x9abcdef0, 32, 0x12345678),
          OP3("shf.l.clamp.b32", "rrrr", 0x12345678, 0x9abcdef0, 32, 0x12345678),
          OP3("shf.l.clamp.b32", "rrrr", 0x12345678, 0x9abcdef0, 99, 0x12345678),
          OP3("shf.l.clamp.b32", "rrrr", 0x12345678, 0x9abcdef0, 4, 0xabcdef01),
          OP3("shf.r.clamp.b32", "rrrr", 0x12345678, 0x9abcdef0, 32, 0x9abcdef0),
          OP3("shf.r.clamp.b32", "rrrr", 0x12345678, 0x9abcdef0, 99, 0x9abcdef0),
          OP3("shf.r.clamp.b32", "rrrr", 0x12345678, 0x9abcdef0, 0, 0x12345678));
}

static void bits_are_counted_and_found(void)
{
    CASES(OP1("popc.b32", "rr", 0, 0), OP1("popc.b32", "rr", ALL32, 32),
          OP1("popc.b32", "rr", 0x80000001, 2), OP1("popc.b64", "rd", ALL64, 64),
          OP1("popc.b64", "rd", 0x8000000100000001, 3), OP1("clz.b32", "rr", 0, 32),
          OP1("clz.b32", "rr", 1, 31), OP1("clz.b32", "rr", ALL32, 0), OP1("clz.b64", "rd", 0, 64),
          OP1("clz.b64", "rd", 1, 63), OP1("clz.b64", "rd", MIN64, 0),
          OP1("brev.b32", "rr", 1, MIN32), OP1("brev.b32", "rr", 0x0000f00d, 0xb00f0000),
          OP1("brev.b64", "dd", 1, MIN64),
          OP1("brev.b64", "dd", 0x00000000deadbeef, 0xf77db57b00000000),
          OP1("brev.b64", "dd", 0x0123456789abcdef, 0xf7b3d591e6a2c480),
          OP1("bfind.u32", "rr", 0, ALL32), OP1("bfind.u32", "rr", MIN32, 31),
          OP1("bfind.u32", "rr", 1, 0), OP1("bfind.s32", "rr", -1, ALL32),
          OP1("bfind.s32", "rr", -2, 0), OP1("bfind.s32", "rr", MIN32, 30),
          OP1("bfind.s32", "rr", 5, 2), OP1("bfind.s32", "rr", 0, ALL32),
          OP1("bfind.u64", "rd", MIN64, 63), OP1("bfind.u64", "rd", 0, ALL32),
          OP1("bfind.s64", "rd", MIN64, 62), OP1("bfind.s64", "rd", -1, ALL32),
          OP1("bfind.shiftamt.u32", "rr", 1, 31), OP1("bfind.shiftamt.u32", "rr", 0, ALL32),
          OP1("bfind.shiftamt.s32", "rr", MIN32, 1), OP1("bfind.shiftamt.u64", "rd", 1, 63),
          OP1("bfind.shiftamt.s64", "rd", -2, 63));
}

static void bit_fields_are_extracted(void)
{
    CASES(OP3("bfe.u32", "rrrr", 0x12345678, 8, 8, 0x56),
          OP3("bfe.u32", "rrrr", 0x12345678, 0, 32, 0x12345678),
          OP3("bfe.u32", "rrrr", 0x12345678, 0, 0, 0),
          OP3("bfe.u32", "rrrr", 0xf0000000, 28, 16, 0xf), OP3("bfe.u32", "rrrr", ALL32, 32, 8, 0),
          OP3("bfe.u32", "rrrr", ALL32, 255, 255, 0),
          OP3("bfe.u32", "rrrr", 0x12345678, 0x108, 0x108, 0x56),
          OP3("bfe.s32", "rrrr", 0x00008000, 8, 8, 0xffffff80),
          OP3("bfe.s32", "rrrr", 0x00007f00, 8, 8, 0x7f),
          OP3("bfe.s32", "rrrr", 0x80000000, 28, 16, 0xfffffff8),
          OP3("bfe.s32", "rrrr", 0x80000000, 32, 8, ALL32),
          OP3("bfe.s32", "rrrr", 0x70000000, 32, 8, 0),
          OP3("bfe.s32", "rrrr", 0x80000000, 40, 0, 0),
          OP3("bfe.s32", "rrrr", 0x80000000, 0, 32, 0x80000000),
          OP3("bfe.u64", "ddrr", 0x123456789abcdef0, 32, 16, 0x5678),
          OP3("bfe.u64", "ddrr", ALL64, 0, 64, ALL64), OP3("bfe.u64", "ddrr", ALL64, 60, 64, 0xf),
          OP3("bfe.s64", "ddrr", 0x0000800000000000, 40, 8, 0xffffffffffffff80),
          OP3("bfe.s64", "ddrr", MIN64, 64, 1, ALL64), OP3("bfe.s64", "ddrr", MIN64, 63, 1, ALL64));
}

static void bit_fields_are_inserted(void)
{
    CASES(OP4("bfi.b32", "rrrrr", 0xab, 0x12345678, 8, 8, 0x1234ab78),
          OP4("bfi.b32", "rrrrr", ALL32, 0, 28, 8, 0xf0000000),
          OP4("bfi.b32", "rrrrr", ALL32, 0x12345678, 32, 8, 0x12345678),
          OP4("bfi.b32", "rrrrr", ALL32, 0x12345678, 0, 0, 0x12345678),
          OP4("bfi.b32", "rrrrr", 0xdeadbeef, 0, 0, 32, 0xdeadbeef),
          OP4("bfi.b32", "rrrrr", 0x1ab, 0, 0x104, 0x108, 0xab0),
          OP4("bfi.b64", "dddrr", 0xabcd, 0, 48, 16, 0xabcd000000000000),
          OP4("bfi.b64", "dddrr", ALL64, 0, 0, 64, ALL64),
          OP4("bfi.b64", "dddrr", ALL64, 1, 64, 9, 1),
          OP4("bfi.b64", "dddrr", 0, ALL64, 60, 20, 0x0fffffffffffffff));
}

static void bytes_are_permuted(void)
{
    CASES(OP3("prmt.b32", "rrrr", 0x33221100, 0x77665544, 0x3210, 0x33221100),
          OP3("prmt.b32", "rrrr", 0x33221100, 0x77665544, 0x7654, 0x77665544),
          OP3("prmt.b32", "rrrr", 0x33221100, 0x77665544, 0x0123, 0x00112233),
          OP3("prmt.b32", "rrrr", 0x33221180, 0x77665544, 0x8888, ALL32),
          OP3("prmt.b32", "rrrr", 0x33221180, 0x77665544, 0x9080, 0x0080ff80),
          OP3("prmt.b32", "rrrr", 0x33221100, 0x77665544, 0xffff0146, 0x00114466));
}

/* ------------------------------------------------------------------ comparisons and choices */

static void integers_are_compared_by_their_sign(void)
{
    CASES(OP2("setp.eq.s32", "prr", 5, 5, 1), OP2("setp.eq.s32", "prr", 5, 6, 0),
          OP2("setp.ne.s32", "prr", 5, 6, 1), OP2("setp.eq.b64", "pdd", 0x100000000, 0, 0),
          OP2("setp.ne.u64", "pdd", 0x100000000, 0, 1), OP2("setp.lt.s32", "prr", -1, 0, 1),
          OP2("setp.lt.u32", "prr", -1, 0, 0), OP2("setp.lt.s32", "prr", 5, 5, 0),
          OP2("setp.le.s32", "prr", 5, 5, 1), OP2("setp.le.u32", "prr", ALL32, 0, 0),
          OP2("setp.gt.s32", "prr", 0, -1, 1), OP2("setp.gt.u32", "prr", 0, -1, 0),
          OP2("setp.ge.s32", "prr", MIN32, MAX32, 0), OP2("setp.ge.u32", "prr", MIN32, MAX32, 1),
          OP2("setp.lo.u32", "prr", 1, 2, 1), OP2("setp.ls.u32", "prr", 2, 2, 1),
          OP2("setp.hi.u32", "prr", ALL32, 2, 1), OP2("setp.hs.u64", "pdd", 2, 2, 1),
          OP2("setp.lt.s64", "pdd", MIN64, 0, 1), OP2("setp.lt.u64", "pdd", MIN64, 0, 0),
          OP2("setp.ge.s64", "pdd", -1, -1, 1), OP2("setp.gt.u64", "pdd", ALL64, 0, 1),
          OP2("setp.lt.s16", "phh", -1, 0, 1), OP2("setp.gt.u16", "phh", -1, 0, 1),
          OP2("setp.eq.u16", "phh", 3, 3, 1));
}

static void comparisons_combine_with_a_predicate(void)
{
    CASES({"setp.lt.and.s32 %x, %a, %b, %c;", "prrp", {1, 2, 1}, 1},
          {"setp.lt.and.s32 %x, %a, %b, %c;", "prrp", {1, 2, 0}, 0},
          {"setp.lt.or.s32 %x, %a, %b, %c;", "prrp", {3, 2, 1}, 1},
          {"setp.lt.or.s32 %x, %a, %b, %c;", "prrp", {3, 2, 0}, 0},
          {"setp.lt.xor.s32 %x, %a, %b, %c;", "prrp", {1, 2, 1}, 0},
          {"setp.lt.and.s32 %x, %a, %b, !%c;", "prrp", {1, 2, 0}, 1},
          {"setp.lt.s32 %p0|%x, %a, %b;", "prr", {1, 2}, 0},
          {"setp.lt.s32 %p0|%x, %a, %b;", "prr", {2, 1}, 1},
          {"setp.lt.and.s32 %p0|%x, %a, %b, %c;", "prrp", {2, 1, 1}, 1},
          {"setp.lt.and.s32 %p0|%x, %a, %b, %c;", "prrp", {2, 1, 0}, 0},
          {"setp.lt.or.s32 %p0|%x, %a, %b, %c;", "prrp", {1, 2, 1}, 1},
          {"setp.lt.and.s32 %c|%x, %a, %b, %c;", "prrp", {2, 1, 1}, 1},
          {"setp.lt.and.s32 %x|%c, %a, %b, %c;", "prrp", {1, 2, 1}, 1},
          {"setp.lt.or.s32 %x|%c, %a, %b, %c; and.pred %x, %x, %c;", "prrp", {1, 2, 0}, 0},
          {"mov.pred %x, 0; @%c setp.lt.s32 %c|%x, %a, %b;", "prrp", {2, 1, 1}, 1},
          {"mov.pred %x, 1; @%c setp.lt.s32 %c|%x, %a, %b;", "prrp", {1, 2, 1}, 0},
          {"mov.pred %x, 0; @%c setp.lt.s32 %x|%c, %a, %b;", "prrp", {1, 2, 1}, 1},
          {"mov.pred %x, 1; @%c setp.lt.s32 %x|%c, %a, %b; or.pred %x, %x, %c;",
           "prrp",
           {1, 2, 0},
           1},
          {"mov.pred %x, 0; @%c setp.lt.and.s32 %c|%x, %a, %b, %c;", "prrp", {2, 1, 1}, 1},
          {"mov.pred %x, 0; @!%c setp.lt.s32 %c|%x, %a, %b;", "prrp", {2, 1, 0}, 1},
          {"mov.pred %x, 0; @!%c setp.lt.s32 %c|%x, %b, %a;", "prrp", {1, 2, 0}, 1},
          {"set.lt.u32.s32 %x, %a, %b;", "rrr", {-1ull, 0}, ALL32},
          {"set.lt.u32.s32 %x, %a, %b;", "rrr", {0, 0}, 0},
          {"set.gt.f32.s32 %x, %a, %b;", "rrr", {1, 0}, 0x3f800000});
}

static void values_are_chosen(void)
{
    CASES(OP3("selp.b16", "hhhp", 1, 2, 1, 1), OP3("selp.b32", "rrrp", 1, 2, 0, 2),
          OP3("selp.u64", "dddp", ALL64, 2, 1, ALL64),
          OP3("selp.f32", "rrrp", 0x7fc00001, 2, 1, 0x7fc00001),
          OP3("selp.f64", "dddp", 1, 2, 0, 2), OP3("slct.u32.s32", "rrrr", 1, 2, 0, 1),
          OP3("slct.u32.s32", "rrrr", 1, 2, -1, 2), OP3("slct.b64.s32", "dddr", 1, 2, MIN32, 2),
          OP3("slct.f32.f32", "rrrr", 1, 2, 0x80000000, 1),
          OP3("slct.f32.f32", "rrrr", 1, 2, 0x7fc00000, 2),
          OP3("slct.f32.f32", "rrrr", 1, 2, 0x80000001, 2),
          OP3("slct.ftz.f32.f32", "rrrr", 1, 2, 0x80000001, 1),
          OP3("slct.ftz.f32.f32", "rrrr", 1, 2, 0xbf800000, 2),
          {"slct.ftz.b64.f32 %x, %a, %b, %c;", "dddr", {1, 2, 0x80000001}, 1},
          OP3("slct.f64.f32", "dddr", 1, 2, 0xbf800000, 2),
          {"mov.b64 %x, {%a, %b};", "drr", {0x11111111, 0x22222222}, 0x2222222211111111},
          {"mov.b64 {%t0, %x}, %a;", "rd", {0x2222222211111111}, 0x22222222},
          {"mov.b64 {%x, _}, %a;", "rd", {0x2222222211111111}, 0x11111111},
          {"mov.b32 %x, {%a, %b};", "rhh", {0x1111, 0x2222}, 0x22221111},
          {"mov.b32 {%q0, %x}, %a;", "hr", {0x22221111}, 0x2222},
          {"mov.u16 %x, %a;", "hh", {0x1234}, 0x1234},
          {"slct.u16.s32 %x, %a, %b, %c;", "hhhr", {1, 2, ALL32}, 2},
          {"slct.b16.f32 %x, %a, %b, %c;", "hhhr", {1, 2, 0}, 1},
          {"slct.b16.f32 %x, %a, %b, %c;", "hhhr", {1, 2, 0xbf800000}, 2},
          {"slct.f64.f32 %x, %a, %b, %c;", "dddr", {1, 2, MIN32}, 1},
          {"mov.s32 %x, %a;", "rr", {MIN32}, MIN32}, {"mov.s64 %x, %a;", "dd", {MIN64}, MIN64},
          {"selp.pred %x, %a, %b, %c;", "pppp", {1, 0, 1}, 1},
          {"mov.f32 %x, 0d3ff8000000000000;", "r", {0}, 0x3fc00000},
          {"mov.u32 %x, WARP_SZ;", "r", {0}, 32}, {"mov.pred %x, %a;", "pp", {1}, 1},
          {"mov.b64 %x, 0xfedcba9876543210;", "d", {0}, 0xfedcba9876543210},
          {"mov.b32 %x, -5;", "r", {0}, 0xfffffffb},
          {"mov.f32 %x, 0f3f800000;", "r", {0}, 0x3f800000},
          {"mov.f64 %x, 0dbff0000000000000;", "d", {0}, 0xbff0000000000000});
}

/* ------------------------------------------------------------------ floating point */

#define ONE32    0x3f800000
#define INF32    0x7f800000
#define NAN32    0x7fffffff /* the one that single precision returns */
#define NAN_IN   0x7fc12345
#define NEG32(x) ((x) ^ 0x80000000u)
#define ONE64    0x3ff0000000000000
#define INF64    0x7ff0000000000000
#define NAN64    0x7ff8000000000000
#define NEG64(x) ((x) ^ 0x8000000000000000u)

static void single_precision_returns_one_nan(void)
{
    CASES(OP2("add.f32", "rrr", NAN_IN, ONE32, NAN32),
          OP2("add.f32", "rrr", INF32, NEG32(INF32), NAN32),
          OP2("sub.rn.f32", "rrr", INF32, INF32, NAN32), OP2("mul.rn.f32", "rrr", 0, INF32, NAN32),
          OP2("div.rn.f32", "rrr", 0, 0, NAN32), OP2("div.rn.f32", "rrr", INF32, INF32, NAN32),
          OP3("fma.rn.f32", "rrrr", NAN_IN, ONE32, ONE32, NAN32),
          OP3("fma.rn.f32", "rrrr", 0, INF32, ONE32, NAN32),
          OP1("sqrt.rn.f32", "rr", 0xbf800000, NAN32), OP1("rcp.rn.f32", "rr", NAN_IN, NAN32),
          OP2("min.f32", "rrr", NAN_IN, NAN_IN, NAN32), OP1("cvt.rn.f32.f64", "rd", NAN64, NAN32));
}

static void infinities_and_zeros_follow_ieee(void)
{
    CASES(OP2("add.f32", "rrr", 0, MIN32, 0), OP2("add.rm.f32", "rrr", 0, MIN32, MIN32),
          OP2("add.f32", "rrr", MIN32, MIN32, MIN32),
          OP2("add.f32", "rrr", 0x7f7fffff, 0x7f7fffff, INF32),
          OP2("add.rz.f32", "rrr", 0x7f7fffff, 0x7f7fffff, 0x7f7fffff),
          OP2("mul.f32", "rrr", 0x80000000, ONE32, 0x80000000),
          OP2("div.rn.f32", "rrr", ONE32, 0x80000000, NEG32(INF32)),
          OP1("rcp.rn.f32", "rr", 0x80000000, NEG32(INF32)),
          OP1("rcp.rn.f32", "rr", NEG32(INF32), 0x80000000),
          OP1("sqrt.rn.f32", "rr", 0x80000000, 0x80000000), OP1("sqrt.rn.f32", "rr", INF32, INF32),
          OP1("sqrt.rn.f64", "dd", MIN64, MIN64), OP1("rcp.rn.f64", "dd", 0, INF64),
          OP2("add.f64", "ddd", 0, MIN64, 0), OP2("sub.rm.f64", "ddd", ONE64, ONE64, MIN64),
          OP2("mul.f64", "ddd", 0x7fefffffffffffff, 0x4000000000000000, INF64),
          OP2("mul.rm.f64", "ddd", 0x7fefffffffffffff, 0x4000000000000000, 0x7fefffffffffffff),
          OP1("neg.f32", "rr", 0, MIN32), OP1("neg.f32", "rr", NAN_IN, 0xffc12345),
          OP1("abs.f32", "rr", 0xbf800000, ONE32), OP1("neg.f64", "dd", 0, MIN64),
          OP1("abs.f64", "dd", NEG64(INF64), INF64),
          OP2("copysign.f32", "rrr", 0x80000000, ONE32, 0xbf800000),
          OP2("copysign.f64", "ddd", 0, NEG64(ONE64), ONE64));
}

static void subnormal_numbers_are_kept_unless_flushed(void)
{
    CASES(OP2("add.f32", "rrr", 1, 1, 2), OP2("add.ftz.f32", "rrr", 1, 1, 0),
          OP2("add.ftz.f32", "rrr", 0x80000001, 0x80000001, 0x80000000),
          OP2("add.ftz.f32", "rrr", 0x00800000, 0x00000001, 0x00800000),
          OP2("sub.ftz.f32", "rrr", 0x00800001, 0x00800000, 0),
          OP2("mul.f32", "rrr", 0x00800000, 0x3f000000, 0x00400000),
          OP2("mul.ftz.f32", "rrr", 0x00800000, 0x3f000000, 0),
          OP2("mul.ftz.f32", "rrr", 0x80800000, 0x3f000000, 0x80000000),
          OP3("fma.rn.ftz.f32", "rrrr", 1, ONE32, ONE32, ONE32),
          OP3("fma.rn.f32", "rrrr", 0x00800000, 0x3f000000, 1, 0x00400001),
          OP2("div.rn.ftz.f32", "rrr", ONE32, 1, INF32), OP2("div.rn.f32", "rrr", 1, ONE32, 1),
          OP1("sqrt.rn.ftz.f32", "rr", 1, 0), OP2("min.ftz.f32", "rrr", 0x80000001, ONE32, MIN32),
          OP2("setp.eq.ftz.f32", "prr", 1, 0, 1), OP2("setp.eq.f32", "prr", 1, 0, 0),
          OP2("add.f64", "ddd", 1, 1, 2),
          OP2("mul.f64", "ddd", 0x0010000000000000, 0x3fe0000000000000, 0x0008000000000000),
          OP1("cvt.ftz.f64.f32", "dr", 1, 0), OP1("cvt.f64.f32", "dr", 1, 0x36a0000000000000),
          OP1("cvt.rn.f32.f64", "rd", 0x36a0000000000000, 1),
          OP1("cvt.rn.ftz.f32.f64", "rd", 0x36a0000000000000, 0));
}

static void minimum_and_maximum_prefer_numbers(void)
{
    CASES(OP2("min.f32", "rrr", NAN_IN, ONE32, ONE32), OP2("min.f32", "rrr", ONE32, NAN_IN, ONE32),
          OP2("min.f32", "rrr", 0, MIN32, MIN32), OP2("min.f32", "rrr", MIN32, 0, MIN32),
          OP2("max.f32", "rrr", 0, MIN32, 0), OP2("max.f32", "rrr", MIN32, 0, 0),
          OP2("max.f32", "rrr", NAN_IN, NEG32(INF32), NEG32(INF32)),
          OP2("max.f32", "rrr", ONE32, 0x40000000, 0x40000000),
          OP2("min.NaN.f32", "rrr", NAN_IN, ONE32, NAN32),
          OP2("max.NaN.f32", "rrr", ONE32, NAN_IN, NAN32),
          OP2("max.NaN.f32", "rrr", ONE32, 0x40000000, 0x40000000),
          OP2("min.f64", "ddd", NAN64, ONE64, ONE64), OP2("min.f64", "ddd", MIN64, 0, MIN64),
          OP2("max.f64", "ddd", ONE64, NAN64, ONE64), OP2("max.f64", "ddd", MIN64, 0, 0),
          OP2("max.f64", "ddd", ONE64, INF64, INF64));
}

static void floats_are_compared_with_nan_as_said(void)
{
    CASES(OP2("setp.eq.f32", "prr", 0, MIN32, 1), OP2("setp.eq.f32", "prr", NAN_IN, NAN_IN, 0),
          OP2("setp.ne.f32", "prr", NAN_IN, ONE32, 0), OP2("setp.ne.f32", "prr", ONE32, 0, 1),
          OP2("setp.lt.f32", "prr", NAN_IN, ONE32, 0), OP2("setp.lt.f32", "prr", 0, ONE32, 1),
          OP2("setp.le.f32", "prr", ONE32, ONE32, 1), OP2("setp.le.f32", "prr", ONE32, NAN_IN, 0),
          OP2("setp.gt.f32", "prr", INF32, ONE32, 1), OP2("setp.ge.f32", "prr", NAN_IN, NAN_IN, 0),
          OP2("setp.ge.f32", "prr", ONE32, ONE32, 1), OP2("setp.equ.f32", "prr", NAN_IN, ONE32, 1),
          OP2("setp.equ.f32", "prr", ONE32, 0, 0), OP2("setp.equ.f32", "prr", 0, MIN32, 1),
          OP2("setp.neu.f32", "prr", NAN_IN, NAN_IN, 1),
          OP2("setp.neu.f32", "prr", ONE32, ONE32, 0), OP2("setp.ltu.f32", "prr", NAN_IN, 0, 1),
          OP2("setp.ltu.f32", "prr", ONE32, 0, 0), OP2("setp.leu.f32", "prr", ONE32, ONE32, 1),
          OP2("setp.leu.f32", "prr", ONE32, 0, 0), OP2("setp.gtu.f32", "prr", 0, NAN_IN, 1),
          OP2("setp.gtu.f32", "prr", 0, 0, 0), OP2("setp.geu.f32", "prr", 0, 0, 1),
          OP2("setp.geu.f32", "prr", 0, ONE32, 0), OP2("setp.num.f32", "prr", 0, INF32, 1),
          OP2("setp.num.f32", "prr", 0, NAN_IN, 0), OP2("setp.nan.f32", "prr", 0, NAN_IN, 1),
          OP2("setp.nan.f32", "prr", 0, 0, 0), OP2("setp.eq.f64", "pdd", 0, MIN64, 1),
          OP2("setp.ne.f64", "pdd", NAN64, 0, 0), OP2("setp.lt.f64", "pdd", NEG64(INF64), 0, 1),
          OP2("setp.geu.f64", "pdd", NAN64, 0, 1), OP2("setp.neu.f64", "pdd", NAN64, NAN64, 1),
          OP2("setp.num.f64", "pdd", ONE64, ONE64, 1), OP2("setp.nan.f64", "pdd", ONE64, NAN64, 1),
          OP2("setp.leu.f64", "pdd", ONE64, 0, 0), OP1("testp.finite.f32", "pr", 0x7f7fffff, 1),
          OP1("testp.finite.f32", "pr", INF32, 0), OP1("testp.infinite.f32", "pr", NEG32(INF32), 1),
          OP1("testp.infinite.f32", "pr", NAN_IN, 0), OP1("testp.number.f64", "pd", INF64, 1),
          OP1("testp.notanumber.f64", "pd", NAN64, 1), OP1("testp.normal.f32", "pr", 0x00800000, 1),
          OP1("testp.normal.f32", "pr", 0x007fffff, 0), OP1("testp.subnormal.f32", "pr", 1, 1),
          OP1("testp.subnormal.f64", "pd", 0, 0));
}

static void saturation_keeps_results_between_0_and_1(void)
{
    CASES(OP2("add.sat.f32", "rrr", ONE32, ONE32, ONE32),
          OP2("add.sat.f32", "rrr", 0xbf800000, 0, 0),
          OP2("add.sat.f32", "rrr", 0x3e800000, 0x3e800000, 0x3f000000),
          OP2("add.sat.f32", "rrr", NAN_IN, 0, 0),
          OP2("mul.sat.f32", "rrr", 0x40000000, 0x3e800000, 0x3f000000),
          OP3("fma.rn.sat.f32", "rrrr", 0x40000000, ONE32, ONE32, ONE32),
          OP1("cvt.sat.f32.f32", "rr", 0x40000000, ONE32),
          OP1("cvt.rn.sat.f32.f64", "rd", 0xc000000000000000, 0));
}

/* ------------------------------------------------------------------ rounding */

/* 1 + 2^-24, halfway between 1 and the next f32, and numbers on its sides; and the same for f64. */
static void each_rounding_mode_has_its_neighbour(void)
{
    CASES(OP2("add.rn.f32", "rrr", ONE32, 0x33800000, ONE32),
          OP2("add.rz.f32", "rrr", ONE32, 0x33800000, ONE32),
          OP2("add.rm.f32", "rrr", ONE32, 0x33800000, ONE32),
          OP2("add.rp.f32", "rrr", ONE32, 0x33800000, 0x3f800001),
          OP2("add.rn.f32", "rrr", 0x3f800001, 0x33800000, 0x3f800002),
          OP2("add.rz.f32", "rrr", 0xbf800000, 0xb3800000, 0xbf800000),
          OP2("add.rm.f32", "rrr", 0xbf800000, 0xb3800000, 0xbf800001),
          OP2("add.rp.f32", "rrr", 0xbf800000, 0xb3800000, 0xbf800000),
          OP2("sub.rm.f32", "rrr", ONE32, 0x00000001, 0x3f7fffff),
          OP2("sub.rz.f32", "rrr", ONE32, 1, 0x3f7fffff), OP2("sub.rp.f32", "rrr", ONE32, 1, ONE32),
          OP2("sub.rn.f32", "rrr", ONE32, 1, ONE32),
          OP2("add.rp.f64", "ddd", ONE64, 1, 0x3ff0000000000001),
          OP2("add.rn.f64", "ddd", ONE64, 1, ONE64),
          OP2("sub.rz.f64", "ddd", ONE64, 1, 0x3fefffffffffffff),
          OP2("sub.rm.f64", "ddd", NEG64(ONE64), 1, 0xbff0000000000001),
          OP2("mul.rn.f64", "ddd", 0x3ff0000000000001, 0x3ff0000000000001, 0x3ff0000000000002),
          OP2("mul.rp.f64", "ddd", 0x3ff0000000000001, 0x3ff0000000000001, 0x3ff0000000000003),
          OP3("fma.rz.f64", "dddd", 0x3ff0000000000001, 0x3ff0000000000001,
              NEG64(0x3ff0000000000002), 0x3970000000000000),
          OP3("fma.rn.f64", "dddd", 0x3ff0000000000001, 0x3ff0000000000001,
              NEG64(0x3ff0000000000002), 0x3970000000000000),
          OP2("div.rn.f32", "rrr", ONE32, 0x40400000, 0x3eaaaaab),
          OP2("div.rz.f32", "rrr", ONE32, 0x40400000, 0x3eaaaaaa),
          OP2("div.rm.f32", "rrr", 0xbf800000, 0x40400000, 0xbeaaaaab),
          OP2("div.rp.f64", "ddd", ONE64, 0x4008000000000000, 0x3fd5555555555556),
          OP2("div.rn.f64", "ddd", ONE64, 0x4008000000000000, 0x3fd5555555555555),
          OP1("rcp.rp.f64", "dd", 0x4008000000000000, 0x3fd5555555555556),
          OP1("rcp.rm.f32", "rr", 0x40400000, 0x3eaaaaaa),
          OP1("sqrt.rm.f32", "rr", 0x40000000, 0x3fb504f3),
          OP1("sqrt.rp.f32", "rr", 0x40000000, 0x3fb504f4),
          OP1("sqrt.rn.f64", "dd", 0x4000000000000000, 0x3ff6a09e667f3bcd),
          OP1("sqrt.rz.f64", "dd", 0x4000000000000000, 0x3ff6a09e667f3bcc));
}

typedef unsigned __int128 wide;

/* ±(magnitude · 2^exponent, and a little more where @p more), rounded to @p precision bits. The
 * result must be a normal number. */
static double rounded(bool negative, wide magnitude, bool more, int exponent, int precision,
                      int mode)
{
    int bits = 0;
    if (!magnitude) return 0;
    while (bits < 128 && magnitude >> bits) ++bits;
    const int cut = bits - precision;
    if (cut <= 0) return ldexp((double)(uint64_t)magnitude, exponent) * (negative ? -1 : 1);
    const wide kept = magnitude >> cut, rest = magnitude - (kept << cut),
               half = (wide)1 << (cut - 1);
    const bool inexact = rest || more;
    const bool up = mode == 0   ? rest > half || (rest == half && (more || kept & 1))
                    : mode == 1 ? false
                    : mode == 2 ? negative && inexact
                                : !negative && inexact;
    return ldexp((double)(uint64_t)(kept + up), exponent + cut) * (negative ? -1 : 1);
}

static uint64_t bits_of_number(double x, int precision)
{
    uint64_t bits = 0;
    if (precision == 53) {
        memcpy(&bits, &x, sizeof x);
    } else {
        const float y = (float)x;
        memcpy(&bits, &y, sizeof y);
    }
    return bits;
}

/* A number of @p precision bits: its sign, and its magnitude, an integer. */
typedef struct number {
    bool negative;
    uint64_t magnitude;
} number;

static number random_number(int precision)
{
    number n = {test_random() & 1, test_random() >> (64 - precision) | 1ull << (precision - 1)};
    if (test_random() % 4 == 0)
        n.magnitude &= ~(uint64_t)0 << (test_random() % (unsigned)precision);
    return n;
}

static uint64_t bits_of_integer(number n, int precision, int exponent)
{
    return bits_of_number(ldexp((double)n.magnitude, exponent) * (n.negative ? -1 : 1), precision);
}

enum { RANDOM = 400 };
static const char *const modes[] = {"rn", "rz", "rm", "rp"};
static try_case random_cases[RANDOM];

/* One instruction in one mode, with cases that @p make writes. */
static void try_random(const char *operation, const char *operands, int sources, int precision,
                       int mode, void (*make)(try_case *c, int precision, int mode))
{
    char text[80], types[8];
    const char type = precision == 53 ? 'd' : 'r';
    snprintf(text, sizeof text, "%s.%s.%s %%x, %s;", operation, modes[mode],
             precision == 53 ? "f64" : "f32", operands);
    memset(types, type, sizeof types);
    types[1 + sources] = '\0';
    for (int k = 0; k < RANDOM; ++k) {
        random_cases[k] = (try_case){.text = text, .types = types};
        make(&random_cases[k], precision, mode);
    }
    try_cases(random_cases, RANDOM);
}

/* b is as if it were shifted to the left by up to 30 bits, and may cancel a. */
static void make_sum(try_case *c, int precision, int mode)
{
    const number a = random_number(precision), b = random_number(precision);
    const int by = (int)test_random_in(0, 30);
    const __int128 x = a.negative ? -(__int128)a.magnitude : (__int128)a.magnitude;
    const __int128 y =
        (b.negative ? -(__int128)b.magnitude : (__int128)b.magnitude) * ((__int128)1 << by);
    const __int128 sum = x + y;
    c->in[0] = bits_of_integer(a, precision, 0);
    c->in[1] = bits_of_integer(b, precision, by);
    double expected = rounded(sum < 0, sum < 0 ? (wide)-sum : (wide)sum, false, 0, precision, mode);
    if (sum == 0 && mode == 2) expected = -0.0;
    c->out = bits_of_number(expected, precision);
}

static void make_product(try_case *c, int precision, int mode)
{
    const number a = random_number(precision), b = random_number(precision);
    c->in[0] = bits_of_integer(a, precision, 0);
    c->in[1] = bits_of_integer(b, precision, -precision);
    c->out = bits_of_number(rounded(a.negative != b.negative, (wide)a.magnitude * b.magnitude,
                                    false, -precision, precision, mode),
                            precision);
}

static void make_fma(try_case *c, int precision, int mode)
{
    const number a = random_number(precision), b = random_number(precision),
                 e = random_number(precision);
    const int by = (int)test_random_in(0, 60);
    __int128 sum = (__int128)a.magnitude * (__int128)b.magnitude,
             third = (__int128)e.magnitude * ((__int128)1 << by);
    sum = (a.negative != b.negative ? -sum : sum) + (e.negative ? -third : third);
    c->in[0] = bits_of_integer(a, precision, 0);
    c->in[1] = bits_of_integer(b, precision, 0);
    c->in[2] = bits_of_integer(e, precision, by);
    double expected = rounded(sum < 0, sum < 0 ? (wide)-sum : (wide)sum, false, 0, precision, mode);
    if (sum == 0 && mode == 2) expected = -0.0;
    c->out = bits_of_number(expected, precision);
}

static void make_quotient(try_case *c, int precision, int mode)
{
    const number a = random_number(precision), b = random_number(precision);
    const wide shifted = (wide)a.magnitude << 64;
    c->in[0] = bits_of_integer(a, precision, 0);
    c->in[1] = bits_of_integer(b, precision, 0);
    c->out = bits_of_number(rounded(a.negative != b.negative, shifted / b.magnitude,
                                    shifted % b.magnitude != 0, -64, precision, mode),
                            precision);
}

static void make_reciprocal(try_case *c, int precision, int mode)
{
    const number a = random_number(precision);
    const wide one = (wide)1 << 127;
    c->in[0] = bits_of_integer(a, precision, 0);
    c->out = bits_of_number(
        rounded(a.negative, one / a.magnitude, one % a.magnitude != 0, -127, precision, mode),
        precision);
}

static void make_root(try_case *c, int precision, int mode)
{
    number a = random_number(precision);
    a.negative = false;
    const wide square = (wide)a.magnitude << 74;
    wide root = 0;
    for (int bit = 63; bit >= 0; --bit) {
        const wide next = root | (wide)1 << bit;
        if (next * next <= square) root = next;
    }
    c->in[0] = bits_of_integer(a, precision, 0);
    c->out = bits_of_number(rounded(false, root, root * root != square, -37, precision, mode),
                            precision);
}

static void random_results_are_the_exact_ones_rounded(void)
{
    for (int mode = 0; mode < 4; ++mode)
        for (int precision = 24; precision <= 53; precision += 29) {
            try_random("add", "%a, %b", 2, precision, mode, make_sum);
            try_random("mul", "%a, %b", 2, precision, mode, make_product);
            try_random("fma", "%a, %b, %c", 3, precision, mode, make_fma);
            try_random("div", "%a, %b", 2, precision, mode, make_quotient);
            try_random("rcp", "%a", 1, precision, mode, make_reciprocal);
            try_random("sqrt", "%a", 1, precision, mode, make_root);
        }
}

/* ------------------------------------------------------------------ conversions */

static void integers_are_cut_and_extended(void)
{
    CASES(OP1("cvt.u32.u64", "rd", 0x123456789abcdef0, 0x9abcdef0),
          OP1("cvt.u64.u32", "dr", ALL32, ALL32), OP1("cvt.s64.s32", "dr", -5, -5),
          OP1("cvt.u64.s32", "dr", -5, -5), OP1("cvt.s64.u32", "dr", -5, 0xfffffffb),
          OP1("cvt.u16.u32", "hr", 0x12345678, 0x5678), OP1("cvt.s16.s32", "hr", -5, -5),
          OP1("cvt.s32.s16", "rh", 0x8000, 0xffff8000), OP1("cvt.u32.u16", "rh", 0x8000, 0x8000),
          OP1("cvt.s32.s8", "rr", 0x180, 0xffffff80), OP1("cvt.u32.u8", "rr", 0x180, 0x80),
          OP1("cvt.s8.s32", "rr", 0x180, 0xffffff80), OP1("cvt.u8.u32", "rr", 0x1ff, 0xff),
          OP1("cvt.s64.s8", "dd", 0x80, -128), OP1("cvt.u16.u8", "hh", 0xff80, 0x80),
          OP1("cvt.s16.s8", "hh", 0x0080, 0xff80), OP1("cvt.u64.u16", "dh", 0xffff, 0xffff),
          OP1("cvt.sat.s8.s32", "rr", 200, 127), OP1("cvt.sat.s8.s32", "rr", -200, 0xffffff80),
          OP1("cvt.sat.u8.s32", "rr", -5, 0), OP1("cvt.sat.u8.s32", "rr", 300, 255),
          OP1("cvt.sat.u8.u32", "rr", ALL32, 255), OP1("cvt.sat.s32.u32", "rr", ALL32, MAX32),
          OP1("cvt.sat.u32.s32", "rr", -1, 0), OP1("cvt.sat.s32.s64", "rd", 0x100000000, MAX32),
          OP1("cvt.sat.s32.s64", "rd", MIN64, MIN32), OP1("cvt.sat.s32.u64", "rd", ALL64, MAX32),
          OP1("cvt.sat.u16.s64", "hd", 70000, 0xffff), OP1("cvt.sat.u64.s64", "dd", -1, 0),
          OP1("cvt.sat.s64.u64", "dd", ALL64, MAX64), OP1("cvt.sat.s64.s32", "dr", -3, -3));
}

static void floats_become_integers_within_the_limits(void)
{
    CASES(OP1("cvt.rni.s32.f32", "rr", 0x40200000, 2), OP1("cvt.rni.s32.f32", "rr", 0x40600000, 4),
          OP1("cvt.rzi.s32.f32", "rr", 0xc0600000, -3),
          OP1("cvt.rmi.s32.f32", "rr", 0xc0600000, -4), OP1("cvt.rpi.s32.f32", "rr", 0x40200000, 3),
          OP1("cvt.rzi.s32.f32", "rr", 0x4f000000, MAX32),
          OP1("cvt.rzi.s32.f32", "rr", 0xcf000000, MIN32),
          OP1("cvt.rzi.s32.f32", "rr", INF32, MAX32),
          OP1("cvt.rzi.s32.f32", "rr", NEG32(INF32), MIN32),
          OP1("cvt.rzi.s32.f32", "rr", 0x4effffff, 0x7fffff80),
          OP1("cvt.rzi.u32.f32", "rr", 0xbf800000, 0),
          OP1("cvt.rzi.u32.f32", "rr", 0x4f800000, ALL32),
          OP1("cvt.rzi.u32.f32", "rr", 0x4f7fffff, 0xffffff00),
          OP1("cvt.rzi.s64.f32", "dr", 0x5f000000, MAX64),
          OP1("cvt.rzi.s64.f32", "dr", 0xdf000000, MIN64),
          OP1("cvt.rzi.s64.f32", "dr", 0xdf000001, MIN64),
          OP1("cvt.rzi.u64.f32", "dr", 0x5f800000, ALL64),
          OP1("cvt.rzi.u64.f32", "dr", 0xc0000000, 0),
          OP1("cvt.rzi.u64.f32", "dr", 0x5f000000, MIN64),
          OP1("cvt.rzi.s32.f64", "rd", 0x41dfffffffc00000, MAX32),
          OP1("cvt.rzi.s32.f64", "rd", 0x41e0000000000000, MAX32),
          OP1("cvt.rzi.s32.f64", "rd", 0xc1e0000000200000, MIN32),
          OP1("cvt.rpi.s32.f64", "rd", 0x0000000000000001, 1),
          OP1("cvt.rmi.s32.f64", "rd", 0x8000000000000001, -1),
          OP1("cvt.rni.u32.f64", "rd", 0x41efffffffe00000, ALL32),
          OP1("cvt.rni.u32.f64", "rd", 0x41effffffff00000, ALL32),
          OP1("cvt.rzi.s64.f64", "dd", 0x43dfffffffffffff, 0x7ffffffffffffc00),
          OP1("cvt.rzi.s64.f64", "dd", INF64, MAX64),
          OP1("cvt.rzi.u64.f64", "dd", 0x43efffffffffffff, 0xfffffffffffff800),
          OP1("cvt.rzi.u64.f64", "dd", 0x43f0000000000000, ALL64),
          OP1("cvt.rzi.u64.f64", "dd", 0xbff0000000000000, 0),
          OP1("cvt.rzi.s16.f32", "hr", 0x47800000, 0x7fff),
          OP1("cvt.rzi.u8.f32", "rr", 0x43c80000, 255),
          OP1("cvt.rzi.s8.f64", "rd", 0xc070000000000000, 0xffffff80),
          OP1("cvt.rni.u16.f64", "hd", 0x40f0000000000000, 0xffff),
          OP1("cvt.rzi.ftz.s32.f32", "rr", 1, 0), OP1("cvt.rpi.ftz.s32.f32", "rr", 1, 0),
          OP1("cvt.rpi.s32.f32", "rr", 1, 1));
}

/* The manual: 0 where the source is no .f64 and the result no 64-bit integer, else the highest bit.
 */
static void nan_becomes_the_integer_that_the_manual_says(void)
{
    CASES(OP1("cvt.rzi.s32.f32", "rr", NAN_IN, 0), OP1("cvt.rzi.u32.f32", "rr", NAN_IN, 0),
          OP1("cvt.rzi.s16.f32", "hr", NAN_IN, 0), OP1("cvt.rzi.u8.f32", "rr", NAN_IN, 0),
          OP1("cvt.rzi.s64.f32", "dr", NAN_IN, MIN64), OP1("cvt.rzi.u64.f32", "dr", NAN_IN, MIN64),
          OP1("cvt.rzi.s32.f64", "rd", NAN64, MIN32), OP1("cvt.rzi.u32.f64", "rd", NAN64, MIN32),
          OP1("cvt.rzi.u16.f64", "hd", NAN64, MIN16), OP1("cvt.rzi.s16.f64", "hd", NAN64, MIN16),
          OP1("cvt.rzi.u8.f64", "rd", NAN64, 0x80), OP1("cvt.rzi.s64.f64", "dd", NAN64, MIN64),
          OP1("cvt.rzi.u64.f64", "dd", NAN64, MIN64));
}

static void integers_become_the_rounded_float(void)
{
    CASES(OP1("cvt.rn.f32.s32", "rr", 0x01000001, 0x4b800000),
          OP1("cvt.rz.f32.s32", "rr", 0x01000003, 0x4b800001),
          OP1("cvt.rn.f32.s32", "rr", 0x01000003, 0x4b800002),
          OP1("cvt.rp.f32.s32", "rr", 0x01000001, 0x4b800001),
          OP1("cvt.rm.f32.s32", "rr", -0x01000001, 0xcb800001),
          OP1("cvt.rp.f32.s32", "rr", -0x01000001, 0xcb800000),
          OP1("cvt.rz.f32.s32", "rr", -0x01000001, 0xcb800000), OP1("cvt.rm.f32.u32", "rr", 0, 0),
          OP1("cvt.rn.f32.u32", "rr", ALL32, 0x4f800000),
          OP1("cvt.rz.f32.u32", "rr", ALL32, 0x4f7fffff),
          OP1("cvt.rn.f32.u64", "rd", ALL64, 0x5f800000),
          OP1("cvt.rz.f32.u64", "rd", ALL64, 0x5f7fffff),
          OP1("cvt.rn.f32.s64", "rd", MIN64, 0xdf000000),
          OP1("cvt.rn.f32.u64", "rd", 0x8000008000000001, 0x5f000001),
          OP1("cvt.rn.f32.u64", "rd", 0x8000008000000000, 0x5f000000),
          OP1("cvt.rn.f64.s32", "dr", -1, 0xbff0000000000000),
          OP1("cvt.rn.f64.u32", "dr", ALL32, 0x41efffffffe00000),
          OP1("cvt.rn.f64.s64", "dd", MAX64, 0x43e0000000000000),
          OP1("cvt.rz.f64.s64", "dd", MAX64, 0x43dfffffffffffff),
          OP1("cvt.rn.f64.u64", "dd", ALL64, 0x43f0000000000000),
          OP1("cvt.rm.f64.u64", "dd", ALL64, 0x43efffffffffffff), OP1("cvt.rm.f64.u64", "dd", 0, 0),
          OP1("cvt.rm.f64.s64", "dd", 0, 0),
          OP1("cvt.rp.f64.s64", "dd", -0x20000000000001, 0xc340000000000000),
          OP1("cvt.rm.f64.s64", "dd", -0x20000000000001, 0xc340000000000001),
          OP1("cvt.rn.f64.u64", "dd", 0x20000000000001, 0x4340000000000000),
          OP1("cvt.rn.f32.s16", "rh", -3, 0xc0400000),
          OP1("cvt.rn.f64.u8", "dr", 0x1ff, 0x406fe00000000000),
          OP1("cvt.rn.f32.s8", "rr", 0x80, 0xc3000000));
}

static void floats_become_floats(void)
{
    CASES(OP1("cvt.f64.f32", "dr", ONE32, ONE64), OP1("cvt.f64.f32", "dr", INF32, INF64),
          OP1("cvt.rn.f32.f64", "rd", 0x3ff0000010000000, ONE32),
          OP1("cvt.rn.f32.f64", "rd", 0x3ff0000010000001, 0x3f800001),
          OP1("cvt.rp.f32.f64", "rd", 0x3ff0000000000001, 0x3f800001),
          OP1("cvt.rm.f32.f64", "rd", 0xbff0000000000001, 0xbf800001),
          OP1("cvt.rz.f32.f64", "rd", 0xbff0000000000001, 0xbf800000),
          OP1("cvt.rn.f32.f64", "rd", 0x7fefffffffffffff, INF32),
          OP1("cvt.rz.f32.f64", "rd", 0x7fefffffffffffff, 0x7f7fffff),
          OP1("cvt.rni.f32.f32", "rr", 0x40200000, 0x40000000),
          OP1("cvt.rzi.f32.f32", "rr", 0xc0600000, 0xc0400000),
          OP1("cvt.rmi.f32.f32", "rr", 0xbf000000, 0xbf800000),
          OP1("cvt.rpi.f32.f32", "rr", 0xbf000000, 0x80000000),
          OP1("cvt.rni.f64.f64", "dd", 0x3fe0000000000000, 0),
          OP1("cvt.rmi.f64.f64", "dd", 0xbfe0000000000000, 0xbff0000000000000),
          OP1("cvt.rpi.f64.f64", "dd", 0x3fe0000000000000, ONE64),
          OP1("cvt.rzi.f64.f64", "dd", 0x43efffffffffffff, 0x43efffffffffffff));
}

/* ------------------------------------------------------------------ approximations */

/* Of powers of 2 even an approximation is exact; of other numbers the manual bounds the error. */
static void approximations_are_exact_where_they_can_be(void)
{
    CASES(OP1("ex2.approx.f32", "rr", 0x40400000, 0x41000000),
          OP1("ex2.approx.ftz.f32", "rr", NEG32(INF32), 0), OP1("ex2.approx.f32", "rr", 0, ONE32),
          OP1("lg2.approx.f32", "rr", 0x41000000, 0x40400000),
          OP1("lg2.approx.f32", "rr", 0, NEG32(INF32)),
          OP1("lg2.approx.f32", "rr", 0xbf800000, NAN32),
          OP1("rsqrt.approx.f32", "rr", 0x40800000, 0x3f000000),
          OP1("rsqrt.approx.f32", "rr", 0, INF32), OP1("rsqrt.approx.f32", "rr", INF32, 0),
          OP1("rcp.approx.ftz.f32", "rr", 0x40000000, 0x3f000000),
          OP1("rcp.approx.ftz.f32", "rr", 1, INF32),
          OP1("sqrt.approx.f32", "rr", 0x40800000, 0x40000000), OP1("sin.approx.f32", "rr", 0, 0),
          OP1("cos.approx.f32", "rr", 0, ONE32), OP1("sin.approx.f32", "rr", INF32, NAN32),
          OP1("tanh.approx.f32", "rr", INF32, ONE32),
          OP2("div.full.f32", "rrr", 0x40c00000, 0x40000000, 0x40400000),
          OP2("div.approx.f32", "rrr", 0x40c00000, 0x40000000, 0x40400000),
          OP1("rcp.approx.ftz.f64", "dd", 0x4000000000000000, 0x3fe0000000000000),
          OP1("rcp.approx.ftz.f64", "dd", 1, INF64),
          OP1("rcp.approx.ftz.f64", "dd", NEG64(INF64), MIN64),
          OP1("rsqrt.approx.ftz.f64", "dd", 0x4010000000000000, 0x3fe0000000000000),
          OP1("rsqrt.approx.ftz.f64", "dd", 0, INF64),
          OP1("rsqrt.approx.ftz.f64", "dd", 0x4000000000000000, 0x3fe6a09e00000000),
          OP1("rsqrt.approx.ftz.f64", "dd", 1, INF64),
          OP1("rsqrt.approx.f64", "dd", 0x4010000000000000, 0x3fe0000000000000),
          OP1("rsqrt.approx.f64", "dd", 4, 0x6170000000000000),
          {"rsqrt.approx.f64 %w0, %a; mul.f64 %w0, %w0, %w0; mul.f64 %w0, %w0, %a; sub.f64 %w0, "
           "%w0, 0d3ff0000000000000; abs.f64 %w0, %w0; setp.lt.f64 %x, %w0, 0d3cf0000000000000;",
           "pd",
           {0x4000000000000000},
           1});
}

TEST_MAIN(PROMISE(integer_sums_and_products_wrap), PROMISE(high_and_wide_products_are_exact),
          PROMISE(integer_division_truncates), PROMISE(saturated_sums_stop_at_the_limits),
          PROMISE(minimum_and_maximum_follow_the_sign),
          PROMISE(carries_go_from_one_instruction_to_the_next),
          PROMISE(bitwise_instructions_take_each_bit), PROMISE(shifts_clamp_their_amount),
          PROMISE(funnel_shifts_wrap_or_clamp), PROMISE(bits_are_counted_and_found),
          PROMISE(bit_fields_are_extracted), PROMISE(bit_fields_are_inserted),
          PROMISE(bytes_are_permuted), PROMISE(integers_are_compared_by_their_sign),
          PROMISE(comparisons_combine_with_a_predicate), PROMISE(values_are_chosen),
          PROMISE(single_precision_returns_one_nan), PROMISE(infinities_and_zeros_follow_ieee),
          PROMISE(subnormal_numbers_are_kept_unless_flushed),
          PROMISE(minimum_and_maximum_prefer_numbers),
          PROMISE(floats_are_compared_with_nan_as_said),
          PROMISE(saturation_keeps_results_between_0_and_1),
          PROMISE(each_rounding_mode_has_its_neighbour),
          PROMISE(random_results_are_the_exact_ones_rounded),
          PROMISE(integers_are_cut_and_extended), PROMISE(floats_become_integers_within_the_limits),
          PROMISE(nan_becomes_the_integer_that_the_manual_says),
          PROMISE(integers_become_the_rounded_float), PROMISE(floats_become_floats),
          PROMISE(approximations_are_exact_where_they_can_be))
