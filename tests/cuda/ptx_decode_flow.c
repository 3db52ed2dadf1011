/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_decode_flow.c
 *  Translates branches, calls, barriers, and what has no effect here. */
#include "ptx_decode.h"

static ptx_ins *append_flow(ptx_decoder *d, ptx_flow flow)
{
    ptx_ins *in = ptx_append(d, NULL, 0, 0, NULL);
    in->flow = (unsigned char)flow;
    d->parts[0].used = true;
    return in;
}

void ptx_decode_branch(ptx_decoder *d)
{
    ptx_take(d, "uni");
    if (d->operands != 1 || d->operand[0].one.kind != PTX_A_NAME) {
        ptx_refuse(d, "a branch to what is no label");
        return;
    }
    append_flow(d, PTX_BRANCH);
    ptx_branch_to(d->b, d->b->kernel->instructions - 1, &d->operand[0].one.token);
}

void ptx_decode_indexed_branch(ptx_decoder *d)
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

void ptx_decode_return(ptx_decoder *d)
{
    ptx_take(d, "uni");
    const bool ends = ptx_named_op(d, "exit") || d->b->in_entry;
    append_flow(d, ends ? PTX_EXIT : PTX_BRANCH)->target = -1;
}

void ptx_decode_trap(ptx_decoder *d)
{
    append_flow(d, PTX_TRAP);
}

void ptx_decode_barrier(ptx_decoder *d)
{
    if (ptx_take(d, "warp")) {
        for (int k = 1; k < d->part_count; ++k) d->parts[k].used = false;
        d->type = PTX_U32;
        ptx_decode_warp(d);
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

void ptx_decode_call(ptx_decoder *d)
{
    ptx_take(d, "uni");
    d->parts[0].used = true;
    if (d->predicate >= 0) ptx_refuse(d, "a call under a predicate is not supported");
    else ptx_translate_call(d->b, d->operand, d->operands);
}

void ptx_decode_fence(ptx_decoder *d)
{
    static const char *const parts[] = {"cta", "gl",      "sys",     "gpu",
                                        "sc",  "acq_rel", "acquire", "release"};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) ptx_take(d, parts[k]);
    ptx_append(d, ptx_fence, 0, 0, NULL);
    d->parts[0].used = true;
}

/* What has no effect that a thread could see. */
void ptx_decode_hint(ptx_decoder *d)
{
    for (int k = 0; k < d->part_count; ++k) d->parts[k].used = true;
}
