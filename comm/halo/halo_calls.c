/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_calls.c
 *  The kernel calls of a plan, which pack, unpack, add, and copy between opposite sides where the
 *  neighbour is this rank itself. They are made with the plan; an exchange only says in each where
 *  its arrays are. */
#include "halo/halo.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ the arrays of an exchange */

static meta_err wrong_device(const halo_plan *p, const char *name, const meta_span *span)
{
    meta_device_desc mine = META_DEVICE_DESC_INIT, other = META_DEVICE_DESC_INIT;
    core->device_info(p->device, &mine);
    core->device_info(span->device, &other);
    return core->fail(META_ERR_WRONG_DEVICE,
                      "argument '%s' is on %s:%d, but the plan was made for %s:%d", name,
                      other.backend, other.index, mine.backend, mine.index);
}

bool halo_fields_overlap(const halo_field *a, const halo_field *b)
{
    return a->span.address < b->span.address + (size_t)b->count * b->element &&
           b->span.address < a->span.address + (size_t)a->count * a->element;
}

static meta_err check_apart(const halo_plan *p, int field)
{
    for (int k = 0; k < field; ++k)
        if (halo_fields_overlap(&p->field[field], &p->field[k]))
            return core->fail(META_ERR_OVERLAP, "arguments '%s' and '%s' overlap", p->field[k].name,
                              p->field[field].name);
    return META_OK;
}

meta_err halo_fields_resolve(halo_plan *p, void *const *fields)
{
    if (!fields) return core->fail(META_ERR_ARGUMENT, "argument 'fields' is NULL");
    for (int k = 0; k < p->fields; ++k) {
        halo_field *f = &p->field[k];
        META_TRY(core->resolve(fields[k], f->count, f->type, f->name, &f->span));
        if (f->span.device != p->device) return wrong_device(p, f->name, &f->span);
        META_TRY(check_apart(p, k));
    }
    return META_OK;
}

/* ------------------------------------------------------------------ making */

/* A list that grows as calls are added; the spans of arrays have no memory yet. */
typedef struct list {
    halo_plan *p;
    int count;
} list;

static halo_patch *last_patch(const list *l)
{
    return &l->p->patch[l->count];
}

/* Operand @p operand of the last call is array @p field. */
static void patch_field(const list *l, int operand, int field)
{
    halo_patch *patch = last_patch(l);
    patch->field[operand] = field;
    patch->base[operand] = l->p->calls[l->count].space.base[operand];
    patch->element = l->p->field[field].element;
}

static void patch_slot(const list *l, int operand, int way, bool sent)
{
    halo_patch *patch = last_patch(l);
    patch->field[operand] = HALO_SLOT;
    patch->way = way;
    patch->sent = sent;
}

static void begin_patch(const list *l)
{
    *last_patch(l) = (halo_patch){.field = {HALO_FIXED, HALO_FIXED}};
}

/* Where a message's field @p k lies when it is packed or unpacked; *slot: in the window. */
static meta_span packed_span(const halo_plan *p, int way, bool sent, int k, bool *slot)
{
    const halo_link *link = &p->link[way];
    const bool shared = (sent ? link->out : link->in) == META_PATH_SHARED;
    size_t at = 0;
    halo_message_bytes(p, way, sent, k, &at);
    *slot = shared && p->host;
    if (*slot) return (meta_span){.device = p->device, .offset = at};
    if (!sent) return comm_span_part(&p->recv_span, link->recv_at + at);
    if (link->peer == p->rank) return comm_span_part(&p->send_span, p->own_at + link->send_at + at);
    return comm_span_part(&p->send_span, link->send_at + (shared ? p->mpi_bytes : 0) + at);
}

static meta_err add_pack(list *l, int way, int k)
{
    halo_plan *p = l->p;
    const meta_span array = {.device = p->device};
    meta_face face;
    bool slot;
    int empty;
    halo_face(p, way, k, true, &face);
    const meta_span packed = packed_span(p, way, true, k, &slot);
    begin_patch(l);
    META_TRY(core->face_call(&p->calls[l->count], META_KERNEL_PACK, &packed, &array, &face,
                             p->field[k].type, &empty));
    if (empty) return META_OK;
    if (slot) patch_slot(l, 0, way, true);
    patch_field(l, 1, k);
    ++l->count;
    return META_OK;
}

