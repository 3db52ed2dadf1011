/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_decode.c
 *  Translates instructions: most by their entry in the tables of handlers, and branches, barriers
 * and those whose text has a form of its own. */
#include "ptx_decode.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ the opcode */

static bool part_is(const ptx_part *p, const char *text)
{
    return (size_t)p->length == strlen(text) && memcmp(p->text, text, (size_t)p->length) == 0;
}

bool ptx_take(ptx_decoder *d, const char *text)
{
    bool found = false;
    for (int k = 1; k < d->part_count; ++k)
        if (part_is(&d->parts[k], text)) found = d->parts[k].used = true;
    return found;
}

bool ptx_named_op(const ptx_decoder *d, const char *name)
{
    return part_is(&d->parts[0], name);
}

void ptx_refuse(ptx_decoder *d, const char *why)
{
    ptx_bad_at(&d->b->reader, &d->opcode, "%s", why);
}

static void split_opcode(ptx_decoder *d)
{
    const char *at = d->opcode.text, *end = at + d->opcode.length;
    while (at < end) {
        const char *point = memchr(at, '.', (size_t)(end - at));
        if (!point) point = end;
        if (d->part_count == PTX_PARTS) {
            ptx_refuse(d, "an opcode with so many parts is not supported");
            return;
        }
        ptx_part *part = &d->parts[d->part_count++];
        *part = (ptx_part){at, (int)(point - at), false};
        const ptx_type type = ptx_type_named(at, (size_t)(point - at));
        if (type != PTX_NONE && d->part_count > 1) {
            part->used = true;
            if (!d->type_count++) d->type = type;
            d->from = type;
        }
        at = point + 1;
    }
}

/* The name under which a table has the instruction: its parts that nobody has taken. */
static void name_of_rest(ptx_decoder *d, char *name, size_t room)
{
    size_t used = 0;
    for (int k = 0; k < d->part_count; ++k) {
        ptx_part *p = &d->parts[k];
        if (p->used || used + (size_t)p->length + 2 > room) continue;
        if (used) name[used++] = '.';
        memcpy(name + used, p->text, (size_t)p->length);
        used += (size_t)p->length;
        p->used = true;
    }
    name[used] = '\0';
}

/* ------------------------------------------------------------------ operands */

ptx_type ptx_operand_type(char letter, ptx_type type)
{
    static const ptx_type wide[PTX_TYPES] = {
        [PTX_U16] = PTX_U32, [PTX_S16] = PTX_S32, [PTX_U32] = PTX_U64, [PTX_S32] = PTX_S64};
    switch (letter) {
    case 'w':
        return wide[type];
    case 'u':
        return PTX_U32;
    case 'f':
        return PTX_F32;
    case 'd':
        return PTX_F64;
    case 'p':
        return PTX_PRED;
    default:
        return type;
    }
}

int ptx_temporary(ptx_decoder *d, ptx_type type)
{
    return ptx_new_register(d->b, ptx_type_bytes(type));
}

static ptx_type unsigned_of(size_t bytes)
{
    return bytes == 1 ? PTX_U8 : bytes == 2 ? PTX_U16 : bytes == 4 ? PTX_U32 : PTX_U64;
}

static int number(ptx_decoder *d, const ptx_value *v, ptx_type type)
{
    uint64_t bits = v->value;
    if (v->literal == PTX_BITS_OF_F64 && type == PTX_F32) {
        double x;
        memcpy(&x, &bits, sizeof x);
        const float y = (float)x;
        bits = 0;
        memcpy(&bits, &y, sizeof y);
    } else if (ptx_is_float(type) != (v->literal != PTX_INTEGER) ||
               (v->literal == PTX_BITS_OF_F32 && type == PTX_F64)) {
        /* Moves have types of bits. */
        if (v->literal == PTX_INTEGER ||
            ptx_type_bytes(type) != (v->literal == PTX_BITS_OF_F32 ? 4 : 8))
            ptx_bad_at(&d->b->reader, &v->token, "a number of another type is not supported");
    }
    return ptx_constant(d->b, ptx_type_bytes(type), bits);
}

