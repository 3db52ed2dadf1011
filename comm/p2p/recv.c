/* SPDX-License-Identifier: BSD-3-Clause */
/** @file recv.c
 *  The steps of a message that is received: found when it is its turn, its header compared with
 * what is expected; then part after part is taken into staging and copied to the device, several at
 * once, and unpacked there behind the last. A host device's memory takes them itself. A message
 * that does not fit is consumed to its end and written nowhere. */
#include "comm.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/wire.h"

enum { HEADER = sizeof(comm_header) };

/* Of peer and tag: how errors begin. Nothing is formatted for a message without one. */
#define MESSAGE "message from rank %d, tag %d: "

/* ------------------------------------------------------------------ the header */

static meta_err check_header(comm_message *m, const char *data, size_t bytes)
{
    comm_header h = {0};
    m->headed = true;
    if (bytes >= HEADER) memcpy(&h, data, HEADER);
    m->header = (comm_header){0};
    if (h.magic != COMM_MAGIC || h.version != COMM_WIRE_VERSION || h.chunk == 0 ||
        h.chunk > INT32_MAX)
        return core->fail(META_ERR_MISMATCH, MESSAGE "not sent by this version of libmeta", m->peer,
                          m->tag);
    if (h.seal != comm_checksum(COMM_CHECKSUM_START, &h, offsetof(comm_header, seal)))
        return core->fail(META_ERR_MISMATCH, MESSAGE "its header was damaged on its way", m->peer,
                          m->tag);
    m->header = h;
    m->sum = COMM_CHECKSUM_START;
    if (h.type != (uint16_t)m->type || h.count != (uint64_t)m->count || h.bytes != m->bytes)
        return core->fail(META_ERR_MISMATCH,
                          MESSAGE "the sender has %" PRIu64 " elements of %s, the "
                                  "receiver expects %" PRId64 " of %s",
                          m->peer, m->tag, h.count, comm_type_name(h.type), m->count,
                          comm_type_name((uint32_t)m->type));
    return META_OK;
}

/* ------------------------------------------------------------------ to the device */

/* Behind the last part. */
static void unpack(comm_message *m)
{
    if (!m->unpacks || m->status != META_OK) return;
    const meta_err error =
        core->launch(m->packed.device, META_QUEUE_COMPUTE, &m->unpack, 1, &m->pending[1]);
    if (error != META_OK) comm_message_fail(m, error);
}

/* @p bytes of the next part's payload lie at @p data. */
static meta_err upload(comm_message *m, comm_part *p, char *data, size_t bytes)
{
    const size_t expected = comm_part_payload(m, m->fetched);
    const meta_span to = comm_span_part(&m->packed, m->fetched * m->chunk);
    if (bytes != expected)
        return core->fail(META_ERR_PEER,
                          MESSAGE "part %zu of %zu came with %zu bytes instead "
                                  "of %zu: its sender failed in the middle of it",
                          m->peer, m->tag, m->fetched + 1, m->parts, bytes, expected);
    if (bytes == 0 || p->wire == COMM_WIRE_TARGET) return META_OK;
    return core->copy(to.device, META_QUEUE_COMPUTE, META_COPY_H2D, data, &to, bytes, &p->copy);
}

/* Where the sender made a checksum of the payload, it must be that of what came. */
static meta_err check_payload(comm_message *m, const char *data, size_t bytes)
{
    if (m->header.sum == 0) return META_OK;
    m->sum = comm_checksum(m->sum, data, bytes);
    if (m->fetched + 1 < m->parts || m->header.sum == (m->sum ? m->sum : 1)) return META_OK;
    return core->fail(META_ERR_MISMATCH,
                      "META_CHECK: message from rank %d, tag %d: its %" PRIu64 " bytes are not "
                      "those that were sent: they were changed on the way or in MPI's hands",
                      m->peer, m->tag, m->header.bytes);
}

static void arrived(comm_message *m, char *data, size_t bytes)
{
    if (m->status == META_OK) {
        meta_err error = upload(m, comm_part_at(m, m->fetched), data, bytes);
        if (error == META_OK) error = check_payload(m, data, bytes);
        if (error != META_OK) comm_message_fail(m, error);
    }
    if (++m->fetched == m->parts) unpack(m);
}

static bool retire(comm_message *m)
{
    const size_t before = m->retired;
    while (m->retired < m->fetched) {
        comm_part *p = comm_part_at(m, m->retired);
        if (!comm_part_copied(m, p)) break;
        comm_part_free(p);
        ++m->retired;
    }
    return m->retired > before;
}