/* What comes from direction @p way, in the opposite one within this rank, becomes part of array k.
 */
static meta_err add_unpack(list *l, int way, int k)
{
    halo_plan *p = l->p;
    const bool own = p->link[way].peer == p->rank;
    const meta_type type = p->field[k].type;
    const meta_span array = {.device = p->device};
    meta_call *call = &p->calls[l->count];
    meta_face face;
    bool slot;
    int empty;
    halo_face(p, way, k, false, &face);
    const meta_span packed = packed_span(p, own ? p->ways - 1 - way : way, own, k, &slot);
    begin_patch(l);
    META_TRY(p->op == META_HALO_ADD
                 ? core->add_call(call, &array, &face, &packed, NULL, type, &empty)
                 : core->face_call(call, META_KERNEL_UNPACK, &packed, &array, &face, type, &empty));
    if (empty) return META_OK;
    if (slot) patch_slot(l, 1, way, false);
    patch_field(l, 0, k);
    ++l->count;
    return META_OK;
}

/* What comes from direction @p way is what this rank itself sends in the opposite one. */
static meta_err add_copy(list *l, int way, int k)
{
    halo_plan *p = l->p;
    const meta_span array = {.device = p->device};
    meta_face to, from;
    int empty;
    halo_face(p, way, k, false, &to);
    halo_face(p, p->ways - 1 - way, k, true, &from);
    begin_patch(l);
    META_TRY(
        core->copy_call(&p->calls[l->count], &array, &to, &array, &from, p->field[k].type, &empty));
    if (empty) return META_OK;
    patch_field(l, 0, k);
    patch_field(l, 1, k);
    ++l->count;
    return META_OK;
}

typedef meta_err add_function(list *l, int way, int k);

static meta_err add_fields(list *l, int way, add_function *add)
{
    for (int k = 0; k < l->p->fields; ++k) META_TRY(add(l, way, k));
    return META_OK;
}

/* Copies within this rank touch nothing that is packed, and go with it. */
static meta_err add_start(list *l)
{
    halo_plan *p = l->p;
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        const bool copied = link->peer == p->rank && p->op == META_HALO_COPY;
        if (link->used) META_TRY(add_fields(l, way, copied ? add_copy : add_pack));
    }
    p->start_calls = l->count;
    return META_OK;
}

meta_err halo_calls_make(halo_plan *p)
{
    const size_t most = 2 * (size_t)p->fields * (size_t)p->ways;
    list l = {.p = p};
    p->calls = calloc(most, sizeof *p->calls);
    p->patch = calloc(most, sizeof *p->patch);
    if (!p->calls || !p->patch)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan of %d fields",
                          p->fields);
    META_TRY(add_start(&l));
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        link->first_call = l.count;
        if (!link->used) continue;
        if (link->peer != p->rank || p->op == META_HALO_ADD)
            META_TRY(add_fields(&l, way, add_unpack));
        link->calls = l.count - link->first_call;
    }
    p->call_count = l.count;
    return META_OK;
}

/* ------------------------------------------------------------------ patching */

void halo_calls_patch(halo_plan *p)
{
    const int slot = (int)(p->number % HALO_SLOTS);
    for (int k = 0; k < p->call_count; ++k) {
        const halo_patch *patch = &p->patch[k];
        meta_call *call = &p->calls[k];
        for (int operand = 0; operand < 2; ++operand) {
            const int field = patch->field[operand];
            if (field >= 0) {
                const meta_span *span = &p->field[field].span;
                call->object[operand] = span->object;
                call->space.base[operand] =
                    patch->base[operand] + (int64_t)(span->offset / patch->element);
            } else if (field == HALO_SLOT) {
                const halo_link *link = &p->link[patch->way];
                call->object[operand] = patch->sent ? halo_window_mine(p, slot, link->send_at)
                                                    : halo_window_theirs(p, link, slot);
            }
        }
    }
}
