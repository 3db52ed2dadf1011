/* SPDX-License-Identifier: BSD-3-Clause */
/** @file recv.c
 *  Receiving: the message is probed when it is its turn, and its header compared with what is
 *  expected; then part after part is received into staging and copied to the device, several at
 *  once, and unpacked there behind the last. A host device's memory receives them itself. A message
 *  that does not fit is received to its end and written nowhere. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/wire.h"
#include "p2p/message.h"

enum { HEADER = sizeof(comm_header) };

/* Of peer and tag: how errors begin. Nothing is formatted for a message without one. */
#define MESSAGE "message from rank %d, tag %d: "

/* ------------------------------------------------------------------ the header */

static meta_err check_header(comm_message *m, const char *data, size_t bytes)
{
    comm_header h = {0};
    m->has_header = true;
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

/* Queue the copy of @p bytes at @p data, the next part's payload. */
static meta_err upload(comm_message *m, comm_part *p, char *data, size_t bytes)
{
    const size_t expected = comm_part_payload(m, m->fetched);
    const meta_span to = comm_span_part(&m->packed, m->fetched * m->chunk);
    if (bytes != expected)
        return core->fail(META_ERR_PEER,
                          MESSAGE "part %zu of %zu came with %zu bytes instead "
                                  "of %zu: its sender failed in the middle of it",
                          m->peer, m->tag, m->fetched + 1, m->parts, bytes, expected);
    if (bytes > 0 && p->wire != COMM_WIRE_TARGET)
        META_TRY(
            core->copy(to.device, META_QUEUE_COMPUTE, META_COPY_H2D, data, &to, bytes, &p->copy));
    if (m->header.sum == 0) return META_OK; /* the sender made no checksum */
    m->sum = comm_checksum(m->sum, data, bytes);
    if (m->fetched + 1 < m->parts || m->header.sum == (m->sum ? m->sum : 1)) return META_OK;
    return core->fail(META_ERR_MISMATCH,
                      "META_CHECK: message from rank %d, tag %d: its %" PRIu64 " bytes are not "
                      "those that were sent: they were changed on the way or in MPI's hands",
                      m->peer, m->tag, m->header.bytes);
}

/* The next part is on the host; behind the last one all is unpacked. */
static void arrived(comm_message *m, char *data, size_t bytes)
{
    meta_err error = META_OK;
    if (m->status == META_OK) error = upload(m, comm_part_at(m, m->fetched), data, bytes);
    if (error != META_OK) comm_message_fail(m, error);
    if (++m->fetched < m->parts || !m->unpacks || m->status != META_OK) return;
    error = core->launch(m->packed.device, META_QUEUE_COMPUTE, &m->unpack, 1, &m->pending[1]);
    if (error != META_OK) comm_message_fail(m, error);
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
    if (m->retired < m->parts || !comm_message_device_done(m)) return false;
    return comm_message_end(m);
}

/* ------------------------------------------------------------------ from MPI */

/* Memory for a part, of the heap if it is not to be written; false if it must wait for that of
 * another part, or there is none and the message fails. */
static bool make_room(comm_message *m, comm_part *p, size_t bytes)
{
    if (m->status == META_OK && comm_part_memory(p, m->packed.device, bytes) == META_OK)
        return true;
    const meta_err error = comm_part_memory(p, NULL, bytes);
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

static bool give(comm_message *m, comm_part *p)
{
    const int code = MPI_Irecv(p->data, (int)p->bytes, MPI_BYTE, m->peer, m->tag, comm_job.messages,
                               &p->request);
    if (code == MPI_SUCCESS) return true;
    p->request = MPI_REQUEST_NULL;
    comm_part_free(p);
    comm_message_fail(m, comm_mpi(code, "MPI_Irecv"));
    return false;
}

static bool issue(comm_message *m)
{
    const size_t before = m->issued;
    while (m->issued < m->parts && m->issued - m->retired < COMM_WINDOW) {
        const size_t bytes = comm_part_payload(m, m->issued);
        comm_part *p = comm_part_begin(m, m->issued);
        if (m->status == META_OK && core->is_host(m->packed.device)) {
            p->wire = COMM_WIRE_TARGET;
            p->data = m->packed.address + m->issued * m->chunk;
            p->bytes = bytes;
        } else if (!make_room(m, p, bytes)) {
            return consume_next(m) || m->issued > before;
        }
        const bool failed = m->status != META_OK;
        if (give(m, p) || failed) ++m->issued;
    }
    return m->issued > before;
}

/* Several parts, one round per call, so that many messages advance together. */
static bool receive(comm_message *m)
{
    const size_t before = m->fetched;
    bool moved = retire(m);
    while (m->fetched < m->issued) {
        comm_part *p = comm_part_at(m, m->fetched);
        size_t bytes;
        if (!comm_part_carried(m, p, &bytes)) break;
        arrived(m, p->data, bytes);
    }
    moved |= m->fetched > before;
    moved |= issue(m);
    return conclude(m) || moved;
}

/* Until work that was queued before has done with a host device's memory. */
static bool wait_for_memory(comm_message *m)
{
    if (!comm_message_device_done(m)) return false;
    m->step = receive;
    return true;
}

/* The first MPI message: the header, and behind it all payload if that is no longer than a part. */
static bool receive_header(comm_message *m)
{
    const meta_err before = m->status;
    comm_part *p = comm_part_at(m, 0);
    const size_t bytes = p->bytes;
    if (!comm_part_carried(m, p, NULL)) return false;
    if (m->status != META_OK && before == META_OK) return comm_message_end(m);
    comm_message_given(m);
    meta_err error = check_header(m, p->data, bytes);
    if (error != META_OK) comm_message_fail(m, error);
    if (m->header.bytes <= m->header.chunk) {
        if (bytes < HEADER) return comm_message_end(m);
        comm_parts_cut(m, SIZE_MAX, 1);
        arrived(m, p->data + HEADER, bytes - HEADER);
        m->step = receive;
        return true;
    }
    comm_part_free(p);
    m->issued = 0;
    comm_parts_cut(m, (size_t)m->header.chunk, COMM_WINDOW);
    m->step = wait_for_memory;
    if (m->status != META_OK || !core->is_host(m->packed.device)) return true;
    error = core->copy(m->packed.device, META_QUEUE_COMPUTE, META_COPY_D2H, m->carried, &m->packed,
                       1, &m->pending[0]);
    if (error != META_OK) comm_message_fail(m, error);
    return true;
}

/* Probe for the message. If MPI fails once it has come, it is consumed: it must not be mistaken for
 * the next one. */
static bool probe(comm_message *m)
{
    MPI_Status status;
    int found = 0, bytes = 0;
    int code = MPI_Iprobe(m->peer, m->tag, comm_job.messages, &found, &status);
    if (code != MPI_SUCCESS) {
        comm_message_fail(m, comm_mpi(code, "MPI_Iprobe"));
        return comm_message_end(m);
    }
    if (!found) return false;
    code = MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (code != MPI_SUCCESS) comm_message_fail(m, comm_mpi(code, "MPI_Get_count"));
    comm_parts_cut(m, SIZE_MAX, 1);
    comm_part *p = comm_part_begin(m, 0);
    p->wire = COMM_WIRE_HEADER;
    p->data = (char *)&m->header;
    p->bytes = (size_t)bytes;
    if (code != MPI_SUCCESS || (p->bytes > HEADER && !make_room(m, p, p->bytes)) || !give(m, p)) {
        comm_consume(comm_job.messages, m->peer, m->tag);
        return comm_message_end(m);
    }
    m->issued = 1;
    m->step = receive_header;
    return true;
}

/* ------------------------------------------------------------------ from this rank itself */

/* Take over the parts that the other end has on the host. */
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

static bool receive_from_self(comm_message *m)
{
    bool moved = retire(m);
    if (m->from) moved |= take_over(m);
    comm_message *from = m->from;
    const bool failed = from && from->status != META_OK;
    /* The other end has given all it has, or failed. */
    if (from && (failed ? from->fetched == from->loaded : m->issued == m->parts)) {
        if (failed) comm_message_fail(m, core->fail_as(from->status, from->text));
        m->parts = m->issued;
        m->from = NULL;
        moved |= comm_message_end(from);
    }
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

/* ------------------------------------------------------------------ the message */

static bool begin(comm_message *m)
{
    if (!m->turn) return false;
    return m->peer == comm_job.rank ? begin_from_self(m) : probe(m);
}

/* Receive @p count elements into @p packed, or, with @p unpacks, @p buf's face by way of it. */
static meta_err recv(int src, bool unpacks, const meta_face *face, void *buf, void *packed,
                     int64_t count, meta_type type, int tag, meta_event *done)
{
    comm_message *m;
    meta_span span, to_buf;
    meta_builtin unpack;
    size_t element;
    bool nobody;
    META_TRY(comm_check_message(src, "src", count, type, tag, done, &nobody));
    if (nobody) return META_OK;
    if (unpacks)
        META_TRY(comm_face_move(&unpack, META_KERNEL_UNPACK, face, buf, packed, type, &span,
                                &to_buf, &count));
    else META_TRY(core->resolve(packed, count, type, "packed", &span));
    META_TRY(core->check_type(type, "type", &element));
    META_TRY(comm_message_new(&m, COMM_RECV, src, tag, done));
    comm_message_payload(m, &span, count, type, (size_t)count * element);
    if (unpacks) comm_message_hold(m, buf);
    m->step = begin;
    m->unpacks = unpacks && count > 0;
    if (!m->unpacks) return comm_message_post(m, done);
    m->unpack = unpack;
    const meta_err error = core->move_bind(&m->unpack, &to_buf, &span);
    return error == META_OK ? comm_message_post(m, done) : comm_message_drop(m, error);
}

meta_err meta_packed_recv(int src, void *packed, int64_t count, meta_type type, int tag,
                          meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(recv(src, false, NULL, NULL, packed, count, type, tag, done));
}

meta_err meta_recv_unpack(int src, const meta_face *face, void *buf, void *packed, meta_type type,
                          int tag, meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(recv(src, true, face, buf, packed, 0, type, tag, done));
}
