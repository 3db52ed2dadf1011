/* SPDX-License-Identifier: BSD-3-Clause */
/** @file send.c
 *  The steps of a message that is sent: from the device to staging, at its turn to MPI or to the
 *  receiver within this rank, until MPI needs the staging no more. */
#include "comm.h"

#include <string.h>

enum { HEADER = sizeof(comm_header) };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The first part holds the header and up to a chunk, the others a chunk each. */
static size_t parts_of(size_t bytes)
{
    return bytes <= job.chunk ? 1 : (bytes - 1) / job.chunk + 1;
}

meta_err comm_send_load(comm_message *m)
{
    if (m->peer != job.rank) COMM_TRY(comm_message_requests(m, parts_of(m->bytes)));
    COMM_TRY(comm_message_staging(m, m->packed.device, HEADER + m->bytes));
    memcpy(m->wire_data, &m->header, HEADER);
    if (m->bytes == 0) return META_OK;
    return core->copy(m->packed.device, META_QUEUE_COMPUTE, META_COPY_D2H, m->wire_data + HEADER,
                      &m->packed, m->bytes, &m->pending[0]);
}

static bool on_wire(comm_message *m)
{
    return comm_message_retired(m) && comm_message_end(m);
}

static bool issue(comm_message *m)
{
    const size_t parts = parts_of(m->bytes);
    size_t sent = 0;
    if (!m->turn) return false;
    for (size_t k = 0; k < parts && m->status == META_OK; ++k) {
        const size_t head = k == 0 ? HEADER : 0, payload = least(m->bytes - sent, job.chunk);
        const char *data = m->wire_data + (k == 0 ? 0 : HEADER + sent);
        const int code = MPI_Isend(data, (int)(head + payload), MPI_BYTE, m->peer, m->tag,
                                   job.messages, &m->requests[k]);
        if (code == MPI_SUCCESS) m->request_count = (int)k + 1;
        else comm_message_fail(m, comm_mpi(code, "MPI_Isend"));
        sent += payload;
    }
    comm_message_pass(m);
    comm_message_tell(m);
    m->step = on_wire;
    return true;
}

/* The receiver within this rank ends the message. */
static bool wait_for_self(comm_message *m)
{
    (void)m;
    return false;
}

bool comm_send_step(comm_message *m)
{
    if (!comm_message_settled(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    if (m->peer == job.rank) comm_message_tell(m);
    m->step = m->peer == job.rank ? wait_for_self : issue;
    return true;
}
