/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_decode_value.c
 *  Translates arithmetic, comparisons, moves, address conversions and warp instructions. */
#include "ptx_decode.h"

#include <string.h>

/* Any instruction that a table has: its name without types, and its operands as the table says. */
void ptx_decode_by_table(ptx_decoder *d)
{
    const ptx_rounding rounding = ptx_is_float(d->type) ? ptx_take_rounding(d) : PTX_NEAREST;
    const bool saturates = ptx_is_float(d->type) && ptx_take(d, "sat");
    const bool flush = d->from == PTX_F32 && ptx_take(d, "ftz");
    char name[64];
    ptx_name_of_rest(d, name, sizeof name);
    const bool is_choice = strcmp(name, "slct") == 0;
    if (is_choice) strcpy(name, d->from == PTX_F32 ? "slct.f32" : "slct.s32");
    const ptx_op *op = ptx_op_find(name, strlen(name), d->type);
    if (!op) {
        ptx_refuse(d, "this instruction is not supported");
        return;
    }
    if ((int)strlen(op->operands) != d->operands) {
        ptx_refuse(d, "this instruction has another number of operands");
        return;
    }
    int registers[PTX_OPERANDS];
    const ptx_type type = ptx_operand_type(op->operands[0], d->type);
    const char flushed = is_choice ? 'f' : 't'; /* a choice flushes only what it depends on */
    for (int k = 1; k < d->operands; ++k) {
        registers[k] =
            ptx_source(d, &d->operand[k].one, ptx_operand_type(op->operands[k], d->type));
        if (flush && op->operands[k] == flushed)
            registers[k] = ptx_apply(d, "flush", PTX_F32, -1, registers[k], -1, -1);
    }
    registers[0] = ptx_result(d, &d->operand[0].one, type);
    ptx_ins *in = ptx_append(d, op->run[d->type], 1, d->operands, registers);
    in->pure = true;
    if (rounding != PTX_NEAREST) {
        in->plain = in->run;
        in->run = ptx_directed;
        in->aux = rounding;
    }
    if (flush && !is_choice && type == PTX_F32)
        ptx_apply(d, "flush", type, registers[0], registers[0], -1, -1);
    if (saturates) ptx_apply(d, "saturate", type, registers[0], registers[0], -1, -1);
}

/* A comparison, which and, or, or xor with a predicate may follow, for setp and set. */
static void decode_comparison(ptx_decoder *d, const ptx_value *both, int first)
{
    const char *const combine = ptx_take(d, "and")   ? "and"
                                : ptx_take(d, "or")  ? "or"
                                : ptx_take(d, "xor") ? "xor"
                                                     : NULL;
    const bool flush = ptx_take(d, "ftz") && d->from == PTX_F32;
    char name[64];
    d->parts[0] = (ptx_part){"setp", 4, false};
    ptx_name_of_rest(d, name, sizeof name);
    const int count = first + 2 + (combine != NULL);
    if (d->operands != count || !ptx_op_find(name, strlen(name), d->from)) {
        ptx_refuse(d, "this comparison is not supported");
        return;
    }
    int a = ptx_source(d, &d->operand[first].one, d->from),
        b = ptx_source(d, &d->operand[first + 1].one, d->from);
    if (flush)
        a = ptx_apply(d, "flush", PTX_F32, -1, a, -1, -1),
        b = ptx_apply(d, "flush", PTX_F32, -1, b, -1, -1);
    const int c = combine ? ptx_source(d, &d->operand[count - 1].one, PTX_PRED) : -1;
    const bool plain = !combine && both[1].kind == PTX_NOTHING;
    const int p =
        ptx_apply(d, name, d->from, plain ? ptx_result(d, &both[0], PTX_PRED) : -1, a, b, -1);
    if (plain) return;
    if (both[1].kind == PTX_NOTHING) {
        ptx_apply(d, combine, PTX_PRED, ptx_result(d, &both[0], PTX_PRED), p, c, -1);
        return;
    }
    int value[2] = {p, ptx_apply(d, "not", PTX_PRED, -1, p, -1, -1)};
    for (int k = 0; k < 2 && combine; ++k)
        value[k] = ptx_apply(d, combine, PTX_PRED, -1, value[k], c, -1);
    /* The instruction's own predicate may be an output: it is set last. */
    const bool swaps = both[0].kind == PTX_A_REGISTER && both[0].reg == d->predicate;
    for (int k = 0; k < 2; ++k)
        ptx_apply(d, "mov", PTX_PRED, ptx_result(d, &both[k ^ swaps], PTX_PRED), value[k ^ swaps],
                  -1, -1);
}

void ptx_decode_setp(ptx_decoder *d)
{
    const ptx_value both[] = {d->operand[0].one, d->operand[0].second};
    decode_comparison(d, both, 1);
}

