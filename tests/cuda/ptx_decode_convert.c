/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_decode_convert.c
 *  Translates conversions between types: rounding, flushing and limits are steps of their own. */
#include "ptx_decode.h"

static int append_convert(ptx_decoder *d, ptx_type to, ptx_type from, int result, int source)
{
    ptx_handler *run = ptx_convert(to, from);
    if (!run) ptx_refuse(d, "this conversion is not supported");
    const int registers[] = {result < 0 ? ptx_temporary(d, to) : result, source};
    ptx_append(d, run, 1, 2, registers)->pure = true;
    return registers[0];
}

static uint64_t highest(ptx_type type)
{
    const unsigned bits = (unsigned)(8 * ptx_type_bytes(type)) - ptx_is_signed(type);
    return bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
}

/* An integer of one type within the limits of another. */
static int limited(ptx_decoder *d, ptx_type to, ptx_type from, int x)
{
    const size_t bytes = ptx_type_bytes(from);
    const uint64_t top = highest(to), low = ptx_is_signed(to) ? ~top : 0;
    const bool narrower = ptx_type_bytes(to) < bytes;
    if (ptx_is_signed(from) && (!ptx_is_signed(to) || narrower))
        x = ptx_apply(d, "max", from, -1, x, ptx_constant(d->b, bytes, low), -1);
    if (top < highest(from))
        x = ptx_apply(d, "min", from, -1, x, ptx_constant(d->b, bytes, top), -1);
    return x;
}

/* The instruction that rounds to an integer as the opcode says. NULL: it does not say. */
static const char *take_integer_rounding(ptx_decoder *d)
{
    static const char *const roundings[] = {"rni", "rzi", "rmi", "rpi"};
    for (int k = 0; k < 4; ++k)
        if (ptx_take(d, roundings[k])) return roundings[k];
    return NULL;
}

static void to_integer(ptx_decoder *d, int x, int result)
{
    const bool limits = ptx_take(d, "sat");
    if (!ptx_is_float(d->from)) {
        if (limits) x = limited(d, d->type, d->from, x);
        append_convert(d, d->type, d->from, result, x);
        return;
    }
    const char *step = take_integer_rounding(d);
    if (!step) ptx_refuse(d, "a rounding to integers is expected");
    else append_convert(d, d->type, d->from, result, ptx_apply(d, step, d->from, -1, x, -1, -1));
}

static void integer_to_float(ptx_decoder *d, int x, int result)
{
    const ptx_rounding rounding = ptx_take_rounding(d);
    ptx_type from = d->from;
    if (ptx_type_bytes(from) < 4) {
        const ptx_type wide = ptx_is_signed(from) ? PTX_S32 : PTX_U32;
        x = append_convert(d, wide, from, -1, x);
        from = wide;
    }
    if (rounding == PTX_NEAREST) {
        append_convert(d, d->type, from, result, x);
        return;
    }
    ptx_apply(d, d->type == PTX_F32 ? "directed.f32" : "directed.f64", from, result, x, -1, -1);
    if (!d->b->error->failed) d->b->kernel->code[d->b->kernel->instructions - 1].aux = rounding;
}

static void float_to_float(ptx_decoder *d, int x, int result)
{
    const char *step = take_integer_rounding(d);
    if (!step && d->type == d->from) step = "mov";
    if (step) {
        if (d->type != d->from) ptx_refuse(d, "this conversion is not supported");
        else ptx_apply(d, step, d->type, result, x, -1, -1);
        return;
    }
    const ptx_rounding rounding = ptx_take_rounding(d);
    append_convert(d, d->type, d->from, result, x);
    if (rounding == PTX_NEAREST || d->type == PTX_F64 || d->b->error->failed) return;
    ptx_ins *in = &d->b->kernel->code[d->b->kernel->instructions - 1];
    in->plain = in->run;
    in->run = ptx_directed;
    in->aux = rounding;
}

void ptx_decode_convert(ptx_decoder *d)
{
    const bool flushes = ptx_take(d, "ftz");
    d->parts[0].used = true;
    if (d->operands != 2 || d->type_count != 2 || d->type == PTX_PRED || d->from == PTX_PRED) {
        ptx_refuse(d, "this conversion is not supported");
        return;
    }
    int x = ptx_source(d, &d->operand[1].one, d->from);
    const int result = ptx_result(d, &d->operand[0].one, d->type);
    if (d->b->error->failed) return;
    if (flushes && d->from == PTX_F32) x = ptx_apply(d, "flush", PTX_F32, -1, x, -1, -1);
    if (!ptx_is_float(d->type)) {
        to_integer(d, x, result);
        return;
    }
    if (ptx_is_float(d->from)) float_to_float(d, x, result);
    else integer_to_float(d, x, result);
    if (flushes && d->type == PTX_F32) ptx_apply(d, "flush", PTX_F32, result, result, -1, -1);
    if (ptx_take(d, "sat")) ptx_apply(d, "saturate", d->type, result, result, -1, -1);
}
