/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_buffer.c
 *  The memory and the persistent MPI requests of a halo plan: made once, so that an exchange
 *  allocates nothing. MPI is given a host device's buffers themselves, and those of other devices
 *  where it takes device memory; else their images in staging, which they are copied to and from in
 *  segments. */
#include "halo/halo.h"

#include <stdlib.h>

/* Messages of fewer bytes share a segment up to this size. */
enum { SEGMENT = 256 << 10 };

char *halo_send_memory(const halo_plan *p, size_t at)
{
    return (p->send_staging ? (char *)p->send_staging : p->send_span.address) + at;
}

char *halo_recv_memory(const halo_plan *p, size_t at)
{
    return (p->recv_staging ? (char *)p->recv_staging : p->recv_span.address) + at;
}

/* One buffer for all directions, and of its first @p mpi_bytes an image on the host where MPI does
 * not take the device's memory. */
static meta_err make_buffer(const halo_plan *p, size_t bytes, size_t mpi_bytes, void **buffer,
                            meta_span *span, void **staging)
{
    if (bytes == 0) return META_OK;
    META_TRY(core->scratch(p->device, bytes, buffer));
    META_TRY(core->resolve(*buffer, (int64_t)bytes, META_U8, "buffer", span));
    if (p->host || p->direct || mpi_bytes == 0) return META_OK;
    return core->staging(p->device, mpi_bytes, staging);
}

/* ------------------------------------------------------------------ parts and requests */

static bool by_mpi(const halo_plan *p, const halo_link *link, meta_path path)
{
    return link->used && link->peer != p->rank && path != META_PATH_SHARED;
}

static int parts_of(size_t bytes, size_t wish)
{
    return bytes == 0 ? 0 : (int)((bytes - 1) / comm_chunk_fit(bytes, wish) + 1);
}

/* With the seals. */
static int count_parts(const halo_plan *p, bool sent)
{
    int parts = 0;
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        const size_t bytes = sent ? link->send_bytes : link->recv_bytes;
        if (!by_mpi(p, link, sent ? link->out : link->in)) continue;
        parts += parts_of(bytes, sent ? link->send_chunk : link->recv_chunk);
        parts += bytes > 0 && link->sealed;
    }
    return parts;
}

/* The parts of one direction's message. */
static void cut(int way, size_t at, size_t bytes, size_t wish, halo_part *part, int *parts)
{
    for (size_t done = 0; done < bytes;) {
        const size_t chunk = comm_chunk_fit(bytes, wish), left = bytes - done;
        part[*parts] = (halo_part){way, at + done, left < chunk ? left : chunk, false};
        done += part[(*parts)++].bytes;
    }
}

static int add_seals(const halo_plan *p, bool sent, halo_part *part, int *parts)
{
    const int before = *parts;
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        if (link->sealed && by_mpi(p, link, sent ? link->out : link->in) &&
            (sent ? link->send_bytes : link->recv_bytes) > 0)
            part[(*parts)++] = (halo_part){way, 0, sizeof(halo_seal), true};
    }
    return *parts - before;
}

static void *memory_of(const halo_plan *p, const halo_part *m, bool sent)
{
    if (m->seal) return &p->seal[sent ? m->way : p->ways + m->way];
    return sent ? halo_send_memory(p, m->at) : halo_recv_memory(p, m->at);
}

/* A message's tag is its direction as the sender sees it; its parts come in their order. Its seal
 * has one of its own. */
static meta_err make_requests(halo_plan *p, bool sent, const halo_part *part, int parts,
                              MPI_Request *request, int *made)
{
    for (*made = 0; *made < parts; ++*made) {
        const halo_part *m = &part[*made];
        const int tag = (sent ? m->way : p->ways - 1 - m->way) + (m->seal ? 2 * HALO_WAYS : 0);
        void *memory = memory_of(p, m, sent);
        if (sent)
            COMM_MPI(MPI_Send_init, (memory, (int)m->bytes, MPI_BYTE, p->link[m->way].peer, tag,
                                     p->cart, &request[*made]));
        else
            COMM_MPI(MPI_Recv_init, (memory, (int)m->bytes, MPI_BYTE, p->link[m->way].peer, tag,
                                     p->cart, &request[*made]));
    }
    return META_OK;
}