static bool conclude(comm_message *m)
{
    if (m->issued == m->parts) comm_message_pass(m);
    if (m->retired < m->parts || !comm_message_settled(m)) return false;
    return comm_message_end(m);
}

/* ------------------------------------------------------------------ from MPI */

/* Memory for a part, any for what is not to be written; false where it must wait for that of
 * another, or there is none and the message fails. */
static bool make_room(comm_message *m, comm_part *p, size_t bytes)
{
    if (m->status == META_OK && comm_part_staging(p, m->packed.device, bytes) == META_OK)
        return true;
    const meta_err error = comm_part_heap(p, bytes);
    if (error == META_OK) return true;
    if (m->issued == m->retired) comm_message_fail(m, error);
    return false;
}

/* Nothing of the message is under way, and there is no memory for its next part. */
static bool consume_next(comm_message *m)
{
    int found = 0;
    if (m->issued > m->retired) return false;
    const int code = MPI_Iprobe(m->peer, m->tag, comm_job.messages, &found, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !found) return false;
    if (found) comm_consume(comm_job.messages, m->peer, m->tag);
    ++m->issued;
    return true;
}

/* A host device's memory takes what comes once all earlier work is done with it. */
static bool take_in_place(comm_message *m, comm_part *p, size_t bytes)
{
    if (m->status != META_OK || !core->is_host(m->packed.device)) return false;
    p->wire = COMM_WIRE_TARGET;
    p->data = m->packed.address + m->issued * m->chunk;
    p->bytes = bytes;
    return true;
}

static bool issue(comm_message *m)
{
    const size_t before = m->issued;
    while (m->issued < m->parts && m->issued - m->retired < COMM_WINDOW) {
        const size_t bytes = comm_part_payload(m, m->issued);
        comm_part *p = comm_part_begin(m, m->issued);
        if (!take_in_place(m, p, bytes) && !make_room(m, p, bytes))
            return consume_next(m) || m->issued > before;
        const bool failed = m->status != META_OK;
        const int code = MPI_Irecv(p->data, (int)p->bytes, MPI_BYTE, m->peer, m->tag,
                                   comm_job.messages, &p->request);
        if (code == MPI_SUCCESS || failed) ++m->issued;
        if (code == MPI_SUCCESS) continue;
        p->request = MPI_REQUEST_NULL;
        comm_part_free(p);
        comm_message_fail(m, comm_mpi(code, "MPI_Irecv"));
    }
    return m->issued > before;
}

static bool fetch(comm_message *m)
{
    const size_t before = m->fetched;
    while (m->fetched < m->issued) {
        comm_part *p = comm_part_at(m, m->fetched);
        size_t bytes;
        if (!comm_part_carried(m, p, &bytes)) break;
        arrived(m, p->data, bytes);
    }
    return m->fetched > before;
}

/* Several parts, once round per call, so that many messages advance together. */
static bool receive(comm_message *m)
{
    bool moved = retire(m);
    moved |= fetch(m);
    moved |= issue(m);
    return conclude(m) || moved;
}

/* Until work that was queued before has done with a host device's memory. */
static bool wait_for_memory(comm_message *m)
{
    if (!comm_message_settled(m)) return false;
    m->step = receive;
    return true;
}

/* The header has come alone. */
static void begin_parts(comm_message *m)
{
    comm_part_free(comm_part_at(m, 0));
    m->issued = 0;
    comm_parts_cut(m, (size_t)m->header.chunk, COMM_WINDOW);
    m->step = wait_for_memory;
    if (m->status != META_OK || !core->is_host(m->packed.device)) return;
    const meta_err error = core->copy(m->packed.device, META_QUEUE_COMPUTE, META_COPY_D2H,
                                      m->carried, &m->packed, 1, &m->pending[0]);
    if (error != META_OK) comm_message_fail(m, error);
}

/* The header, and behind it all payload if that is no longer than a part. */
static bool first_on_wire(comm_message *m)
{
    const meta_err before = m->status;
    comm_part *p = comm_part_at(m, 0);
    const size_t bytes = p->bytes;
    if (!comm_part_carried(m, p, NULL)) return false;
    if (m->status != META_OK && before == META_OK) return comm_message_end(m);
    if (m->posted) comm_record_given(m);
    const meta_err error = check_header(m, p->data, bytes);
    if (error != META_OK) comm_message_fail(m, error);
    if (m->header.bytes > m->header.chunk) {
        begin_parts(m);
        return true;
    }
    if (bytes < HEADER) return comm_message_end(m);
    comm_parts_cut(m, SIZE_MAX, 1);
    arrived(m, p->data + HEADER, bytes - HEADER);
    m->step = receive;
    return true;
}

