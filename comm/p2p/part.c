/* SPDX-License-Identifier: BSD-3-Clause */
/** @file part.c
 *  The parts of point-to-point messages: their memory on the host, and what is under way with it.
 */
#include "comm.h"

#include <stdlib.h>

meta_span comm_span_part(const meta_span *span, size_t at)
{
    meta_span part = *span;
    part.offset += at;
    part.address += at;
    part.room -= at;
    return part;
}

comm_part *comm_part_at(comm_message *m, size_t k)
{
    return &m->part[k % m->room];
}

size_t comm_part_payload(const comm_message *m, size_t k)
{
    const size_t left = (size_t)m->header.bytes - k * m->chunk;
    return left < m->chunk ? left : m->chunk;
}

meta_err comm_parts_cut(comm_message *m, size_t chunk, size_t room)
{
    const size_t bytes = (size_t)m->header.bytes;
    m->chunk = chunk;
    m->parts = bytes <= chunk ? 1 : (bytes - 1) / chunk + 1;
    m->part = m->few;
    m->room = COMM_WINDOW;
    if (room <= COMM_WINDOW || m->parts <= COMM_WINDOW) return META_OK;
    m->room = room < m->parts ? room : m->parts;
    m->part = calloc(m->room, sizeof *m->part);
    if (m->part) return META_OK;
    m->part = m->few;
    return core->fail(META_ERR_NO_MEMORY,
                      "the host has no memory for the %zu parts of a message "
                      "(a larger META_CHUNK makes fewer)",
                      m->parts);
}

comm_part *comm_part_begin(comm_message *m, size_t k)
{
    comm_part *p = comm_part_at(m, k);
    *p = (comm_part){.request = MPI_REQUEST_NULL};
    return p;
}

meta_err comm_part_staging(comm_part *p, meta_device *device, size_t bytes)
{
    void *data;
    META_TRY(core->staging(device, bytes, &data));
    p->wire = COMM_WIRE_STAGING;
    p->data = data;
    p->bytes = bytes;
    p->device = device;
    return META_OK;
}

meta_err comm_part_heap(comm_part *p, size_t bytes)
{
    p->data = malloc(bytes > 0 ? bytes : 1);
    if (!p->data)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for %zu bytes of a message",
                          bytes);
    p->wire = COMM_WIRE_HEAP;
    p->bytes = bytes;
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

bool comm_part_carried(comm_message *m, comm_part *p, size_t *bytes)
{
    MPI_Status status;
    int complete = 0, count = 0;
    if (bytes) *bytes = 0;
    if (p->request == MPI_REQUEST_NULL) return true;
    int code = MPI_Test(&p->request, &complete, &status);
    if (code != MPI_SUCCESS) {
        comm_message_fail(m, comm_mpi(code, "MPI_Test"));
        /* MPI may have it still, and is asked once more. */
        const bool again = p->request != MPI_REQUEST_NULL && !p->doubtful;
        p->doubtful = true;
        return !again;
    }
    if (!complete || !bytes) return complete;
    code = MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS) comm_message_fail(m, comm_mpi(code, "MPI_Get_count"));
    *bytes = (size_t)count;
    return true;
}

/* The parts of which anything may be under way. */
static size_t begun(const comm_message *m)
{
    return m->loaded > m->issued ? m->loaded : m->issued;
}

void comm_parts_settle(comm_message *m)
{
    for (size_t k = m->retired; k < begun(m); ++k) {
        comm_part *p = comm_part_at(m, k);
        if (!p->copy.ticket) continue;
        core->pending_wait(&p->copy);
        core->pending_release(&p->copy);
    }
}

/* Whether MPI needs the part's memory no more; what nobody has sent yet is cancelled. */
static bool take_back(comm_message *m, comm_part *p)
{
    enum { ATTEMPTS = 100 };
    int complete = 0;
    if (p->request == MPI_REQUEST_NULL) return true;
    if (m->kind == COMM_RECV) MPI_Cancel(&p->request);
    for (int k = 0; k < ATTEMPTS && !complete; ++k)
        if (MPI_Test(&p->request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
    return p->request == MPI_REQUEST_NULL;
}

void comm_parts_free(comm_message *m)
{
    for (size_t k = m->retired; k < begun(m); ++k) {
        comm_part *p = comm_part_at(m, k);
        if (!take_back(m, p)) {
            m->left_to_mpi = true;
            MPI_Request_free(&p->request);
            /* And so is the caller's buffer, if it was to take the part. */
            if (p->wire == COMM_WIRE_TARGET) m->held[0] = NULL;
            p->wire = COMM_WIRE_NONE;
        }
        comm_part_free(p);
    }
    m->retired = begun(m);
    if (m->part != m->few) free(m->part);
    m->part = m->few;
}
