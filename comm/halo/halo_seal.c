/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_seal.c
 *  META_CHECK=1: whether ghost cells come as they were sent. Each message between two ranks of
 * which one checks is accompanied by its checksum: through MPI a seal, a message of its own behind
 * it; in shared memory a number beside the one that says that it is there. The receiver looks
 * before it unpacks. What a rank sends to itself is no message, but a kernel's work. */
#include "halo/halo.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/wire.h"

/* ------------------------------------------------------------------ memory */

void halo_seals_free(halo_plan *p)
{
    if (p->seal_image) core->staging_free(p->device, p->seal_image);
    free(p->seal);
}

meta_err halo_seals_make(halo_plan *p)
{
    size_t longest = 0;
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        if (!link->sealed) continue;
        if (link->send_bytes > longest) longest = link->send_bytes;
        if (link->recv_bytes > longest) longest = link->recv_bytes;
    }
    if (longest == 0) return META_OK;
    p->seal = calloc(2 * (size_t)p->ways, sizeof *p->seal);
    if (!p->seal)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan's checksums");
    return p->direct ? core->staging(p->device, longest, &p->seal_image) : META_OK;
}

/* ------------------------------------------------------------------ sending */

void halo_seals_reset(halo_plan *p)
{
    for (int way = 0; way < p->ways; ++way) p->link[way].sum = COMM_CHECKSUM_START;
}

/* What MPI takes from or wrote to @p span at @p at: *memory, and where that is the device's alone,
 * a copy on the host. */
static meta_err readable(const halo_plan *p, const meta_span *span, size_t at, size_t bytes,
                         const void **memory)
{
    const meta_span from = comm_span_part(span, at);
    meta_pending copy;
    if (!p->direct) return META_OK;
    META_TRY(
        core->copy(p->device, META_QUEUE_HALO, META_COPY_D2H, p->seal_image, &from, bytes, &copy));
    const meta_err error = core->pending_wait(&copy);
    core->pending_release(&copy);
    *memory = p->seal_image;
    return error;
}

meta_err halo_seal_part(halo_plan *p, int k)
{
    const halo_part *part = &p->send_part[k];
    halo_link *link = &p->link[part->way];
    const void *memory = halo_send_memory(p, part->at);
    if (!link->sealed) return META_OK;
    META_TRY(readable(p, &p->send_span, part->at, part->bytes, &memory));
    link->sum = comm_checksum(link->sum, memory, part->bytes);
    return META_OK;
}

static uint32_t seal_of(const halo_seal *s)
{
    return comm_checksum(COMM_CHECKSUM_START, s, offsetof(halo_seal, seal));
}

meta_err halo_seals_send(halo_plan *p)
{
    const int first = p->sends - p->seals;
    for (int k = first; k < p->sends; ++k) {
        const int way = p->send_part[k].way;
        halo_seal *s = &p->seal[way];
        *s = (halo_seal){
            COMM_MAGIC, (uint32_t)way, p->number, p->link[way].send_bytes, p->link[way].sum, 0};
        s->seal = seal_of(s);
    }
    return comm_mpi(MPI_Startall(p->seals, p->send + first), "MPI_Startall");
}

void halo_seal_slot(halo_plan *p, int way)
{
    const halo_link *link = &p->link[way];
    const void *memory = halo_window_mine(p, (int)(p->number % HALO_SLOTS), link->send_at);
    halo_window_say(p, way, comm_checksum(COMM_CHECKSUM_START, memory, link->send_bytes));
}

/* ------------------------------------------------------------------ receiving */

static meta_err damaged(const halo_plan *p, int way, const char *what)
{
    const halo_link *link = &p->link[way];
    char name[HALO_TEXT];
    halo_way_name(p, way, name);
    return core->fail(META_ERR_MISMATCH,
                      "META_CHECK: halo exchange %" PRIu64
                      ": the message of %zu bytes from rank %d "
                      "of the Cartesian communicator, the neighbour towards %s, tag %d, %s: none "
                      "of it was unpacked",
                      p->number, link->recv_bytes, link->peer, name, p->ways - 1 - way, what);
}

static meta_err compare(const halo_plan *p, int way, const void *memory, uint32_t sent)
{
    const uint32_t came = comm_checksum(COMM_CHECKSUM_START, memory, p->link[way].recv_bytes);
    return came == sent ? META_OK : damaged(p, way, "does not hold what was sent");
}

meta_err halo_seal_check(halo_plan *p, int way)
{
    const halo_link *link = &p->link[way];
    const halo_seal *s = &p->seal[p->ways + way];
    if (link->in == META_PATH_SHARED)
        return compare(p, way, halo_window_theirs(p, link, (int)(p->number % HALO_SLOTS)),
                       halo_window_heard(p, way));
    if (s->magic != COMM_MAGIC || s->seal != seal_of(s))
        return damaged(p, way, "has a checksum that was itself damaged on its way");
    if (s->number != p->number || s->bytes != link->recv_bytes ||
        s->way != (uint32_t)(p->ways - 1 - way))
        return damaged(p, way, "has the checksum of another exchange");
    const void *memory = halo_recv_memory(p, link->recv_at);
    META_TRY(readable(p, &p->recv_span, link->recv_at, link->recv_bytes, &memory));
    return compare(p, way, memory, s->sum);
}