/* A variable's address in its own space. */
static int address_of(ptx_decoder *d, const ptx_value *v, ptx_type type)
{
    const ptx_symbol *s = v->symbol;
    const size_t bytes = ptx_type_bytes(type);
    switch (s->kind) {
    case PTX_IS_DYNAMIC_SHARED: {
        const int reg = ptx_constant(d->b, bytes, v->value);
        const int base = ptx_dynamic_base(d->b, bytes);
        return ptx_apply(d, "add", type, -1, base, reg, -1);
    }
    case PTX_IS_GLOBAL:
    case PTX_IS_SHARED_PLACE:
    case PTX_IS_PARAMETER:
    case PTX_IS_LOCAL:
        return ptx_constant(d->b, bytes, s->value + v->value);
    default:
        ptx_bad_at(&d->b->reader, &v->token, "this is no variable");
        return 0;
    }
}

int ptx_source(ptx_decoder *d, const ptx_value *v, ptx_type type)
{
    if (d->b->error->failed) return 0;
    const size_t bytes = ptx_type_bytes(type);
    if (v->kind == PTX_A_NUMBER) return number(d, v, type);
    if (v->kind == PTX_AN_ADDRESS_OF) return address_of(d, v, type);
    if (v->kind != PTX_A_REGISTER) {
        ptx_bad_at(&d->b->reader, &v->token, "a value is expected");
        return 0;
    }
    const size_t have = d->b->registers[v->reg].width;
    if (v->negated) {
        if (type != PTX_PRED || have != 1)
            ptx_bad_at(&d->b->reader, &v->token, "no predicate to be negated");
        return ptx_apply(d, "not", PTX_PRED, -1, v->reg, -1, -1);
    }
    if (have == bytes) return v->reg;
    if (have < bytes || type == PTX_PRED || ptx_is_float(type)) {
        ptx_bad_at(&d->b->reader, &v->token, "a register of %zu bytes as an operand of %zu", have,
                   bytes);
        return 0;
    }
    const int narrow = ptx_temporary(d, type);
    const int registers[] = {narrow, v->reg};
    ptx_append(d, ptx_convert(type, unsigned_of(have)), 1, 2, registers)->pure = true;
    return narrow;
}

int ptx_result(ptx_decoder *d, const ptx_value *v, ptx_type type)
{
    if (d->b->error->failed) return 0;
    if (v->kind == PTX_A_SINK) return ptx_temporary(d, type);
    if (v->kind != PTX_A_REGISTER || d->b->registers[v->reg].is_fixed) {
        ptx_bad_at(&d->b->reader, &v->token, "a register for a result is expected");
        return 0;
    }
    const size_t have = d->b->registers[v->reg].width, bytes = ptx_type_bytes(type);
    if (have == bytes) return v->reg;
    if (have < bytes || type == PTX_PRED || ptx_is_float(type)) {
        ptx_bad_at(&d->b->reader, &v->token, "a register of %zu bytes for a result of %zu", have,
                   bytes);
        return 0;
    }
    const int narrow = ptx_temporary(d, type);
    d->widening[d->widenings++] = (ptx_widening){v->reg, narrow, type};
    return narrow;
}

void ptx_finish(ptx_decoder *d)
{
    for (int k = 0; k < d->widenings && !d->b->error->failed; ++k) {
        const ptx_widening *w = &d->widening[k];
        const ptx_type to = unsigned_of(d->b->registers[w->reg].width);
        const int registers[] = {w->reg, w->from};
        ptx_append(d, ptx_convert(to, w->type), 1, 2, registers)->pure = true;
    }
}

/* ------------------------------------------------------------------ instructions */

