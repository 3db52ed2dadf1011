/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_seal.c
 *  META_CHECK=on: end-to-end checksums of ghost cells. Each message between two ranks of which one
 *  checks is accompanied by its checksum: through MPI in a seal, a message of its own behind it; in
 *  shared memory beside the mark of the slot. The receiver compares before it unpacks. What a rank
 *  sends to itself is no message but a kernel's work, and has none. */
#include "halo/halo_exchange.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/wire.h"

void halo_seals_free(halo_exchange *x)
{
    if (x->seal_image) core->staging_free(x->on.device, x->seal_image);
    free(x->seal);
}

meta_err halo_seals_make(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    size_t longest = 0;
    for (int dir = 0; dir < p->dirs; ++dir) {
        const halo_link *link = &p->link[dir];
        if (!link->sealed) continue;
        if (link->send_bytes > longest) longest = link->send_bytes;
        if (link->recv_bytes > longest) longest = link->recv_bytes;
    }
    if (longest == 0) return META_OK;
    x->seal = calloc(2 * (size_t)p->dirs, sizeof *x->seal);
    if (!x->seal)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan's checksums");
    return x->on.direct ? core->staging(x->on.device, longest, &x->seal_image) : META_OK;
}

/* ------------------------------------------------------------------ sending */

/* Make *memory, which MPI takes from or wrote to @p span at @p at, readable: where it is the
 * device's alone it becomes a copy on the host. */
static meta_err readable(const halo_exchange *x, const meta_span *span, size_t at, size_t bytes,
                         const void **memory)
{
    const meta_span from = comm_span_part(span, at);
    meta_pending copy;
    if (!x->on.direct) return META_OK;
    META_TRY(core->copy(x->on.device, META_QUEUE_HALO, META_COPY_D2H, x->seal_image, &from, bytes,
                        &copy));
    const meta_err error = core->pending_wait(&copy);
    core->pending_release(&copy);
    *memory = x->seal_image;
    return error;
}

meta_err halo_seal_part(halo_exchange *x, int k)
{
    const halo_part *part = &x->plan->send_part[k];
    const void *memory = halo_send_memory(x, part->at);
    if (!x->plan->link[part->dir].sealed) return META_OK;
    META_TRY(readable(x, &x->send_span, part->at, part->bytes, &memory));
    uint32_t *sum = &x->dir[part->dir].checksum;
    *sum = comm_checksum(*sum, memory, part->bytes);
    return META_OK;
}

static uint32_t seal_of(const halo_seal *s)
{
    return comm_checksum(COMM_CHECKSUM_START, s, offsetof(halo_seal, seal));
}

meta_err halo_seals_send(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    const int first = p->sends - p->seals;
    for (int k = first; k < p->sends; ++k) {
        const int dir = p->send_part[k].dir;
        halo_seal *s = &x->seal[dir];
        *s = (halo_seal){
            COMM_MAGIC, (uint32_t)dir, x->number, p->link[dir].send_bytes, x->dir[dir].checksum, 0};
        s->seal = seal_of(s);
    }
    return comm_mpi(MPI_Startall(p->seals, x->send + first), "MPI_Startall");
}

void halo_seal_slot(const halo_exchange *x, int dir)
{
    const halo_link *link = &x->plan->link[dir];
    const void *memory = halo_window_mine(x->plan, x->number, link->send_at);
    halo_window_put_checksum(x->plan, x->number, dir,
                             comm_checksum(COMM_CHECKSUM_START, memory, link->send_bytes));
}

/* ------------------------------------------------------------------ receiving */

static meta_err damaged(const halo_exchange *x, int dir, const char *what)
{
    const halo_link *link = &x->plan->link[dir];
    char name[HALO_TEXT];
    halo_dir_name(x->plan, dir, name);
    return core->fail(META_ERR_MISMATCH,
                      "META_CHECK: halo exchange %" PRIu64
                      ": the message of %zu bytes from rank %d "
                      "of the Cartesian communicator, the neighbour towards %s, tag %d, %s: none "
                      "of it was unpacked",
                      x->number, link->recv_bytes, link->peer, name, x->plan->dirs - 1 - dir, what);
}

static meta_err compare(const halo_exchange *x, int dir, const void *memory, uint32_t sent)
{
    const size_t bytes = x->plan->link[dir].recv_bytes;
    return comm_checksum(COMM_CHECKSUM_START, memory, bytes) == sent
               ? META_OK
               : damaged(x, dir, "does not hold what was sent");
}

meta_err halo_seal_check(halo_exchange *x, int dir)
{
    const halo_plan *p = x->plan;
    const halo_link *link = &p->link[dir];
    if (link->in == HALO_ROUTE_SHARED)
        return compare(x, dir, halo_window_theirs(p, x->number, dir),
                       halo_window_get_checksum(p, x->number, dir));
    const halo_seal *s = &x->seal[p->dirs + dir];
    if (s->magic != COMM_MAGIC || s->seal != seal_of(s))
        return damaged(x, dir, "has a checksum that was itself damaged on its way");
    if (s->number != x->number || s->bytes != link->recv_bytes ||
        s->dir != (uint32_t)(p->dirs - 1 - dir))
        return damaged(x, dir, "has the checksum of another exchange");
    const void *memory = halo_recv_memory(x, link->recv_at);
    META_TRY(readable(x, &x->recv_span, link->recv_at, link->recv_bytes, &memory));
    return compare(x, dir, memory, s->sum);
}