/* What has come must be taken, or its parts would be mistaken for the next message: where a call
 * fails the message does, and it is called once more. */
enum { ATTEMPTS = 2 };

static bool find_length(comm_message *m, const MPI_Status *status, int *bytes)
{
    for (int k = 0; k < ATTEMPTS; ++k) {
        const int code = MPI_Get_count(status, MPI_BYTE, bytes);
        if (code == MPI_SUCCESS) return true;
        comm_message_fail(m, comm_mpi(code, "MPI_Get_count"));
    }
    return false;
}

static bool take_first(comm_message *m, size_t bytes)
{
    comm_parts_cut(m, SIZE_MAX, 1);
    comm_part *p = comm_part_begin(m, 0);
    p->wire = COMM_WIRE_HEADER;
    p->data = (char *)&m->header;
    p->bytes = bytes;
    if (bytes > HEADER && !make_room(m, p, bytes))
        return comm_consume(comm_job.messages, m->peer, m->tag), false;
    m->issued = 1;
    for (int k = 0; k < ATTEMPTS; ++k) {
        const int code = MPI_Irecv(p->data, (int)p->bytes, MPI_BYTE, m->peer, m->tag,
                                   comm_job.messages, &p->request);
        if (code == MPI_SUCCESS) return true;
        p->request = MPI_REQUEST_NULL;
        comm_message_fail(m, comm_mpi(code, "MPI_Irecv"));
    }
    return false;
}

static bool find(comm_message *m)
{
    MPI_Status status;
    int found = 0, bytes, code = MPI_ERR_OTHER;
    for (int k = 0; k < ATTEMPTS && code != MPI_SUCCESS; ++k) {
        code = MPI_Iprobe(m->peer, m->tag, comm_job.messages, &found, &status);
        if (code != MPI_SUCCESS) comm_message_fail(m, comm_mpi(code, "MPI_Iprobe"));
    }
    if (code != MPI_SUCCESS) return comm_message_end(m);
    if (!found) return false;
    m->step = first_on_wire;
    if (!find_length(m, &status, &bytes) || !take_first(m, (size_t)bytes))
        return comm_message_end(m);
    return true;
}

/* ------------------------------------------------------------------ from this rank itself */

/* Take over parts that the other end has on the host. */
static bool take_over(comm_message *m)
{
    comm_message *from = m->from;
    const size_t before = m->issued;
    while (m->issued < from->fetched && m->issued - m->retired < COMM_WINDOW) {
        comm_part *theirs = comm_part_at(from, m->issued), *p = comm_part_begin(m, m->issued);
        const size_t head = m->parts == 1 ? HEADER : 0;
        ++m->issued;
        p->wire = theirs->wire;
        p->data = theirs->data;
        p->device = theirs->device;
        theirs->wire = COMM_WIRE_NONE;
        arrived(m, p->data + head, theirs->bytes - head);
    }
    return m->issued > before;
}

/* The other end has given all it has, or failed. */
static bool part_from_self(comm_message *m)
{
    comm_message *from = m->from;
    const bool failed = from->status != META_OK;
    if (failed && from->fetched < from->loaded) return false;
    if (!failed && m->issued < m->parts) return false;
    if (failed) comm_message_fail(m, core->fail_as(from->status, from->text));
    m->parts = m->issued;
    m->from = NULL;
    return comm_message_end(from);
}

static bool receive_from_self(comm_message *m)
{
    bool moved = retire(m);
    if (m->from) moved |= take_over(m);
    if (m->from) moved |= part_from_self(m);
    return conclude(m) || moved;
}

static bool begin_from_self(comm_message *m)
{
    comm_message *from = comm_order_first(COMM_SEND, m->peer, m->tag);
    if (!from || !from->step || from->status != META_OK || from->fetched == 0) return false;
    const meta_err error = check_header(m, (const char *)&from->header, HEADER);
    if (error != META_OK) comm_message_fail(m, error);
    from->attached = true;
    m->from = from;
    comm_parts_cut(m, from->chunk, COMM_WINDOW);
    m->step = receive_from_self;
    return true;
}

/* ------------------------------------------------------------------ */

bool comm_recv_step(comm_message *m)
{
    if (!m->turn) return false;
    return m->peer == comm_job.rank ? begin_from_self(m) : find(m);
}
