/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_rows.c
 *  Finds the instructions whose results are the same for all threads of a block, which are run
 * once, and gives registers their rows. */
#include "ptx_build.h"

#include <stdlib.h>

static bool is_uniform_special(ptx_special special)
{
    return special >= PTX_NTID_X;
}

/* A register is uniform where its only definition is an instruction without a predicate whose
 * inputs are uniform: such a value does not depend on when which thread computes it. */
static void find_uniform(ptx_builder *b)
{
    ptx_kernel *k = b->kernel;
    for (int n = 0; n < k->instructions; ++n)
        for (int j = 0; j < k->code[n].outputs; ++j) ++b->registers[k->code[n].row[j]].definitions;
    for (int n = 0; n < b->register_count; ++n)
        b->registers[n].is_uniform =
            b->registers[n].is_fixed && is_uniform_special(b->registers[n].special);
    for (int n = 0; n < k->instructions; ++n) {
        ptx_ins *in = &k->code[n];
        bool uniform = in->pure && !in->has_predicate;
        for (int j = 0; j < in->rows; ++j)
            uniform &= j < in->outputs ? b->registers[in->row[j]].definitions == 1
                                       : b->registers[in->row[j]].is_uniform;
        if (!uniform) continue;
        in->flow = PTX_UNIFORM;
        for (int j = 0; j < in->outputs; ++j) b->registers[in->row[j]].is_uniform = true;
    }
}

/* Which uniform registers other instructions read, from all elements of the row. */
static void find_broadcast(ptx_builder *b)
{
    ptx_kernel *k = b->kernel;
    for (int n = 0; n < k->instructions; ++n) {
        ptx_ins *in = &k->code[n];
        if (in->has_predicate && b->registers[in->predicate].is_uniform && in->flow != PTX_STRAIGHT)
            in->uniform_predicate = true;
        else if (in->has_predicate) b->registers[in->predicate].broadcast = true;
        for (int j = in->outputs; j < in->rows && in->flow != PTX_UNIFORM; ++j)
            b->registers[in->row[j]].broadcast = true;
    }
}

static bool *find_used(ptx_builder *b)
{
    const ptx_kernel *k = b->kernel;
    bool *used = calloc((size_t)b->register_count + 1, sizeof *used);
    for (int n = 0; used && n < k->instructions; ++n) {
        const ptx_ins *in = &k->code[n];
        for (int j = 0; j < in->rows; ++j) used[in->row[j]] = true;
        if (in->has_predicate) used[in->predicate] = true;
    }
    return used;
}

static bool list_fixed(ptx_builder *b, const bool *used)
{
    ptx_kernel *k = b->kernel;
    const uint64_t dynamic = ptx_dynamic_offset(b->shared_bytes);
    for (int n = 0; n < b->register_count; ++n)
        k->fixed_count += used[n] && b->registers[n].is_fixed;
    k->fixed = calloc((size_t)k->fixed_count + 1, sizeof *k->fixed);
    if (!k->fixed) return false;
    ptx_fixed *f = k->fixed;
    for (int n = 0; n < b->register_count; ++n) {
        const ptx_register *r = &b->registers[n];
        if (used[n] && r->is_fixed)
            *f++ = (ptx_fixed){.row = r->row,
                               .width = r->width,
                               .broadcast = r->broadcast || !r->is_uniform,
                               .special = r->special,
                               .value = r->is_dynamic_base ? dynamic : r->value};
    }
    return true;
}

/* Wide registers first, so that each is aligned. A row's number is its place in bytes per thread.
 */
static void place_rows(ptx_builder *b, const bool *used)
{
    size_t at = 0;
    for (unsigned width = 8; width; width /= 2)
        for (int n = 0; n < b->register_count; ++n) {
            if (!used[n] || b->registers[n].width != width) continue;
            b->registers[n].row = (uint32_t)at;
            at += width;
        }
    b->kernel->row_bytes = at;
}

void ptx_assign_rows(ptx_builder *b)
{
    ptx_kernel *k = b->kernel;
    find_uniform(b);
    find_broadcast(b);
    bool *used = find_used(b);
    if (used) place_rows(b, used);
    if (!used || !list_fixed(b, used)) ptx_bad(&b->reader, "out of memory");
    for (int n = 0; n < k->instructions && !b->error->failed; ++n) {
        ptx_ins *in = &k->code[n];
        for (int j = 0; j < in->rows; ++j) {
            const ptx_register *r = &b->registers[in->row[j]];
            in->broadcast[j] = j < in->outputs && r->broadcast;
            in->row[j] = r->row;
        }
        if (in->has_predicate) in->predicate = b->registers[in->predicate].row;
    }
    free(used);
}
