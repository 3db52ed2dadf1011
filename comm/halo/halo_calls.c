/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_calls.c
 *  The kernels of a plan, which pack, unpack, add, and copy between opposite sides where the
 *  neighbour is this rank itself. Their shapes belong to the plan; an exchange has calls of them
 *  for its device, and binds these to its arrays when it begins. */
#include "halo/halo_exchange.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ the kernels of a plan */

static void add_kernel(halo_plan *p, halo_kernel_kind kind, int dir, int field)
{
    const bool own = p->link[dir].peer == p->rank, packs = kind == HALO_PACK;
    halo_kernel *k = &p->kernel[p->kernels];
    *k = (halo_kernel){.kind = kind, .field = field, .dir = dir, .sent = packs};
    if (halo_face(p, dir, field, packs, &k->face) == 0) return;
    if (kind == HALO_COPY) {
        halo_face(p, p->dirs - 1 - dir, field, true, &k->from);
    } else if (own) { /* what this rank sends in the opposite direction comes from here */
        k->dir = packs ? dir : p->dirs - 1 - dir;
        k->sent = true;
    }
    halo_message_bytes(p, k->dir, k->sent, field, &k->at);
    ++p->kernels;
}

/* Copies within this rank touch nothing that is packed, and are launched with the packing. */
meta_err halo_kernels_make(halo_plan *p)
{
    p->kernel = calloc(2 * (size_t)p->fields * (size_t)p->dirs, sizeof *p->kernel);
    if (!p->kernel)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan of %d fields",
                          p->fields);
    for (int dir = 0; dir < p->dirs; ++dir)
        for (int k = 0; k < p->fields && p->link[dir].used; ++k)
            add_kernel(
                p, p->link[dir].peer == p->rank && p->op == META_HALO_COPY ? HALO_COPY : HALO_PACK,
                dir, k);
    p->start_kernels = p->kernels;
    for (int dir = 0; dir < p->dirs; ++dir) {
        halo_link *link = &p->link[dir];
        link->first_kernel = p->kernels;
        if (!link->used || (link->peer == p->rank && p->op == META_HALO_COPY)) continue;
        for (int k = 0; k < p->fields; ++k)
            add_kernel(p, p->op == META_HALO_ADD ? HALO_ADD : HALO_UNPACK, dir, k);
        link->kernels = p->kernels - link->first_kernel;
    }
    return META_OK;
}

/* ------------------------------------------------------------------ their calls on a device */

/* Which operand of a kernel's call is the array; the other one is the message. */
static int array_operand(const halo_kernel *k)
{
    return k->kind == HALO_PACK ? 1 : 0;
}

/* Whether the kernel's message lies in the window itself. */
static bool in_window(const halo_exchange *x, const halo_kernel *k)
{
    const halo_link *link = &x->plan->link[k->dir];
    return x->on.host && (k->sent ? link->out : link->in) == HALO_ROUTE_SHARED;
}

/* Where the kernel's message lies; in the window: an offset in it. */
static meta_span message_span(const halo_exchange *x, const halo_kernel *k)
{
    const halo_plan *p = x->plan;
    const halo_link *link = &p->link[k->dir];
    const halo_route route = k->sent ? link->out : link->in;
    if (in_window(x, k)) return (meta_span){.device = x->on.device, .offset = k->at};
    if (!k->sent)
        return comm_span_part(&x->recv_span, (route == HALO_ROUTE_SHARED ? p->recv_bytes : 0) +
                                                 link->recv_at + k->at);
    return comm_span_part(&x->send_span, (route == HALO_ROUTE_SELF     ? x->own_at
                                          : route == HALO_ROUTE_SHARED ? p->send_bytes
                                                                       : 0) +
                                             link->send_at + k->at);
}

static meta_err make_call(const halo_exchange *x, const halo_kernel *k, meta_call *call)
{
    const meta_type type = x->plan->field[k->field].type;
    const meta_span array = {.device = x->on.device};
    int empty;
    if (k->kind == HALO_COPY)
        return core->copy_call(call, &array, &k->face, &array, &k->from, type, &empty);
    const meta_span message = message_span(x, k);
    if (k->kind == HALO_ADD)
        return core->add_call(call, &array, &k->face, &message, NULL, type, &empty);
    return core->face_call(call, k->kind == HALO_PACK ? META_KERNEL_PACK : META_KERNEL_UNPACK,
                           &message, &array, &k->face, type, &empty);
}

meta_err halo_calls_make(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    x->calls = calloc((size_t)p->kernels + 1, sizeof *x->calls);
    x->base = calloc((size_t)p->kernels + 1, sizeof *x->base);
    if (!x->calls || !x->base)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for an exchange of %d fields",
                          p->fields);
    for (int k = 0; k < p->kernels; ++k) {
        COMM_TRY(make_call(x, &p->kernel[k], &x->calls[k]));
        for (int operand = 0; operand < 2; ++operand)
            x->base[k][operand] = x->calls[k].space.base[operand];
    }
    return META_OK;
}

/* ------------------------------------------------------------------ binding */

meta_err halo_fields_resolve(halo_exchange *x, void *const *fields, const meta_span *first)
{
    const halo_plan *p = x->plan;
    for (int k = 0; k < p->fields; ++k) {
        const halo_field *f = &p->field[k];
        meta_span *span = &x->array[k].span;
        if (k == 0) *span = *first;
        else COMM_TRY(core->resolve(fields[k], f->count, f->type, f->name, span));
        COMM_TRY(core->same_device(first, p->field[0].name, span, f->name));
        for (int other = 0; other < k; ++other) {
            const halo_field *o = &p->field[other];
            const char *at = x->array[other].span.address;
            if (at < span->address + (size_t)f->count * f->element &&
                span->address < at + (size_t)o->count * o->element)
                return core->fail(META_ERR_OVERLAP, "arguments '%s' and '%s' overlap", o->name,
                                  f->name);
        }
    }
    return META_OK;
}

static void bind_array(const halo_exchange *x, int k, int operand)
{
    const int field = x->plan->kernel[k].field;
    const meta_span *span = &x->array[field].span;
    x->calls[k].object[operand] = span->object;
    x->calls[k].space.base[operand] =
        x->base[k][operand] + (int64_t)(span->offset / x->plan->field[field].element);
}

void halo_calls_bind(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    for (int k = 0; k < p->kernels; ++k) {
        const halo_kernel *kernel = &p->kernel[k];
        const int array = array_operand(kernel);
        bind_array(x, k, array);
        if (kernel->kind == HALO_COPY) bind_array(x, k, 1);
        else if (in_window(x, kernel))
            x->calls[k].object[1 - array] =
                kernel->sent ? halo_window_mine(p, x->number, p->link[kernel->dir].send_at)
                             : halo_window_theirs(p, x->number, kernel->dir);
    }
}
