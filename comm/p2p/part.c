/* SPDX-License-Identifier: BSD-3-Clause */
/** @file part.c
 *  The parts of point-to-point messages: their memory on the host, and what is under way with it.
 */
#include <stdlib.h>

#include "p2p/message.h"

/* ------------------------------------------------------------------ one part */

comm_part *comm_part_at(comm_message *m, size_t k)
{
    return &m->part[k % m->room];
}

size_t comm_part_payload(const comm_message *m, size_t k)
{
    const size_t left = (size_t)m->header.bytes - k * m->chunk;
    return left < m->chunk ? left : m->chunk;
}

comm_part *comm_part_begin(comm_message *m, size_t k)
{
    comm_part *p = comm_part_at(m, k);
    *p = (comm_part){.request = MPI_REQUEST_NULL};
    return p;
}

meta_err comm_part_memory(comm_part *p, meta_device *device, size_t bytes)
{
    void *data;
    if (device) META_TRY(core->staging(device, bytes, &data));
    else if (!(data = malloc(bytes > 0 ? bytes : 1)))
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for %zu bytes of a message",
                          bytes);
    p->wire = device ? COMM_WIRE_STAGING : COMM_WIRE_HEAP;
    p->data = data;
    p->bytes = bytes;
    p->device = device;
    return META_OK;
}

void comm_part_free(comm_part *p)
{
    if (p->wire == COMM_WIRE_STAGING) core->staging_free(p->device, p->data);
    if (p->wire == COMM_WIRE_HEAP) free(p->data);
    p->wire = COMM_WIRE_NONE;
    p->data = NULL;
}

bool comm_part_copied(comm_message *m, comm_part *p)
{
    int complete = 1;
    if (!p->copy.ticket) return true;
    const meta_err error = core->pending_test(&p->copy, &complete);
    if (error != META_OK) comm_message_fail(m, error);
    if (error == META_OK && !complete) return false;
    core->pending_release(&p->copy);
    return true;
}

/* End what MPI has of the part: a receive that nobody has sent to yet is cancelled, and memory that
 * MPI keeps even so is left to it. */
static void give_up(comm_message *m, comm_part *p)
{
    enum { ATTEMPTS = 100 };
    int complete = 0;
    if (m->kind == COMM_RECV) MPI_Cancel(&p->request);
    for (int k = 0; k < ATTEMPTS && !complete; ++k)
        if (MPI_Test(&p->request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    if (p->request == MPI_REQUEST_NULL) return;
    m->left_to_mpi = true;
    MPI_Request_free(&p->request);
    /* The caller's buffer stays held if it was to take the part. */
    if (p->wire == COMM_WIRE_TARGET) m->held[0] = NULL;
    p->wire = COMM_WIRE_NONE;
}

bool comm_part_carried(comm_message *m, comm_part *p, size_t *bytes)
{
    MPI_Status status;
    int complete = 0, count = 0;
    if (bytes) *bytes = 0;
    if (p->request == MPI_REQUEST_NULL) return true;
    int code = MPI_Test(&p->request, &complete, &status);
    if (code != MPI_SUCCESS) {
        comm_message_fail(m, comm_mpi(code, "MPI_Test"));
        if (p->request != MPI_REQUEST_NULL) give_up(m, p);
        return true;
    }
    if (!complete || !bytes) return complete;
    code = MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS) comm_message_fail(m, comm_mpi(code, "MPI_Get_count"));
    *bytes = (size_t)count;
    return true;
}

/* ------------------------------------------------------------------ all parts of a message */

meta_err comm_parts_cut(comm_message *m, size_t chunk, size_t room)
{
    const size_t bytes = (size_t)m->header.bytes;
    m->chunk = chunk;
    m->parts = bytes <= chunk ? 1 : (bytes - 1) / chunk + 1;
    m->part = m->inline_part;
    m->room = COMM_WINDOW;
    if (room <= COMM_WINDOW || m->parts <= COMM_WINDOW) return META_OK;
    m->room = room < m->parts ? room : m->parts;
    m->part = calloc(m->room, sizeof *m->part);
    if (m->part) return META_OK;
    m->part = m->inline_part;
    return core->fail(META_ERR_NO_MEMORY,
                      "the host has no memory for the %zu parts of a message "
                      "(a larger META_TEST_CHUNK makes fewer)",
                      m->parts);
}

static void release_parts(comm_message *m)
{
    const size_t begun = m->loaded > m->issued ? m->loaded : m->issued;
    for (; m->retired < begun; ++m->retired) {
        comm_part *p = comm_part_at(m, m->retired);
        if (p->copy.ticket) {
            core->pending_wait(&p->copy);
            core->pending_release(&p->copy);
        }
        if (p->request != MPI_REQUEST_NULL) give_up(m, p);
        comm_part_free(p);
    }
    if (m->part != m->inline_part) free(m->part);
    m->part = m->inline_part;
}

void comm_message_payload(comm_message *m, const meta_span *packed, int64_t count, meta_type type,
                          size_t bytes)
{
    m->packed = *packed;
    m->type = type;
    m->count = count;
    m->bytes = bytes;
    m->part = m->inline_part;
    m->release = release_parts;
    comm_message_hold(m, packed->address);
}