static meta_err make_messages(halo_plan *p)
{
    int sends = 0, recvs = 0;
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        if (by_mpi(p, link, link->out))
            cut(way, link->send_at, link->send_bytes, link->send_chunk, p->send_part, &sends);
        if (by_mpi(p, link, link->in))
            cut(way, link->recv_at, link->recv_bytes, link->recv_chunk, p->recv_part, &recvs);
    }
    p->seals = add_seals(p, true, p->send_part, &sends);
    add_seals(p, false, p->recv_part, &recvs);
    META_TRY(make_requests(p, true, p->send_part, sends, p->send, &p->sends));
    return make_requests(p, false, p->recv_part, recvs, p->recv, &p->recvs);
}

/* ------------------------------------------------------------------ segments */

static halo_segment *add_segment(halo_plan *p, size_t at, int part)
{
    p->segment[p->segments] = (halo_segment){.at = at, .first_part = part};
    return &p->segment[p->segments++];
}

/* Each part of a message of several is a segment, and so are small messages together. What is
 * shared is one more. */
static void make_segments(halo_plan *p)
{
    halo_segment *open = NULL;
    for (int way = 0; way < p->ways; ++way) p->link[way].segment = -1;
    if (p->host) return;
    for (int k = 0; k < p->sends - p->seals && !p->direct; ++k) {
        const halo_part *m = &p->send_part[k];
        const size_t end = m->at + m->bytes;
        if (!open || end - open->at > SEGMENT) open = add_segment(p, m->at, k);
        open->bytes = end - open->at;
        ++open->parts;
        p->link[m->way].segment = p->segments - 1;
    }
    if (p->slot_bytes == 0) return;
    open = add_segment(p, p->mpi_bytes, p->sends - p->seals);
    open->bytes = p->slot_bytes;
    for (int way = 0; way < p->ways; ++way)
        if (p->link[way].used && p->link[way].out == META_PATH_SHARED)
            p->link[way].segment = p->segments - 1;
}

/* ------------------------------------------------------------------ all of it */

static void *room_for(int count, size_t size)
{
    return calloc(count > 0 ? (size_t)count : 1, size);
}

static meta_err make_lists(halo_plan *p)
{
    const int sends = count_parts(p, true), recvs = count_parts(p, false);
    const int longer = sends > recvs ? sends : recvs;
    p->send_part = room_for(sends, sizeof *p->send_part);
    p->recv_part = room_for(recvs, sizeof *p->recv_part);
    p->send = room_for(sends, sizeof *p->send);
    p->recv = room_for(recvs, sizeof *p->recv);
    p->segment = room_for(sends + 1, sizeof *p->segment);
    p->index = room_for(longer, sizeof *p->index);
    p->statuses = room_for(longer, sizeof *p->statuses);
    if (p->send_part && p->recv_part && p->send && p->recv && p->segment && p->index && p->statuses)
        return META_OK;
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan of %d and %d messages",
                      sends, recvs);
}

meta_err halo_plan_allocate(halo_plan *p)
{
    META_TRY(make_lists(p));
    META_TRY(make_buffer(p, p->send_bytes, p->mpi_bytes, &p->send_buffer, &p->send_span,
                         &p->send_staging));
    META_TRY(make_buffer(p, p->recv_bytes, p->recv_bytes, &p->recv_buffer, &p->recv_span,
                         &p->recv_staging));
    META_TRY(halo_seals_make(p));
    META_TRY(make_messages(p));
    make_segments(p);
    return halo_calls_make(p);
}

void halo_requests_free(MPI_Request *request, int *count)
{
    for (; *count > 0; --*count)
        if (request[*count - 1] != MPI_REQUEST_NULL) MPI_Request_free(&request[*count - 1]);
}

void halo_plan_release(halo_plan *p)
{
    halo_requests_free(p->send, &p->sends);
    halo_requests_free(p->recv, &p->recvs);
    halo_window_free(p);
    if (p->send_staging) core->staging_free(p->device, p->send_staging);
    if (p->recv_staging) core->staging_free(p->device, p->recv_staging);
    if (p->send_buffer) core->scratch_free(p->send_buffer);
    if (p->recv_buffer) core->scratch_free(p->recv_buffer);
    halo_seals_free(p);
    free(p->send_part);
    free(p->recv_part);
    free(p->send);
    free(p->recv);
    free(p->segment);
    free(p->index);
    free(p->statuses);
    free(p->calls);
    free(p->patch);
    free(p->field);
}