ptx_ins *ptx_append(ptx_decoder *d, ptx_handler *run, int outputs, int count, const int *registers)
{
    static ptx_ins nowhere;
    ptx_builder *b = d->b;
    ptx_kernel *k = b->kernel;
    ptx_ins *grown = ptx_grow(b, k->code, k->instructions, &b->instruction_room, sizeof *grown);
    if (grown) k->code = grown;
    if (b->error->failed) return &nowhere;
    ptx_ins *in = &k->code[k->instructions++];
    *in = (ptx_ins){.run = run,
                    .rows = (unsigned char)count,
                    .outputs = (unsigned char)outputs,
                    .line = d->line,
                    .has_predicate = d->predicate >= 0,
                    .predicate = d->predicate >= 0 ? (uint32_t)d->predicate : 0,
                    .negated = d->negated};
    for (int j = 0; j < count; ++j) {
        in->row[j] = (uint32_t)registers[j];
        in->width[j] = b->registers[registers[j]].width;
    }
    return in;
}

static const ptx_op *const tables[] = {ptx_ops_integer, ptx_ops_float, ptx_ops_convert,
                                       ptx_ops_warp};

const ptx_op *ptx_op_find(const char *name, size_t length, ptx_type type)
{
    if (type == PTX_NONE) return NULL;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t)
        for (const ptx_op *op = tables[t]; op->name; ++op)
            if (op->run[type] && strncmp(op->name, name, length) == 0 && !op->name[length])
                return op;
    return NULL;
}

int ptx_apply(ptx_decoder *d, const char *name, ptx_type type, int result, int a, int b, int c)
{
    const ptx_op *op = ptx_op_find(name, strlen(name), type);
    if (!op) {
        ptx_refuse(d, "this instruction is not supported with this type");
        return 0;
    }
    if (result < 0) result = ptx_temporary(d, ptx_operand_type(op->operands[0], type));
    const int registers[] = {result, a, b, c};
    ptx_append(d, op->run[type], 1, (int)strlen(op->operands), registers)->pure = true;
    return result;
}

static ptx_rounding take_rounding(ptx_decoder *d)
{
    if (ptx_take(d, "rz")) return PTX_TO_ZERO;
    if (ptx_take(d, "rm")) return PTX_DOWN;
    if (ptx_take(d, "rp")) return PTX_UP;
    ptx_take(d, "rn");
    return PTX_NEAREST;
}

/* Any instruction that a table has: its name without types, and its operands as the table says. */
static void decode_by_table(ptx_decoder *d)
{
    const ptx_rounding rounding = ptx_is_float(d->type) ? take_rounding(d) : PTX_NEAREST;
    const bool flush = ptx_take(d, "ftz"), saturates = ptx_is_float(d->type) && ptx_take(d, "sat");
    char name[64];
    name_of_rest(d, name, sizeof name);
    if (strcmp(name, "slct") == 0) strcpy(name, d->from == PTX_F32 ? "slct.f32" : "slct.s32");
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
    const bool flushes = flush && d->type == PTX_F32;
    for (int k = 1; k < d->operands; ++k) {
        registers[k] =
            ptx_source(d, &d->operand[k].one, ptx_operand_type(op->operands[k], d->type));
        if (flushes && op->operands[k] == 't')
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
    if (flushes && type == PTX_F32) ptx_apply(d, "flush", type, registers[0], registers[0], -1, -1);
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
    name_of_rest(d, name, sizeof name);
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
    const int q = ptx_apply(d, "not", PTX_PRED, -1, p, -1, -1);
    for (int k = 0; k < 2 && both[k].kind != PTX_NOTHING; ++k) {
        const int result = ptx_result(d, &both[k], PTX_PRED);
        if (combine) ptx_apply(d, combine, PTX_PRED, result, k ? q : p, c, -1);
        else ptx_apply(d, "mov", PTX_PRED, result, k ? q : p, -1, -1);
    }
}

static void decode_setp(ptx_decoder *d)
{
    const ptx_value both[] = {d->operand[0].one, d->operand[0].second};
    decode_comparison(d, both, 1);
}

static void decode_set(ptx_decoder *d)
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
static bool decode_carry(ptx_decoder *d)
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
    const ptx_type whole = unsigned_of(bytes),
                   part = unsigned_of(bytes / (size_t)(parts->count ? parts->count : 1));
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
    const ptx_type whole = unsigned_of(bytes),
                   part = unsigned_of(bytes / (size_t)(parts->count ? parts->count : 1));
    const int from = ptx_source(d, &d->operand[1].one, whole);
    for (int k = 0; k < parts->count; ++k) {
        if (parts->list[k].kind == PTX_A_SINK) continue;
        const int by = ptx_constant(d->b, 4, 8 * (uint64_t)k * ptx_type_bytes(part));
        const int moved = k ? ptx_apply(d, "shr", whole, -1, from, by, -1) : from;
        const int registers[] = {ptx_result(d, &parts->list[k], part), moved};
        ptx_append(d, ptx_convert(part, whole), 1, 2, registers)->pure = true;
    }
}

