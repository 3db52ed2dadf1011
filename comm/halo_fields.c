/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_fields.c
 *  The arrays of one exchange: checked, and turned into the kernel calls that pack them, unpack
 *  them, and copy between opposite sides where the neighbour is this rank itself. */
#include "halo.h"

#include <stdio.h>

static meta_err wrong_device(const halo_plan *p, const char *name, const meta_span *span)
{
    meta_device_desc mine = META_DEVICE_DESC_INIT, other = META_DEVICE_DESC_INIT;
    core->device_info(p->device, &mine);
    core->device_info(span->device, &other);
    return core->fail(META_ERR_WRONG_DEVICE,
                      "argument '%s' is on %s:%d, but the plan was made for %s:%d", name,
                      other.backend, other.index, mine.backend, mine.index);
}

static meta_err check_apart(const halo_plan *p, int field)
{
    const size_t bytes = (size_t)p->field_count * p->element;
    const char *mine = p->field[field].address;
    for (int k = 0; k < field; ++k) {
        const char *other = p->field[k].address;
        if (mine < other + bytes && other < mine + bytes)
            return core->fail(META_ERR_OVERLAP, "arguments 'fields[%d]' and 'fields[%d]' overlap",
                              k, field);
    }
    return META_OK;
}

meta_err halo_fields_resolve(halo_plan *p, void *const *fields)
{
    char name[32];
    if (!fields) return core->fail(META_ERR_ARGUMENT, "argument 'fields' is NULL");
    for (int k = 0; k < p->fields; ++k) {
        snprintf(name, sizeof name, "fields[%d]", k);
        COMM_TRY(core->resolve(fields[k], p->field_count, p->type, name, &p->field[k]));
        if (p->field[k].device != p->device) return wrong_device(p, name, &p->field[k]);
        COMM_TRY(check_apart(p, k));
    }
    return META_OK;
}

/* ------------------------------------------------------------------ calls */

/* Pack or unpack @p face of every field, one behind the other from @p at on. */
static meta_err list_faces(const halo_plan *p, meta_kernel_id kernel, const meta_face *face,
                           int64_t count, const meta_span *buffer, size_t at, meta_call *calls)
{
    for (int k = 0; k < p->fields; ++k) {
        const meta_span packed = halo_part(buffer, at + (size_t)k * (size_t)count * p->element);
        int empty;
        COMM_TRY(core->face_call(&calls[k], kernel, &packed, &p->field[k], face, p->type, &empty));
    }
    return META_OK;
}

/* The ghosts in one direction from the own cells that go in the opposite one. */
static meta_err list_copies(halo_plan *p, int way)
{
    const halo_link *to = &p->link[way], *from = &p->link[p->ways - 1 - way];
    for (int k = 0; k < p->fields; ++k) {
        int empty;
        COMM_TRY(core->copy_call(&p->calls[p->call_count], &p->field[k], &to->recv, &p->field[k],
                                 &from->send, p->type, &empty));
        if (!empty) ++p->call_count;
    }
    return META_OK;
}

meta_err halo_fields_calls(halo_plan *p)
{
    const size_t fields = (size_t)p->fields;
    size_t unpacks = 0;
    p->call_count = 0;
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        if (link->peer == p->rank && link->recv_count > 0) COMM_TRY(list_copies(p, way));
        if (link->send_bytes > 0) {
            COMM_TRY(list_faces(p, META_KERNEL_PACK, &link->send, link->send_count, &p->send_span,
                                link->send_at, p->calls + p->call_count));
            p->call_count += fields;
        }
        if (link->recv_bytes == 0) continue;
        link->first_unpack = unpacks;
        COMM_TRY(list_faces(p, META_KERNEL_UNPACK, &link->recv, link->recv_count, &p->recv_span,
                            link->recv_at, p->unpacks + unpacks));
        unpacks += fields;
    }
    return META_OK;
}