void ptx_decode_set(ptx_decoder *d)
{
    const int p = ptx_temporary(d, PTX_PRED);
    const ptx_value both[2] = {{.kind = PTX_A_REGISTER, .reg = p}};
    const uint64_t yes = d->type == PTX_F32 ? 0x3f800000 : 0xffffffff;
    if (d->type_count != 2 || ptx_type_bytes(d->type) != 4)
        ptx_refuse(d, "this form of set is not supported");
    decode_comparison(d, both, 1);
    if (d->b->error->failed) return;
    ptx_apply(d, "selp", d->type, ptx_result(d, &d->operand[0].one, d->type),
              ptx_constant(d->b, 4, yes), ptx_constant(d->b, 4, 0), p);
}

/* add.cc, addc, mad.lo.cc, madc.hi and so on. */
bool ptx_decode_carry(ptx_decoder *d)
{
    static const char *const names[] = {"add", "addc", "sub", "subc", "mad", "madc"};
    int k = 0;
    while (k < 6 && !ptx_named_op(d, names[k])) ++k;
    if (k == 6) return false;
    const bool sets = ptx_take(d, "cc"), uses = k % 2 == 1, is_mad = k > 3;
    if (!sets && !uses) return false;
    const ptx_op *op = ptx_op_find(k / 2 == 1 ? "subc" : "addc", 4, d->type);
    if (!op || d->operands != (is_mad ? 4 : 3)) {
        ptx_refuse(d, "this form of carry is not supported");
        return true;
    }
    if (d->b->carry < 0) d->b->carry = ptx_temporary(d, PTX_PRED);
    int a = ptx_source(d, &d->operand[1].one, d->type),
        b = ptx_source(d, &d->operand[2].one, d->type);
    if (is_mad) {
        const bool high = ptx_take(d, "hi");
        if (!high && !ptx_take(d, "lo")) ptx_refuse(d, "this form of carry is not supported");
        a = ptx_apply(d, high ? "mul.hi" : "mul.lo", d->type, -1, a, b, -1);
        b = ptx_source(d, &d->operand[3].one, d->type);
    }
    d->parts[0].used = true;
    const int out = sets ? d->b->carry : ptx_temporary(d, PTX_PRED);
    const int registers[] = {ptx_result(d, &d->operand[0].one, d->type), out, a, b,
                             uses ? d->b->carry : ptx_constant(d->b, 1, 0)};
    ptx_append(d, op->run[d->type], 2, 5, registers)->pure = true;
    return true;
}

/* Parts of a register, one after the other from the low bits on. */
static void decode_pack(ptx_decoder *d)
{
    const ptx_operand *parts = &d->operand[1];
    const size_t bytes = ptx_type_bytes(d->type);
    const ptx_type whole = ptx_unsigned_of(bytes),
                   part = ptx_unsigned_of(bytes / (size_t)(parts->count ? parts->count : 1));
    int sum = -1;
    for (int k = 0; k < parts->count; ++k) {
        const int widened = ptx_temporary(d, whole),
                  registers[] = {widened, ptx_source(d, &parts->list[k], part)};
        ptx_append(d, ptx_convert(whole, part), 1, 2, registers)->pure = true;
        const int by = ptx_constant(d->b, 4, 8 * (uint64_t)k * ptx_type_bytes(part));
        const int moved = k ? ptx_apply(d, "shl", whole, -1, widened, by, -1) : widened;
        sum = k ? ptx_apply(d, "or", whole, -1, sum, moved, -1) : moved;
    }
    ptx_apply(d, "mov", whole, ptx_result(d, &d->operand[0].one, whole), sum, -1, -1);
}

static void decode_unpack(ptx_decoder *d)
{
    const ptx_operand *parts = &d->operand[0];
    const size_t bytes = ptx_type_bytes(d->type);
    const ptx_type whole = ptx_unsigned_of(bytes),
                   part = ptx_unsigned_of(bytes / (size_t)(parts->count ? parts->count : 1));
    const int from = ptx_source(d, &d->operand[1].one, whole);
    for (int k = 0; k < parts->count; ++k) {
        if (parts->list[k].kind == PTX_A_SINK) continue;
        const int by = ptx_constant(d->b, 4, 8 * (uint64_t)k * ptx_type_bytes(part));
        const int moved = k ? ptx_apply(d, "shr", whole, -1, from, by, -1) : from;
        const int registers[] = {ptx_result(d, &parts->list[k], part), moved};
        ptx_append(d, ptx_convert(part, whole), 1, 2, registers)->pure = true;
    }
}

void ptx_decode_mov(ptx_decoder *d)
{
    const bool unpack = d->operand[0].form == PTX_VECTOR_OF,
               pack = d->operand[1].form == PTX_VECTOR_OF;
    const int parts = d->operand[pack].count;
    d->parts[0].used = true;
    if (d->operands != 2 || d->type_count != 1 || (pack && unpack) ||
        ((pack || unpack) && parts != 2 && parts != 4 && parts != 8)) {
        ptx_refuse(d, "this form of mov is not supported");
        return;
    }
    if (d->operand[1].one.kind == PTX_AN_ADDRESS_OF && d->operand[1].one.symbol->is_argument) {
        ptx_refuse(d, "the address of a function's parameter is not supported");
        return;
    }
    if (pack) decode_pack(d);
    else if (unpack) decode_unpack(d);
    else {
        const int from = ptx_source(d, &d->operand[1].one, d->type);
        ptx_apply(d, "mov", d->type, ptx_result(d, &d->operand[0].one, d->type), from, -1, -1);
    }
}

