/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_buffer.c
 *  The memory and the persistent MPI requests of an exchange, bound to one device and reused, so
 *  that beginning one allocates nothing. MPI is given a host device's buffers themselves, and those
 *  of other devices where it takes device memory; else their images in staging, which they are
 *  copied to and from in segments. */
#include "halo/halo_exchange.h"

#include <stdlib.h>

/* Messages of fewer bytes share a segment up to this size. */
enum { SEGMENT = 256 << 10 };

/* One buffer for all directions, and an image on the host of its first @p mpi_bytes where MPI does
 * not take the device's memory. */
static meta_err make_buffer(const halo_device *on, size_t bytes, size_t mpi_bytes, void **buffer,
                            meta_span *span, void **staging)
{
    if (bytes == 0) return META_OK;
    META_TRY(core->scratch(on->device, bytes, buffer));
    META_TRY(core->resolve(*buffer, (int64_t)bytes, META_U8, "buffer", span));
    if (on->host || on->direct || mpi_bytes == 0) return META_OK;
    return core->staging(on->device, mpi_bytes, staging);
}

/* Where the device's memory is the host's, kernels pack into the window and unpack from the
 * sender's; else what goes through the window has its place in the device's buffers too. */
static meta_err make_buffers(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    const size_t slot = x->on.host ? 0 : p->slot_bytes, taken = x->on.host ? 0 : p->taken_bytes;
    x->own_at = p->send_bytes + slot;
    META_TRY(make_buffer(&x->on, x->own_at + p->own_bytes, p->send_bytes, &x->send_buffer,
                         &x->send_span, &x->send_staging));
    META_TRY(make_buffer(&x->on, p->recv_bytes + taken, p->recv_bytes, &x->recv_buffer,
                         &x->recv_span, &x->recv_staging));
    return slot > 0 && !x->on.pageable ? core->staging(x->on.device, slot, &x->slot_staging)
                                       : META_OK;
}

/* The parts of a message have one tag: they arrive in order. */
static meta_err make_requests(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    for (int k = 0; k < p->sends; ++k) {
        const halo_part *m = &p->send_part[k];
        void *memory = m->seal ? (void *)&x->seal[m->dir] : halo_send_memory(x, m->at);
        COMM_MPI(MPI_Send_init, (memory, (int)m->bytes, MPI_BYTE, p->link[m->dir].peer,
                                 halo_tag(p, m->seal ? HALO_TAG_SEAL : HALO_TAG_DATA, m->dir),
                                 p->place.comm, &x->send[x->sends]));
        ++x->sends;
    }
    for (int k = 0; k < p->recvs; ++k) {
        const halo_part *m = &p->recv_part[k];
        void *memory = m->seal ? (void *)&x->seal[p->dirs + m->dir] : halo_recv_memory(x, m->at);
        COMM_MPI(MPI_Recv_init,
                 (memory, (int)m->bytes, MPI_BYTE, p->link[m->dir].peer,
                  halo_tag(p, m->seal ? HALO_TAG_SEAL : HALO_TAG_DATA, p->dirs - 1 - m->dir),
                  p->place.comm, &x->recv[x->recvs]));
        ++x->recvs;
    }
    return META_OK;
}

static halo_segment *add_segment(halo_exchange *x, size_t at, int part)
{
    x->segment[x->segments] = (halo_segment){.at = at, .first_part = part};
    return &x->segment[x->segments++];
}

/* Each part of a message of several is a segment, and so are small messages together. What goes to
 * the window is one more. */
static void make_segments(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    const int parts = p->sends - p->seals;
    halo_segment *open = NULL;
    for (int dir = 0; dir < p->dirs; ++dir) x->dir[dir].segment = -1;
    if (x->on.host) return;
    for (int k = 0; k < parts && !x->on.direct; ++k) {
        const halo_part *m = &p->send_part[k];
        const size_t end = m->at + m->bytes;
        if (!open || end - open->at > SEGMENT) open = add_segment(x, m->at, k);
        open->bytes = end - open->at;
        ++open->parts;
        x->dir[m->dir].segment = x->segments - 1;
    }
    if (p->slot_bytes == 0) return;
    open = add_segment(x, p->send_bytes, parts);
    open->bytes = p->slot_bytes;
    for (int dir = 0; dir < p->dirs; ++dir)
        if (p->link[dir].used && p->link[dir].out == HALO_ROUTE_SHARED)
            x->dir[dir].segment = x->segments - 1;
}

meta_err halo_exchange_allocate(halo_exchange *x)
{
    const halo_plan *p = x->plan;
    const size_t sends = (size_t)p->sends + 1, recvs = (size_t)p->recvs + 1;
    const size_t longer = sends > recvs ? sends : recvs;
    x->send = calloc(sends, sizeof *x->send);
    x->recv = calloc(recvs, sizeof *x->recv);
    x->segment = calloc(sends, sizeof *x->segment);
    x->index = calloc(longer, sizeof *x->index);
    x->statuses = calloc(longer, sizeof *x->statuses);
    x->array = calloc((size_t)p->fields, sizeof *x->array);
    if (!x->send || !x->recv || !x->segment || !x->index || !x->statuses || !x->array)
        return core->fail(META_ERR_NO_MEMORY,
                          "the host has no memory for an exchange of %d and %d messages", p->sends,
                          p->recvs);
    if (p->op == META_HALO_ADD && x->on.device != p->home.device)
        for (int k = 0; k < p->fields; ++k)
            META_TRY(halo_check_sums(x->on.device, p->field[k].type, p->field[k].name));
    META_TRY(make_buffers(x));
    META_TRY(halo_seals_make(x));
    META_TRY(make_requests(x));
    make_segments(x);
    halo_traffic_prepare(x);
    return halo_moves_make(x);
}

void halo_requests_free(MPI_Request *request, int *count)
{
    for (; *count > 0; --*count)
        if (request[*count - 1] != MPI_REQUEST_NULL) MPI_Request_free(&request[*count - 1]);
}

void halo_exchange_release(halo_exchange *x)
{
    halo_requests_free(x->send, &x->sends);
    halo_requests_free(x->recv, &x->recvs);
    if (x->send_staging) core->staging_free(x->on.device, x->send_staging);
    if (x->recv_staging) core->staging_free(x->on.device, x->recv_staging);
    if (x->slot_staging) core->staging_free(x->on.device, x->slot_staging);
    if (x->send_buffer) core->scratch_free(x->send_buffer);
    if (x->recv_buffer) core->scratch_free(x->recv_buffer);
    halo_seals_free(x);
    free(x->send);
    free(x->recv);
    free(x->segment);
    free(x->index);
    free(x->statuses);
    free(x->array);
    for (int k = 0; k < HALO_SLOTS; ++k) {
        free(x->moves[k]);
        free(x->bound[k]);
    }
}