static void decode_mov(ptx_decoder *d)
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
static void decode_cvta(ptx_decoder *d)
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

static void decode_isspacep(ptx_decoder *d)
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

static void decode_lop3(ptx_decoder *d)
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
static void decode_warp(ptx_decoder *d)
{
    char name[64];
    name_of_rest(d, name, sizeof name);
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

/* ------------------------------------------------------------------ branches and barriers */

static ptx_ins *append_flow(ptx_decoder *d, ptx_flow flow)
{
    ptx_ins *in = ptx_append(d, NULL, 0, 0, NULL);
    in->flow = (unsigned char)flow;
    d->parts[0].used = true;
    return in;
}

static void decode_branch(ptx_decoder *d)
{
    ptx_take(d, "uni");
    if (d->operands != 1 || d->operand[0].one.kind != PTX_A_NAME) {
        ptx_refuse(d, "a branch to what is no label");
        return;
    }
    append_flow(d, PTX_BRANCH);
    ptx_branch_to(d->b, d->b->kernel->instructions - 1, &d->operand[0].one.token);
}

static void decode_indexed_branch(ptx_decoder *d)
{
    ptx_take(d, "uni");
    if (!ptx_take(d, "idx") || d->operands != 2 || d->operand[1].one.kind != PTX_A_NAME) {
        ptx_refuse(d, "this form of branch is not supported");
        return;
    }
    const int index = ptx_source(d, &d->operand[0].one, PTX_U32);
    ptx_ins *in = ptx_append(d, NULL, 0, 1, &index);
    in->flow = PTX_INDEXED;
    d->parts[0].used = true;
    ptx_branch_to(d->b, d->b->kernel->instructions - 1, &d->operand[1].one.token);
}

static void decode_return(ptx_decoder *d)
{
    ptx_take(d, "uni");
    const bool ends = ptx_named_op(d, "exit") || d->b->in_entry;
    append_flow(d, ends ? PTX_LEAVE : PTX_BRANCH)->target = -1;
}

static void decode_trap(ptx_decoder *d)
{
    append_flow(d, PTX_TRAP);
}

static void decode_barrier(ptx_decoder *d)
{
    if (ptx_take(d, "warp")) {
        for (int k = 1; k < d->part_count; ++k) d->parts[k].used = false;
        d->type = PTX_U32;
        decode_warp(d);
        return;
    }
    ptx_take(d, "cta");
    ptx_take(d, "aligned");
    if (!ptx_take(d, "sync") || d->operands != 1 || d->operand[0].one.kind != PTX_A_NUMBER) {
        ptx_refuse(d, "this form of barrier is not supported");
        return;
    }
    append_flow(d, PTX_BARRIER);
}

static void decode_call(ptx_decoder *d)
{
    ptx_take(d, "uni");
    d->parts[0].used = true;
    if (d->predicate >= 0) ptx_refuse(d, "a call under a predicate is not supported");
    else ptx_translate_call(d->b, d->operand, d->operands);
}

static void decode_fence(ptx_decoder *d)
{
    static const char *const parts[] = {"cta", "gl",      "sys",     "gpu",
                                        "sc",  "acq_rel", "acquire", "release"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) ptx_take(d, parts[k]);
    ptx_append(d, ptx_fence, 0, 0, NULL);
    d->parts[0].used = true;
}

/* What has no effect that a thread could see. */
static void decode_hint(ptx_decoder *d)
{
    for (int k = 0; k < d->part_count; ++k) d->parts[k].used = true;
}

/* ------------------------------------------------------------------ the choice */

static const struct {
    const char *name;
    void (*decode)(ptx_decoder *d);
} own_forms[] = {{"mov", decode_mov},
                 {"ld", ptx_decode_memory},
                 {"ldu", ptx_decode_memory},
                 {"st", ptx_decode_memory},
                 {"atom", ptx_decode_memory},
                 {"red", ptx_decode_memory},
                 {"cvt", ptx_decode_convert},
                 {"cvta", decode_cvta},
                 {"setp", decode_setp},
                 {"set", decode_set},
                 {"lop3", decode_lop3},
                 {"bra", decode_branch},
                 {"brx", decode_indexed_branch},
                 {"ret", decode_return},
                 {"exit", decode_return},
                 {"trap", decode_trap},
                 {"bar", decode_barrier},
                 {"barrier", decode_barrier},
                 {"call", decode_call},
                 {"membar", decode_fence},
                 {"fence", decode_fence},
                 {"prefetch", decode_hint},
                 {"prefetchu", decode_hint},
                 {"nanosleep", decode_hint},
                 {"isspacep", decode_isspacep},
                 {"shfl", decode_warp},
                 {"vote", decode_warp},
                 {"activemask", decode_warp}};

/* Operands of instructions that are not known are not read: they may have any form. */
static bool is_known(const ptx_decoder *d)
{
    const ptx_part *name = &d->parts[0];
    for (size_t k = 0; k < sizeof own_forms / sizeof *own_forms; ++k)
        if (ptx_named_op(d, own_forms[k].name)) return true;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t)
        for (const ptx_op *op = tables[t]; op->name; ++op)
            if (strncmp(op->name, name->text, (size_t)name->length) == 0) return true;
    return ptx_named_op(d, "madc");
}

