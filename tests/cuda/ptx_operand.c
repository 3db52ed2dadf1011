/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_operand.c
 *  Reads the operands of instructions: registers, numbers, addresses, and lists of them. */
#include "ptx_build.h"

static void read_number(ptx_builder *b, ptx_value *v)
{
    const bool minus = ptx_accept(&b->reader, "-");
    v->kind = PTX_A_NUMBER;
    v->value = ptx_number(&b->reader, &v->literal);
    if (minus && v->literal != PTX_INTEGER)
        ptx_bad(&b->reader, "a minus before bits is not supported");
    if (minus) v->value = (uint64_t)0 - v->value;
}

static int64_t read_offset(ptx_builder *b)
{
    ptx_reader *r = &b->reader;
    bool minus = false;
    if (!ptx_at(r, "+") && !ptx_at(r, "-")) return 0;
    while (ptx_at(r, "+") || ptx_at(r, "-")) {
        minus ^= ptx_at(r, "-");
        ptx_next(r);
    }
    const int64_t value = (int64_t)ptx_number(r, NULL);
    return minus ? -value : value;
}

static void read_value(ptx_builder *b, ptx_value *v)
{
    ptx_reader *r = &b->reader;
    int number;
    *v = (ptx_value){.token = r->token};
    v->negated = ptx_accept(r, "!");
    if (r->token.kind == PTX_NUMBER || ptx_at(r, "-")) {
        read_number(b, v);
        return;
    }
    const ptx_token name = v->token = ptx_word(r);
    if (r->error->failed) return;
    if (ptx_token_is(&name, "_")) {
        v->kind = PTX_A_SINK;
        return;
    }
    if (ptx_token_is(&name, "WARP_SZ")) {
        v->kind = PTX_A_NUMBER;
        v->value = 32;
        return;
    }
    v->kind = PTX_A_REGISTER;
    v->reg = *name.text == '%' ? ptx_special_register(b, &name) : -1;
    if (v->reg >= 0) return;
    const ptx_symbol *symbol = ptx_lookup(b, &name, &number);
    if (symbol && (symbol->kind == PTX_IS_REGISTER || symbol->kind == PTX_IS_REGISTERS)) {
        v->reg = (int)symbol->value + number;
        return;
    }
    if (!symbol && *name.text == '%')
        ptx_bad_at(r, &name, "this register is not declared or not supported");
    v->kind = symbol && symbol->kind != PTX_IS_FUNCTION ? PTX_AN_ADDRESS_OF : PTX_A_NAME;
    v->symbol = symbol;
}

void ptx_clear_operand(ptx_operand *o)
{
    o->form = PTX_ONE;
    o->one = o->second = (ptx_value){.kind = PTX_NOTHING};
    o->offset = 0;
    o->count = 0;
}

void ptx_read_operand(ptx_builder *b, ptx_operand *o)
{
    ptx_reader *r = &b->reader;
    ptx_clear_operand(o);
    const bool vector = ptx_accept(r, "{"), names = !vector && ptx_accept(r, "(");
    if (vector || names) {
        const char *close = vector ? "}" : ")";
        o->form = vector ? PTX_VECTOR_OF : PTX_GROUP_OF;
        if (ptx_accept(r, close)) return;
        do {
            if (o->count == PTX_LIST)
                ptx_bad(r, "a list of more than %d is not supported", PTX_LIST);
            else read_value(b, &o->list[o->count++]);
        } while (ptx_accept(r, ","));
        ptx_expect(r, close);
    } else if (ptx_accept(r, "[")) {
        o->form = PTX_MEMORY;
        read_value(b, &o->one);
        o->offset = read_offset(b);
        ptx_expect(r, "]");
    } else {
        read_value(b, &o->one);
        if (o->one.kind == PTX_AN_ADDRESS_OF) o->one.value = (uint64_t)read_offset(b);
        if (ptx_accept(r, "|")) read_value(b, &o->second);
    }
}
