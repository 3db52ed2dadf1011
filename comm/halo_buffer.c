/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_buffer.c
 *  The memory and the persistent MPI requests of a halo plan: made once, so that an exchange
 *  allocates nothing. A host device's buffers are given to MPI themselves, others through staging.
 */
#include "halo.h"

#include <limits.h>
#include <stdlib.h>

meta_span halo_part(const meta_span *span, size_t at)
{
    meta_span part = *span;
    part.offset += at;
    part.address += at;
    part.room -= at;
    return part;
}

char *halo_send_memory(const halo_plan *p, size_t at)
{
    return (p->send_staging ? (char *)p->send_staging : p->send_span.address) + at;
}

char *halo_recv_memory(const halo_plan *p, size_t at)
{
    return (p->recv_staging ? (char *)p->recv_staging : p->recv_span.address) + at;
}

/* One buffer for all directions, and its image on the host where the device is not one. */
static meta_err make_buffer(const halo_plan *p, size_t bytes, void **buffer, meta_span *span,
                            void **staging)
{
    if (bytes == 0) return META_OK;
    COMM_TRY(core->scratch(p->device, bytes, buffer));
    COMM_TRY(core->resolve(*buffer, (int64_t)bytes, META_U8, "buffer", span));
    return core->is_host(p->device) ? META_OK : core->staging(p->device, bytes, staging);
}

/* ------------------------------------------------------------------ requests */

/* @p bytes as one element of a datatype of its own, for more than an int can count. */
static meta_err large_type(size_t bytes, MPI_Datatype *type)
{
    enum { BLOCK = 1 << 20 };
    MPI_Datatype block;
    const size_t blocks = bytes / BLOCK;
    if (blocks > INT_MAX)
        return core->fail(META_ERR_OVERFLOW, "a message of %zu bytes is larger than MPI can send",
                          bytes);
    int lengths[2] = {(int)blocks, (int)(bytes % BLOCK)};
    MPI_Aint at[2] = {0, (MPI_Aint)(blocks * BLOCK)};
    COMM_MPI(MPI_Type_contiguous, (BLOCK, MPI_BYTE, &block));
    MPI_Datatype types[2] = {block, MPI_BYTE};
    meta_err error =
        comm_mpi(MPI_Type_create_struct(2, lengths, at, types, type), "MPI_Type_create_struct");
    MPI_Type_free(&block);
    if (error == META_OK) error = comm_mpi(MPI_Type_commit(type), "MPI_Type_commit");
    return error;
}

/* MPI_Send_init() or MPI_Recv_init() of @p bytes at @p data. */
static meta_err make_request(const halo_plan *p, bool send, char *data, size_t bytes, int peer,
                             int tag, MPI_Request *request)
{
    MPI_Datatype type = MPI_BYTE;
    const bool large = bytes > INT_MAX;
    const int count = large ? 1 : (int)bytes;
    if (large) COMM_TRY(large_type(bytes, &type));
    const meta_err error =
        send ? comm_mpi(MPI_Send_init(data, count, type, peer, tag, p->cart, request),
                        "MPI_Send_init")
             : comm_mpi(MPI_Recv_init(data, count, type, peer, tag, p->cart, request),
                        "MPI_Recv_init");
    if (large) MPI_Type_free(&type);
    return error;
}

/* A message's tag is its direction as the sender sees it. */
static meta_err make_requests(halo_plan *p)
{
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        if (link->send_bytes > 0) {
            COMM_TRY(make_request(p, true, halo_send_memory(p, link->send_at), link->send_bytes,
                                  link->peer, way, &p->send[p->sends]));
            ++p->sends;
        }
        if (link->recv_bytes > 0) {
            COMM_TRY(make_request(p, false, halo_recv_memory(p, link->recv_at), link->recv_bytes,
                                  link->peer, p->ways - 1 - way, &p->recv[p->recvs]));
            p->recv_way[p->recvs++] = way;
        }
    }
    return META_OK;
}

/* ------------------------------------------------------------------ all of it */

static meta_err make_lists(halo_plan *p)
{
    const size_t calls = (size_t)p->fields * (size_t)p->ways;
    p->field = calloc((size_t)p->fields, sizeof *p->field);
    p->held = calloc((size_t)p->fields, sizeof *p->held);
    p->calls = calloc(calls, sizeof *p->calls);
    p->unpacks = calloc(calls, sizeof *p->unpacks);
    if (p->field && p->held && p->calls && p->unpacks) return META_OK;
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a plan of %d fields",
                      p->fields);
}

meta_err halo_plan_allocate(halo_plan *p)
{
    COMM_TRY(make_lists(p));
    COMM_TRY(make_buffer(p, p->send_bytes, &p->send_buffer, &p->send_span, &p->send_staging));
    COMM_TRY(make_buffer(p, p->recv_bytes, &p->recv_buffer, &p->recv_span, &p->recv_staging));
    return make_requests(p);
}

void halo_plan_release(halo_plan *p)
{
    while (p->sends > 0) MPI_Request_free(&p->send[--p->sends]);
    while (p->recvs > 0) MPI_Request_free(&p->recv[--p->recvs]);
    if (p->send_staging) core->staging_free(p->device, p->send_staging);
    if (p->recv_staging) core->staging_free(p->device, p->recv_staging);
    if (p->send_buffer) core->scratch_free(p->send_buffer);
    if (p->recv_buffer) core->scratch_free(p->recv_buffer);
    free(p->field);
    free(p->held);
    free(p->calls);
    free(p->unpacks);
}
