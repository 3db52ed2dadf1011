/* SPDX-License-Identifier: BSD-3-Clause */
/** @file send.c
 *  The steps of a message that is sent: part after part goes from the device to staging, and from
 *  there, at the message's turn, to MPI or to the receiver within this rank. Staging does not wait
 *  for the receiver, so that the sender's buffer is free soon; it is given back as MPI lets it go.
 */
#include "comm.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"

enum { HEADER = sizeof(comm_header), LEAST_FROM_HOST = 512 << 10 };

/* Queue the next part's copy to the host. */
static meta_err load_part(comm_message *m)
{
    const size_t k = m->loaded, head = m->parts == 1 ? HEADER : 0,
                 payload = comm_part_payload(m, k);
    const meta_span from = comm_span_part(&m->packed, k * m->chunk);
    comm_part *p = comm_part_begin(m, k);
    META_TRY(comm_part_staging(p, from.device, head + payload));
    ++m->loaded;
    if (head > 0) memcpy(p->data, &m->header, HEADER);
    if (payload == 0) return META_OK;
    return core->copy(from.device, META_QUEUE_COMPUTE, META_COPY_D2H, p->data + head, &from,
                      payload, &p->copy);
}

/* A copy within the host costs little at first: what a part costs MPI and the receiver counts more.
 */
static size_t chunk_of(const comm_message *m)
{
    size_t wish = comm_chunk_for(m->packed.device, m->bytes);
    if (wish > 0 && wish < LEAST_FROM_HOST && comm_job.pipeline == 0 &&
        core->is_host(m->packed.device))
        wish = LEAST_FROM_HOST;
    return comm_chunk_fit(m->bytes, wish);
}

/* The checksum of what is to be sent, for META_CHECK=1: by a way of its own, before a part is
 * loaded. */
static meta_err add_up(comm_message *m)
{
    enum { PIECE = 1 << 16 };
    char *piece = malloc(PIECE);
    uint32_t sum = COMM_CHECKSUM_START;
    meta_err error = META_OK;
    if (!piece) return core->fail(META_ERR_NO_MEMORY, "the host has no memory for a checksum");
    for (size_t at = 0; at < m->bytes && error == META_OK; at += PIECE) {
        const meta_span from = comm_span_part(&m->packed, at);
        const size_t part = m->bytes - at < PIECE ? m->bytes - at : PIECE;
        meta_pending copy;
        error =
            core->copy(from.device, META_QUEUE_COMPUTE, META_COPY_D2H, piece, &from, part, &copy);
        if (error != META_OK) break;
        error = core->pending_wait(&copy);
        core->pending_release(&copy);
        sum = comm_checksum(sum, piece, part);
    }
    free(piece);
    m->header.sum = sum ? sum : 1;
    return error;
}

meta_err comm_send_load(comm_message *m)
{
    const size_t chunk = chunk_of(m);
    if (core->checked()) META_TRY(add_up(m));
    META_TRY(comm_parts_cut(m, chunk, SIZE_MAX));
    m->header.chunk = m->parts == 1 ? comm_job.chunk : chunk;
    m->header.seal = comm_checksum(COMM_CHECKSUM_START, &m->header, offsetof(comm_header, seal));
    return load_part(m);
}

static bool load(comm_message *m)
{
    if (m->status != META_OK || m->loaded == m->parts) return false;
    if (!m->hasty && m->loaded - m->fetched >= COMM_WINDOW) return false;
    const meta_err error = load_part(m);
    if (error != META_OK) comm_message_fail(m, error);
    return true;
}

static bool fetch(comm_message *m)
{
    const size_t before = m->fetched;
    while (m->fetched < m->loaded && comm_part_copied(m, comm_part_at(m, m->fetched))) ++m->fetched;
    return m->fetched > before;
}

/* ------------------------------------------------------------------ to another rank */

static void give(comm_message *m, const void *data, size_t bytes, MPI_Request *request)
{
    const int code =
        MPI_Isend(data, (int)bytes, MPI_BYTE, m->peer, m->tag, comm_job.messages, request);
    if (code == MPI_SUCCESS) return;
    *request = MPI_REQUEST_NULL;
    comm_message_fail(m, comm_mpi(code, "MPI_Isend"));
}

static bool give_header(comm_message *m)
{
    if (m->posted) comm_record_given(m);
    if (m->parts > 1) {
        give(m, &m->header, HEADER, &m->request);
        if (m->status != META_OK) return false;
        m->request_count = 1;
    }
    m->headed = true;
    return true;
}

static void give_part(comm_message *m)
{
    comm_part *p = comm_part_at(m, m->issued);
    give(m, p->data, p->bytes, &p->request);
    if (m->status == META_OK || m->parts == 1) ++m->issued;
}

/* The receiver of a message that fails half-way gets the rest of its parts empty. */
static void give_nothing(comm_message *m)
{
    const size_t k = m->issued++;
    comm_part *p = k < m->loaded ? comm_part_at(m, k) : comm_part_begin(m, k);
    give(m, &m->header, 0, &p->request);
}

static bool issue(comm_message *m)
{
    const size_t before = m->issued;
    if (!m->turn || m->issued == m->parts) return false;
    if (!m->headed && (m->status != META_OK || !give_header(m))) return false;
    while (m->status == META_OK && m->issued < m->fetched) give_part(m);
    while (m->status != META_OK && m->issued < m->parts) give_nothing(m);
    return m->issued > before;
}

static bool retire(comm_message *m)
{
    const size_t before = m->retired;
    while (m->retired < m->issued && (m->retired < m->fetched || m->retired >= m->loaded)) {
        comm_part *p = comm_part_at(m, m->retired);
        if (!comm_part_carried(m, p, NULL)) break;
        comm_part_free(p);
        ++m->retired;
    }
    return m->retired > before;
}

static bool conclude(comm_message *m)
{
    if (m->fetched < m->loaded) return false;
    if (m->status != META_OK && !m->headed) return comm_message_end(m);
    if (m->issued < m->parts) return false;
    comm_message_pass(m);
    comm_message_tell(m);
    if (m->retired < m->parts || !comm_message_retired(m)) return false;
    return comm_message_end(m);
}

/* ------------------------------------------------------------------ to this rank itself */

/* The receiver ends the message, once it has begun with it. */
static bool conclude_self(comm_message *m)
{
    if (m->fetched < m->loaded) return false;
    if (m->status != META_OK && !m->attached) return comm_message_end(m);
    if (m->fetched == m->parts && !m->told) return comm_message_tell(m), true;
    return false;
}

/* Once round per call, so that many messages advance together. */
bool comm_send_step(comm_message *m)
{
    const bool self = m->peer == comm_job.rank;
    bool moved = false, more;
    do {
        moved |= fetch(m);
        if (!self) {
            moved |= issue(m);
            moved |= retire(m);
        }
        more = load(m);
        moved |= more;
    } while (more && m->hasty);
    return (self ? conclude_self(m) : conclude(m)) || moved;
}