/* Between generic addresses and those of a space. */
void ptx_decode_cvta(ptx_decoder *d)
{
    const bool to = ptx_take(d, "to");
    const bool plain = ptx_take(d, "global") || ptx_take(d, "const");
    const uint64_t window = ptx_take(d, "shared") || ptx_take(d, "shared::cta") ? PTX_SHARED_WINDOW
                            : ptx_take(d, "local")                              ? PTX_LOCAL_WINDOW
                            : ptx_take(d, "param") || ptx_take(d, "param::entry") ? PTX_PARAM_WINDOW
                                                                                  : 0;
    d->parts[0].used = true;
    if (d->operands != 2 || ptx_type_bytes(d->type) != 8 || (!plain && !window)) {
        ptx_refuse(d, "this form of cvta is not supported");
        return;
    }
    const int from = ptx_source(d, &d->operand[1].one, PTX_U64),
              result = ptx_result(d, &d->operand[0].one, PTX_U64);
    if (plain) ptx_apply(d, "mov", PTX_U64, result, from, -1, -1);
    else if (to)
        ptx_apply(d, "and", PTX_U64, result, from, ptx_constant(d->b, 8, ~PTX_WINDOWS), -1);
    else ptx_apply(d, "or", PTX_U64, result, from, ptx_constant(d->b, 8, window), -1);
}

void ptx_decode_isspacep(ptx_decoder *d)
{
    const bool global = ptx_take(d, "global");
    const uint64_t window = ptx_take(d, "shared") || ptx_take(d, "shared::cta") ? PTX_SHARED_WINDOW
                            : ptx_take(d, "local")                              ? PTX_LOCAL_WINDOW
                            : global                                            ? PTX_WINDOWS
                                                                                : 0;
    d->parts[0].used = true;
    if (d->operands != 2 || !window) {
        ptx_refuse(d, "this form of isspacep is not supported");
        return;
    }
    const int from = ptx_source(d, &d->operand[1].one, PTX_U64);
    const int bits = ptx_apply(d, "and", PTX_U64, -1, from, ptx_constant(d->b, 8, window), -1);
    ptx_apply(d, global ? "setp.eq" : "setp.ne", PTX_U64,
              ptx_result(d, &d->operand[0].one, PTX_PRED), bits, ptx_constant(d->b, 8, 0), -1);
}

void ptx_decode_lop3(ptx_decoder *d)
{
    const ptx_value *table = &d->operand[4].one;
    d->parts[0].used = true;
    if (d->operands != 5 || table->kind != PTX_A_NUMBER || d->type != PTX_U32) {
        ptx_refuse(d, "this form of lop3 is not supported");
        return;
    }
    int source[3];
    for (int k = 0; k < 3; ++k) source[k] = ptx_source(d, &d->operand[k + 1].one, PTX_U32);
    ptx_apply(d, "lop3", PTX_U32, ptx_result(d, &d->operand[0].one, PTX_U32), source[0], source[1],
              source[2]);
    if (!d->b->error->failed)
        d->b->kernel->code[d->b->kernel->instructions - 1].aux = (uint32_t)table->value;
}

/* Exchanges within a warp. None is pure: they depend on which threads take part. */
void ptx_decode_warp(ptx_decoder *d)
{
    char name[64];
    ptx_name_of_rest(d, name, sizeof name);
    const ptx_op *op = ptx_op_find(name, strlen(name), d->type);
    const bool shuffles = ptx_named_op(d, "shfl"), waits = ptx_named_op(d, "bar");
    const int given = d->operands + shuffles;
    if (!op || (int)strlen(op->operands) != given) {
        ptx_refuse(d, "this instruction is not supported");
        return;
    }
    static const ptx_value sink = {.kind = PTX_A_SINK};
    int registers[PTX_OPERANDS], count = 0;
    if (!waits)
        registers[count++] =
            ptx_result(d, &d->operand[0].one, ptx_operand_type(op->operands[0], d->type));
    if (shuffles) {
        const ptx_value *second = &d->operand[0].second;
        registers[count++] = ptx_result(d, second->kind == PTX_NOTHING ? &sink : second, PTX_PRED);
    }
    for (int k = waits ? 0 : 1; k < d->operands; ++k, ++count)
        registers[count] =
            ptx_source(d, &d->operand[k].one, ptx_operand_type(op->operands[count], d->type));
    ptx_append(d, op->run[d->type], waits ? 0 : 1 + shuffles, count, registers);
}
