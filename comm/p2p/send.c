/* SPDX-License-Identifier: BSD-3-Clause */
/** @file send.c
 *  Sending: part after part goes from the device to staging, and from there, at the message's turn,
 *  to MPI or to the receiver within this rank. Staging does not wait for the receiver, so that the
 *  sender's buffer is free soon; it is given back as MPI completes. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "p2p/message.h"

enum { HEADER = sizeof(comm_header) };

/* ------------------------------------------------------------------ to the host */

/* Queue the next part's copy to the host. */
static meta_err load_part(comm_message *m)
{
    const size_t k = m->loaded, head = m->parts == 1 ? HEADER : 0,
                 payload = comm_part_payload(m, k);
    const meta_span from = comm_span_part(&m->packed, k * m->chunk);
    comm_part *p = comm_part_begin(m, k);
    META_TRY(comm_part_memory(p, from.device, head + payload));
    ++m->loaded;
    if (head > 0) memcpy(p->data, &m->header, HEADER);
    if (payload == 0) return META_OK;
    return core->copy(from.device, META_QUEUE_COMPUTE, META_COPY_D2H, p->data + head, &from,
                      payload, &p->copy);
}

/* META_CHECK=on: the checksum of the payload, read separately from what is sent. */
static meta_err checksum(comm_message *m)
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

/* ------------------------------------------------------------------ to MPI */

static bool give(comm_message *m, const void *data, size_t bytes, MPI_Request *request)
{
    const int code =
        MPI_Isend(data, (int)bytes, MPI_BYTE, m->peer, m->tag, comm_job.messages, request);
    if (code == MPI_SUCCESS) return true;
    *request = MPI_REQUEST_NULL;
    comm_message_fail(m, comm_mpi(code, "MPI_Isend"));
    return false;
}

static bool issue(comm_message *m)
{
    const size_t before = m->issued;
    if (!m->turn || m->issued == m->parts) return false;
    if (!m->has_header) {
        if (m->status != META_OK) return false;
        comm_message_given(m);
        if (m->parts > 1) {
            if (!give(m, &m->header, HEADER, &m->request)) return false;
            m->request_count = 1;
        }
        m->has_header = true;
    }
    while (m->status == META_OK && m->issued < m->fetched) {
        comm_part *p = comm_part_at(m, m->issued);
        if (give(m, p->data, p->bytes, &p->request) || m->parts == 1) ++m->issued;
    }
    /* The receiver of a message that fails half-way gets the rest of its parts empty. */
    while (m->status != META_OK && m->issued < m->parts) {
        const size_t k = m->issued++;
        comm_part *p = k < m->loaded ? comm_part_at(m, k) : comm_part_begin(m, k);
        give(m, &m->header, 0, &p->request);
    }
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

/* ------------------------------------------------------------------ the message */

/* The caller is notified once all is with MPI, the message ends once MPI is done with it. */
static bool conclude(comm_message *m)
{
    if (m->fetched < m->loaded) return false;
    if (m->status != META_OK && !m->has_header) return comm_message_end(m);
    if (m->issued < m->parts) return false;
    comm_message_pass(m);
    comm_message_notify(m);
    if (m->retired < m->parts || !comm_message_mpi_done(m)) return false;
    return comm_message_end(m);
}

/* To this rank itself: the receiver ends the message, once it has begun with it. */
static bool conclude_self(comm_message *m)
{
    if (m->fetched < m->loaded) return false;
    if (m->status != META_OK && !m->attached) return comm_message_end(m);
    if (m->fetched < m->parts || m->notified) return false;
    comm_message_notify(m);
    return true;
}

/* One round per call, so that many messages advance together. */
static bool send_step(comm_message *m)
{
    const bool self = m->peer == comm_job.rank;
    bool moved = false, load;
    do {
        while (m->fetched < m->loaded && comm_part_copied(m, comm_part_at(m, m->fetched))) {
            ++m->fetched;
            moved = true;
        }
        if (!self) {
            moved |= issue(m);
            moved |= retire(m);
        }
        load = m->status == META_OK && m->loaded < m->parts &&
               (m->copy_all_now || m->loaded - m->fetched < COMM_WINDOW);
        if (load) {
            const meta_err error = load_part(m);
            if (error != META_OK) comm_message_fail(m, error);
            moved = true;
        }
    } while (load && m->copy_all_now);
    return (self ? conclude_self(m) : conclude(m)) || moved;
}

/* Choose the parts, complete the header, and queue the packing and the first copy. */
static meta_err start(comm_message *m, meta_builtin *pack)
{
    enum { LEAST_FROM_HOST = 512 << 10 };
    meta_device *device = m->packed.device;
    if (pack) META_TRY(core->launch(device, META_QUEUE_COMPUTE, pack, 1, &m->pending[1]));
    size_t wish = comm_chunk_for(device, m->bytes);
    /* A copy within the host costs little: what a part costs MPI and the receiver counts more. */
    if (wish > 0 && wish < LEAST_FROM_HOST && comm_job.pipeline == 0 && core->is_host(device))
        wish = LEAST_FROM_HOST;
    const size_t chunk = comm_chunk_fit(m->bytes, wish);
    if (core->checked()) META_TRY(checksum(m));
    META_TRY(comm_parts_cut(m, chunk, SIZE_MAX));
    m->header.chunk = m->parts == 1 ? comm_job.chunk : chunk;
    m->header.seal = comm_checksum(COMM_CHECKSUM_START, &m->header, offsetof(comm_header, seal));
    return load_part(m);
}

/* Send @p count elements at @p packed, or, with @p packs, those of @p buf's face by way of it. */
static meta_err send(int dst, bool packs, const meta_face *face, const void *buf,
                     const void *packed, int64_t count, meta_type type, int tag, meta_event *done)
{
    comm_message *m;
    meta_span span, from_buf;
    meta_builtin pack;
    size_t element;
    bool nobody;
    META_TRY(comm_check_message(dst, "dst", count, type, tag, done, &nobody));
    if (nobody) return META_OK;
    if (packs)
        META_TRY(comm_face_move(&pack, META_KERNEL_PACK, face, buf, packed, type, &span, &from_buf,
                                &count));
    else META_TRY(core->resolve(packed, count, type, "packed", &span));
    META_TRY(core->check_type(type, "type", &element));
    packs = packs && count > 0;
    if (packs) META_TRY(core->move_bind(&pack, &span, &from_buf));
    comm_queue_owed(&span);
    if (packs) comm_queue_owed(&from_buf);
    META_TRY(comm_message_new(&m, COMM_SEND, dst, tag, done));
    comm_message_payload(m, &span, count, type, (size_t)count * element);
    m->header = (comm_header){.magic = COMM_MAGIC,
                              .version = COMM_WIRE_VERSION,
                              .type = (uint16_t)type,
                              .count = (uint64_t)count,
                              .bytes = m->bytes};
    m->step = send_step;
    /* What is queued after a call that does not wait may write to `packed`. */
    m->copy_all_now = done;
    const meta_err error = start(m, packs ? &pack : NULL);
    return error == META_OK ? comm_message_post(m, done) : comm_message_drop(m, error);
}

meta_err meta_packed_send(int dst, const void *packed, int64_t count, meta_type type, int tag,
                          meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(send(dst, false, NULL, NULL, packed, count, type, tag, done));
}

meta_err meta_pack_send(int dst, const meta_face *face, const void *buf, void *packed,
                        meta_type type, int tag, meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(send(dst, true, face, buf, packed, 0, type, tag, done));
}
