/* SPDX-License-Identifier: BSD-3-Clause */
/** @file recv.c
 *  The steps of a message that is received: found when it is its turn, taken into staging part by
 *  part, its header compared with what is expected, copied to the device and unpacked there. A
 *  message that does not fit is consumed to its end and written nowhere. */
#include "comm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

enum { HEADER = sizeof(comm_header) };

static bool match(comm_message *m);

/* All payload has arrived and been dealt with, or more is to come. */
static bool next_part(comm_message *m)
{
    comm_message_wire_free(m);
    if (m->moved >= m->total) return comm_message_end(m);
    m->step = match;
    return true;
}

static bool uploading(comm_message *m)
{
    return comm_message_settled(m) && next_part(m);
}

/* Copy @p bytes that have just arrived to their place on the device, and unpack after the last. */
static meta_err upload(comm_message *m, const char *data, size_t bytes)
{
    meta_span to = m->packed;
    to.offset += m->moved;
    to.address += m->moved;
    to.room -= m->moved;
    if (bytes > 0)
        COMM_TRY(core->copy(to.device, META_QUEUE_COMPUTE, META_COPY_H2D, (void *)(uintptr_t)data,
                            &to, bytes, &m->pending[0]));
    if (!m->unpacks || m->moved + bytes < m->total) return META_OK;
    return core->launch(to.device, META_QUEUE_COMPUTE, &m->unpack, 1, &m->pending[1]);
}

/* The header in front of @p bytes against what the caller expects. */
static meta_err check_header(comm_message *m, const char *data, size_t bytes)
{
    char what[64];
    comm_header h = {0};
    m->headed = true;
    m->total = 0;
    snprintf(what, sizeof what, "message from rank %d, tag %d", m->peer, m->tag);
    if (bytes >= HEADER) memcpy(&h, data, HEADER);
    if (h.magic != COMM_MAGIC || h.version != COMM_WIRE_VERSION)
        return core->fail(META_ERR_MISMATCH, "%s: not sent by this version of libmeta", what);
    m->total = (size_t)h.bytes;
    if (h.type != (uint16_t)m->type || h.count != (uint64_t)m->count || h.bytes != m->bytes)
        return core->fail(META_ERR_MISMATCH,
                          "%s: the sender has %" PRIu64 " elements of %s, the "
                          "receiver expects %" PRId64 " of %s",
                          what, h.count, comm_type_name(h.type), m->count,
                          comm_type_name((uint32_t)m->type));
    return META_OK;
}

/* A part lies at @p data. */
static bool arrived(comm_message *m, const char *data, size_t bytes)
{
    const size_t head = m->headed ? 0 : HEADER;
    if (!m->headed) {
        const meta_err error = check_header(m, data, bytes);
        if (error != META_OK) comm_message_fail(m, error);
    }
    const size_t payload = bytes > head ? bytes - head : 0;
    if (m->status == META_OK && m->moved + payload > m->total)
        comm_message_fail(m, core->fail(META_ERR_MISMATCH,
                                        "message from rank %d, tag %d: %zu bytes "
                                        "arrived of %zu",
                                        m->peer, m->tag, m->moved + payload, m->total));
    if (m->status == META_OK) {
        const meta_err error = upload(m, data + head, payload);
        if (error != META_OK) comm_message_fail(m, error);
    }
    m->moved += payload;
    if (m->moved >= m->total) comm_message_pass(m);
    m->step = uploading;
    return true;
}

static bool on_wire(comm_message *m)
{
    const meta_err before = m->status;
    if (!comm_message_retired(m)) return false;
    if (m->status != before) return comm_message_end(m);
    return arrived(m, m->wire_data, m->wire_bytes);
}

/* Room for a part of @p bytes: staging for what may go to the device, anything for the rest. */
static meta_err make_room(comm_message *m, size_t bytes)
{
    const bool wanted = m->status == META_OK && (m->headed || bytes <= HEADER + m->bytes);
    if (bytes <= HEADER && !m->headed) {
        m->wire = COMM_WIRE_HEADER;
        m->wire_data = (char *)&m->header;
        m->wire_bytes = bytes;
        return META_OK;
    }
    if (wanted) return comm_message_staging(m, m->packed.device, bytes);
    m->wire = COMM_WIRE_HEAP;
    m->wire_bytes = bytes;
    m->wire_data = malloc(bytes > 0 ? bytes : 1);
    if (!m->wire_data)
        return core->fail(META_ERR_NO_MEMORY,
                          "the host has no memory to take a message of %zu bytes "
                          "from rank %d, tag %d",
                          bytes, m->peer, m->tag);
    return META_OK;
}

static meta_err take_part(comm_message *m, int *found)
{
    MPI_Message part;
    MPI_Status status;
    int bytes;
    COMM_MPI(MPI_Improbe, (m->peer, m->tag, job.messages, found, &part, &status));
    if (!*found) return META_OK;
    COMM_MPI(MPI_Get_count, (&status, MPI_BYTE, &bytes));
    COMM_TRY(make_room(m, (size_t)bytes));
    COMM_MPI(MPI_Imrecv, (m->wire_data, bytes, MPI_BYTE, &part, &m->request));
    m->request_count = 1;
    return META_OK;
}

/* Take over the staging of a message from this rank to itself. */
static bool take_from_self(comm_message *m)
{
    comm_message *from = comm_message_to_self(m->tag);
    if (!from) return false;
    m->wire = from->wire;
    m->wire_data = from->wire_data;
    m->wire_bytes = from->wire_bytes;
    m->wire_device = from->wire_device;
    from->wire = COMM_WIRE_NONE;
    comm_message_end(from);
    return arrived(m, m->wire_data, m->wire_bytes);
}

static bool match(comm_message *m)
{
    int found = 0;
    if (!m->turn) return false;
    if (m->peer == job.rank) return take_from_self(m);
    const meta_err error = take_part(m, &found);
    if (error != META_OK) {
        comm_message_fail(m, error);
        return comm_message_end(m);
    }
    if (found) m->step = on_wire;
    return found;
}

bool comm_recv_step(comm_message *m)
{
    return match(m);
}