static void decode(ptx_decoder *d)
{
    for (size_t k = 0; k < sizeof own_forms / sizeof *own_forms; ++k) {
        if (!ptx_named_op(d, own_forms[k].name)) continue;
        own_forms[k].decode(d);
        return;
    }
    if (!decode_carry(d)) decode_by_table(d);
}

static void read_predicate(ptx_decoder *d)
{
    ptx_reader *r = &d->b->reader;
    ptx_operand o;
    ptx_next(r);
    ptx_read_operand(d->b, &o);
    if (o.form != PTX_ONE || o.one.kind != PTX_A_REGISTER || d->b->registers[o.one.reg].width != 1)
        ptx_bad(r, "a predicate is expected");
    d->predicate = o.one.reg;
    d->negated = o.one.negated;
}

void ptx_translate_instruction(ptx_builder *b)
{
    ptx_reader *r = &b->reader;
    ptx_operand operands[PTX_OPERANDS];
    ptx_decoder d = {
        .b = b, .operand = operands, .predicate = -1, .type = PTX_NONE, .from = PTX_NONE};
    for (int k = 0; k < PTX_OPERANDS; ++k) ptx_clear_operand(&operands[k]);
    if (ptx_at(r, "@")) read_predicate(&d);
    d.line = r->token.line;
    d.opcode = ptx_word(r);
    if (b->error->failed) return;
    split_opcode(&d);
    if (!is_known(&d)) ptx_refuse(&d, "this instruction is not supported");
    while (!b->error->failed && !ptx_at(r, ";")) {
        if (d.operands == PTX_OPERANDS) ptx_bad(r, "so many operands are not supported");
        else ptx_read_operand(b, &d.operand[d.operands++]);
        if (!ptx_accept(r, ",") && !ptx_at(r, ";")) ptx_bad(r, "a comma or semicolon is expected");
    }
    if (b->error->failed) return;
    decode(&d);
    ptx_finish(&d);
    for (int k = 0; k < d.part_count && !b->error->failed; ++k)
        if (!d.parts[k].used) ptx_refuse(&d, "a part of this instruction is not supported");
    ptx_accept(r, ";");
}
