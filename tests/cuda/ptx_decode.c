/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_decode.c
 *  One instruction: its opcode's parts, its operands' registers, and the function that translates
 * it. */
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
void ptx_name_of_rest(ptx_decoder *d, char *name, size_t room)
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

ptx_type ptx_unsigned_of(size_t bytes)
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
    if (type == PTX_PRED) bits = bits != 0;
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
    ptx_append(d, ptx_convert(type, ptx_unsigned_of(have)), 1, 2, registers)->pure = true;
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
        const ptx_type to = ptx_unsigned_of(d->b->registers[w->reg].width);
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

ptx_rounding ptx_take_rounding(ptx_decoder *d)
{
    if (ptx_take(d, "rz")) return PTX_TO_ZERO;
    if (ptx_take(d, "rm")) return PTX_DOWN;
    if (ptx_take(d, "rp")) return PTX_UP;
    ptx_take(d, "rn");
    return PTX_NEAREST;
}

/* ------------------------------------------------------------------ the choice */

static const struct {
    const char *name;
    ptx_decode *decode;
} own_forms[] = {{"mov", ptx_decode_mov},
                 {"ld", ptx_decode_memory},
                 {"ldu", ptx_decode_memory},
                 {"st", ptx_decode_memory},
                 {"atom", ptx_decode_memory},
                 {"red", ptx_decode_memory},
                 {"cvt", ptx_decode_convert},
                 {"cvta", ptx_decode_cvta},
                 {"setp", ptx_decode_setp},
                 {"set", ptx_decode_set},
                 {"lop3", ptx_decode_lop3},
                 {"bra", ptx_decode_branch},
                 {"brx", ptx_decode_indexed_branch},
                 {"ret", ptx_decode_return},
                 {"exit", ptx_decode_return},
                 {"trap", ptx_decode_trap},
                 {"bar", ptx_decode_barrier},
                 {"barrier", ptx_decode_barrier},
                 {"call", ptx_decode_call},
                 {"membar", ptx_decode_fence},
                 {"fence", ptx_decode_fence},
                 {"prefetch", ptx_decode_hint},
                 {"prefetchu", ptx_decode_hint},
                 {"nanosleep", ptx_decode_hint},
                 {"isspacep", ptx_decode_isspacep},
                 {"shfl", ptx_decode_warp},
                 {"vote", ptx_decode_warp},
                 {"activemask", ptx_decode_warp}};

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
    if (!ptx_decode_carry(d)) ptx_decode_by_table(d);
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
