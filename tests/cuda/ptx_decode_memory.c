/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_decode_memory.c
 *  Translates loads, stores and atomic operations. */
#include "ptx_decode.h"

#include <string.h>

static ptx_space take_space(ptx_decoder *d, bool *is_constant)
{
    *is_constant = ptx_take(d, "const");
    if (*is_constant || ptx_take(d, "global")) return PTX_GLOBAL;
    if (ptx_take(d, "shared") || ptx_take(d, "shared::cta")) return PTX_SHARED;
    if (ptx_take(d, "local")) return PTX_LOCAL;
    if (ptx_take(d, "param") || ptx_take(d, "param::entry") || ptx_take(d, "param::func"))
        return PTX_PARAM;
    return PTX_GENERIC;
}

/* Cache hints are ignored. Plain and relaxed accesses are the same here; acquire and release are
 * fences before and after. */
static bool take_hints(ptx_decoder *d)
{
    static const char *const hints[] = {"ca",
                                        "cg",
                                        "cs",
                                        "lu",
                                        "cv",
                                        "wb",
                                        "wt",
                                        "nc",
                                        "weak",
                                        "relaxed",
                                        "volatile",
                                        "cta",
                                        "gpu",
                                        "sys",
                                        "unified",
                                        "L1::evict_normal",
                                        "L1::evict_unchanged",
                                        "L1::evict_first",
                                        "L1::evict_last",
                                        "L1::no_allocate",
                                        "L2::64B",
                                        "L2::128B",
                                        "L2::256B",
                                        "noftz"};
    for (size_t k = 0; k < sizeof hints / sizeof *hints; ++k) ptx_take(d, hints[k]);
    const bool acquires = ptx_take(d, "acquire"), releases = ptx_take(d, "release");
    return ptx_take(d, "acq_rel") || acquires || releases;
}

static int take_vector(ptx_decoder *d)
{
    return ptx_take(d, "v2") ? 2 : ptx_take(d, "v4") ? 4 : ptx_take(d, "v8") ? 8 : 1;
}

/* The register of an address; the space is that of a variable where one is named. */
static int address(ptx_decoder *d, const ptx_operand *o, ptx_space *space)
{
    const ptx_value *v = &o->one;
    if (o->form != PTX_MEMORY) {
        ptx_refuse(d, "an address in brackets is expected");
        return 0;
    }
    if (v->kind == PTX_A_REGISTER) {
        const int width = d->b->registers[v->reg].width;
        if (width != 8 && (width != 4 || *space == PTX_GENERIC || *space == PTX_GLOBAL))
            ptx_bad_at(&d->b->reader, &v->token, "an address of %d bytes is not supported here",
                       width);
        return v->reg;
    }
    if (v->kind == PTX_AN_ADDRESS_OF && v->symbol->kind == PTX_IS_LOCAL && *space == PTX_PARAM)
        *space = PTX_LOCAL;
    if (v->kind == PTX_AN_ADDRESS_OF && v->symbol->kind != PTX_IS_GLOBAL && *space == PTX_GENERIC)
        ptx_bad_at(&d->b->reader, &v->token, "a variable as a generic address is not supported");
    return ptx_source(d, v, PTX_U64);
}

static ptx_ins *append_access(ptx_decoder *d, ptx_handler *run, ptx_space space, size_t bytes,
                              int64_t offset, int outputs, int count, const int *registers)
{
    ptx_ins *in = ptx_append(d, run, outputs, count, registers);
    in->space = (unsigned char)space;
    in->bytes = (unsigned char)bytes;
    in->offset = offset;
    return in;
}

static void decode_atomic(ptx_decoder *d, bool returns)
{
    static const char *const names[] = {"add", "exch", "cas", "and", "or",
                                        "xor", "min",  "max", "inc", "dec"};
    static const ptx_value sink = {.kind = PTX_A_SINK};
    bool is_constant;
    ptx_space space = take_space(d, &is_constant);
    const ptx_operand *o = d->operand + returns;
    const char *name = "";
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (ptx_take(d, names[k])) name = names[k];
    const bool swaps = strcmp(name, "cas") == 0;
    ptx_handler *run = d->type_count == 1 ? ptx_atomic(name, d->type) : NULL;
    if (!run || is_constant || space == PTX_LOCAL || space == PTX_PARAM ||
        d->operands != 2 + returns + swaps) {
        ptx_refuse(d, "this atomic operation is not supported");
        return;
    }
    const int where = address(d, &o[0], &space), b = ptx_source(d, &o[1].one, d->type);
    const int registers[] = {ptx_result(d, returns ? &d->operand[0].one : &sink, d->type), where, b,
                             swaps ? ptx_source(d, &o[2].one, d->type) : b};
    append_access(d, run, space, ptx_type_bytes(d->type), o[0].offset, 1, 4, registers);
}

static void decode_load_store(ptx_decoder *d, bool loads)
{
    bool is_constant;
    ptx_space space = take_space(d, &is_constant);
    const int count = take_vector(d);
    const ptx_operand *value = &d->operand[!loads], *where = &d->operand[loads];
    const size_t bytes = d->type_count == 1 && d->type != PTX_PRED ? ptx_type_bytes(d->type) : 0;
    const bool is_vector = value->form == PTX_VECTOR_OF;
    if (d->operands != 2 || !bytes || (is_vector ? value->count : 1) != count ||
        (is_constant && !loads)) {
        ptx_refuse(d, "this form of access is not supported");
        return;
    }
    int registers[PTX_ROWS];
    const int from = address(d, where, &space);
    for (int k = 0; k < count; ++k) {
        const ptx_value *one = is_vector ? &value->list[k] : &value->one;
        registers[k + !loads] = loads ? ptx_result(d, one, d->type) : ptx_source(d, one, d->type);
    }
    registers[loads ? count : 0] = from;
    ptx_ins *in = append_access(d, loads ? ptx_load_of(bytes) : ptx_store_of(bytes), space,
                                bytes * (size_t)count, where->offset, loads ? count : 0, count + 1,
                                registers);
    in->pure = loads && (is_constant || space == PTX_PARAM);
}

void ptx_decode_memory(ptx_decoder *d)
{
    const bool loads = ptx_named_op(d, "ld") || ptx_named_op(d, "ldu"),
               returns = ptx_named_op(d, "atom");
    d->parts[0].used = true;
    const bool ordered = take_hints(d);
    if (ordered) ptx_append(d, ptx_fence, 0, 0, NULL);
    if (returns || ptx_named_op(d, "red")) decode_atomic(d, returns);
    else decode_load_store(d, loads);
    if (ordered) ptx_append(d, ptx_fence, 0, 0, NULL);
}
