/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_moves.c
 *  The kernels of a plan, which pack, unpack, add, and copy between opposite sides where the
 *  neighbour is this rank itself. Their shapes belong to the plan; an exchange has moves of them
 *  and binds these to its arrays and their device when it begins. */
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

/* Copies within this rank touch nothing that is packed, and are launched with the packing. What is
 * packed last is unpacked first, while a cache still has its lines: the first field's. A step has
 * computed the last one's last. */
meta_err halo_kernels_make(halo_plan *p)
{
    p->kernel = calloc(2 * (size_t)p->fields * (size_t)p->dirs, sizeof *p->kernel);
    if (!p->kernel)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan of %d fields",
                          p->fields);
    for (int k = p->fields - 1; k >= 0; --k)
        for (int dir = 0; dir < p->dirs; ++dir) {
            const halo_link *link = &p->link[dir];
            const bool copies = link->peer == p->rank && p->op == META_HALO_COPY;
            if (link->used) add_kernel(p, copies ? HALO_COPY : HALO_PACK, dir, k);
        }
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

/* ------------------------------------------------------------------ their moves on a device */

/* Whether the kernel's message lies in the window itself. */
static bool in_window(const halo_exchange *x, const halo_kernel *k)
{
    const halo_link *link = &x->plan->link[k->dir];
    return x->on.host && (k->sent ? link->out : link->in) == HALO_ROUTE_SHARED;
}

/* Where the kernel's message lies. */
static meta_span message_span(const halo_exchange *x, const halo_kernel *k)
{
    const halo_plan *p = x->plan;
    const halo_link *link = &p->link[k->dir];
    const halo_route route = k->sent ? link->out : link->in;
    if (in_window(x, k)) {
        void *slot = k->sent ? halo_window_mine(p, x->number, link->send_at)
                             : halo_window_theirs(p, x->number, k->dir);
        return (meta_span){.device = x->on.device, .object = slot, .offset = k->at};
    }
    if (!k->sent)
        return comm_span_part(&x->recv_span, (route == HALO_ROUTE_SHARED ? p->recv_bytes : 0) +
                                                 link->recv_at + k->at);
    return comm_span_part(&x->send_span, (route == HALO_ROUTE_SELF     ? x->own_at
                                          : route == HALO_ROUTE_SHARED ? p->send_bytes
                                                                       : 0) +
                                             link->send_at + k->at);
}

meta_err halo_moves_make(halo_exchange *x)
{
    static const meta_kernel_id ids[] = {[HALO_PACK] = META_KERNEL_PACK,
                                         [HALO_UNPACK] = META_KERNEL_UNPACK,
                                         [HALO_ADD] = META_KERNEL_AXPY,
                                         [HALO_COPY] = META_KERNEL_COPY};
    const halo_plan *p = x->plan;
    bool is_made = true;
    for (int set = 0; set < HALO_SLOTS; ++set) {
        x->moves[set] = calloc((size_t)p->kernels + 1, sizeof *x->moves[set]);
        x->bound[set] = calloc((size_t)p->fields, sizeof *x->bound[set]);
        is_made &= x->moves[set] && x->bound[set];
    }
    if (!is_made)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for an exchange of %d fields",
                          p->fields);
    for (int n = 0; n < p->kernels; ++n) {
        const halo_kernel *k = &p->kernel[n];
        const meta_face *to = k->kind == HALO_PACK ? NULL : &k->face;
        const meta_face *from = k->kind == HALO_PACK   ? &k->face
                                : k->kind == HALO_COPY ? &k->from
                                                       : NULL;
        for (int set = 0; set < HALO_SLOTS; ++set) {
            meta_builtin *move = &x->moves[set][n];
            core->move_begin(move, ids[k->kind], p->field[k->field].type, to, from);
            if (k->kind == HALO_PACK && in_window(x, k))
                move->op.call.hints = META_CALL_FOR_ANOTHER;
        }
    }
    return META_OK;
}

/* ------------------------------------------------------------------ binding */

meta_err halo_field_resolve(const halo_field *f, const void *ptr, meta_span *span)
{
    meta_box array = f->box; /* ghosts, too */
    const meta_err error = core->resolve(ptr, f->count, f->type, f->name, span);
    /* Where the buffer is too short for a grid's wrong shape, the shape is the cause. */
    if (error != META_OK && error != META_ERR_BOUNDS) return error;
    for (int d = 0; d < array.ndim; ++d) array.end[d] = array.size[d];
    META_TRY(core->check_shape(span, &array, f->type, f->name));
    return error;
}

meta_err halo_fields_resolve(halo_exchange *x, void *const *fields, const meta_span *first)
{
    const halo_plan *p = x->plan;
    for (int k = 0; k < p->fields; ++k) {
        const halo_field *f = &p->field[k];
        meta_span *span = &x->array[k].span;
        if (k == 0) *span = *first;
        else META_TRY(halo_field_resolve(f, fields[k], span));
        META_TRY(core->same_device(first, p->field[0].name, span, f->name));
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

static bool is_same(const meta_span *a, const meta_span *b)
{
    return a->device == b->device && a->object == b->object && a->offset == b->offset &&
           a->address == b->address;
}

/* Consecutive exchanges use different slots of the window, and often different arrays, as when a
 * program swaps two. A set of moves for each slot mostly stays as it is bound. */
meta_err halo_moves_bind(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    meta_span *bound = x->bound[x->number % HALO_SLOTS];
    int same = 0;
    while (same < p->fields && is_same(&bound[same], &x->array[same].span)) ++same;
    if (same == p->fields) return META_OK;
    bound[0].device = NULL; /* until all are bound */
    for (int n = 0; n < p->kernels; ++n) {
        const halo_kernel *k = &p->kernel[n];
        const meta_span *array = &x->array[k->field].span;
        const meta_span message = k->kind == HALO_COPY ? *array : message_span(x, k);
        meta_builtin *move = &halo_moves_of(x)[n];
        META_TRY(k->kind == HALO_PACK ? core->move_bind(move, &message, array)
                                      : core->move_bind(move, array, &message));
    }
    for (int f = 0; f < p->fields; ++f) bound[f] = x->array[f].span;
    return META_OK;
}
