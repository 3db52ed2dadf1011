/* SPDX-License-Identifier: BSD-3-Clause */
/** @file messages.c
 *  Messages between ranks: MPI's own, of host memory that device memory is copied to and from. */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

#include "meta_comm.h"
#include "metamorph_mpi.h"
#include "metamorph_profiling.h"

/* ------------------------------------------------------------------ failures end the job */

static _Noreturn void end_job(void)
{
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* For libmeta's calls. */
static void must(const char *function, meta_err err)
{
    if (metamorph_report(function, err)) end_job();
}

/* For MPI's, where the program has set MPI_ERRORS_RETURN. */
static void must_mpi(const char *function, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (error == MPI_SUCCESS) return;
    MPI_Error_string(error, text, &length);
    metamorph_refuse(function, "MPI: %s", text);
    end_job();
}

static _Noreturn void no_memory(const char *function)
{
    metamorph_refuse(function, "no memory on the host for another message");
    end_job();
}

/* ------------------------------------------------------------------ host memory */

/* Blocks that are in no message at present, kept for later ones: the messages of a time step are
 * those of the step before. */
typedef struct block {
    struct block *next;
    size_t bytes;
    void *memory;
} block;
static block *idle;

static block *take_block(const char *function, size_t bytes)
{
    block **best = NULL;
    for (block **at = &idle; *at; at = &(*at)->next)
        if ((*at)->bytes >= bytes && (!best || (*at)->bytes < (*best)->bytes)) best = at;
    if (best && (*best)->bytes / 2 <= bytes) {
        block *found = *best;
        *best = found->next;
        return found;
    }
    block *made = malloc(sizeof *made);
    if (!made) no_memory(function);
    *made = (block){NULL, bytes > 0 ? bytes : 1, NULL};
    must(function, meta_host_alloc(&made->memory, made->bytes));
    return made;
}

static void keep_block(block *used)
{
    used->next = idle;
    idle = used;
}

static void free_blocks(void)
{
    while (idle) {
        block *first = idle;
        idle = first->next;
        meta_host_free(first->memory);
        free(first);
    }
}

/* ------------------------------------------------------------------ types */

MPI_Datatype metamorph_get_mpi_type(meta_type_id type, size_t *size)
{
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_FLOAT,        MPI_LONG,  MPI_UNSIGNED_LONG,
                                  MPI_INT,    MPI_UNSIGNED,     MPI_SHORT, MPI_UNSIGNED_SHORT,
                                  MPI_CHAR,   MPI_UNSIGNED_CHAR};
    meta_type unused;
    const bool is_type = metamorph_type_of("get_mpi_type", type, &unused) == 0;
    if (size) *size = is_type ? metamorph_get_atype_size(type) : 0;
    return is_type ? types[type] : MPI_DATATYPE_NULL;
}

/* ------------------------------------------------------------------ messages under way */

/* Where the elements of a message are, and what is to be done with them. */
typedef struct message {
    struct message *next;
    const char *function;
    MPI_Request request;
    block *host; /* NULL: MPI uses the buffer itself */
    bool is_send;
    void *packed;
    size_t count, bytes; /* elements, and the size of one */
    MPI_Datatype type;
    void *buf; /* NULL: nothing is unpacked */
    meta_face face;
    meta_type as;
} message;
static message *oldest, **newest = &oldest;

static message describe(const char *function, void *packed, size_t count, meta_type_id type)
{
    message m = {NULL,  function, MPI_REQUEST_NULL,  NULL, false, packed,
                 count, 0,        MPI_DATATYPE_NULL, NULL, {0},   META_F64};
    if (metamorph_type_of(function, type, &m.as)) end_job();
    m.type = metamorph_get_mpi_type(type, &m.bytes);
    if (count > INT_MAX) {
        metamorph_refuse(function,
                         "a message has %zu elements, and MPI counts up to %d: send parts of it",
                         count, INT_MAX);
        end_job();
    }
    return m;
}

/* The memory that MPI is given: with OpenMP a blocking call uses the buffer, whose work is
 * complete. */
static void *host_memory(message *m, bool blocking)
{
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    void *memory;
    if (m->count > 0) {
        must(m->function, meta_pointer_info(m->packed, &desc));
        if (desc.bytes - desc.offset < m->count * m->bytes) {
            metamorph_refuse(m->function, "the message has %zu bytes, but packed_buf has only %zu",
                             m->count * m->bytes, desc.bytes - desc.offset);
            end_job();
        }
        if (blocking && desc.mode == META_OPENMP && meta_host_view(m->packed, &memory) == META_OK)
            return memory;
    }
    m->host = take_block(m->function, m->count * m->bytes);
    return m->host->memory;
}

/* Put what was received where it belongs. */
static void arrived(message *m, const MPI_Status *status)
{
    int count = 0;
    if (status->MPI_SOURCE == MPI_PROC_NULL) return;
    must_mpi(m->function, MPI_Get_count(status, m->type, &count));
    if (m->buf && (size_t)count != m->count) {
        metamorph_refuse(m->function, "rank %d sent %d elements with tag %d, but the face has %zu",
                         status->MPI_SOURCE, count, status->MPI_TAG, m->count);
        end_job();
    }
    if (count <= 0) return;
    if (m->host)
        must(m->function, meta_copy_h2d(m->packed, m->host->memory, (size_t)count * m->bytes,
                                        m->buf ? META_ASYNC : NULL));
    if (m->buf) must(m->function, meta_unpack_face(m->buf, m->packed, &m->face, m->as, NULL));
}

/* The oldest message, which MPI has completed. */
static void retire(const MPI_Status *status)
{
    message *m = oldest;
    if (!(oldest = m->next)) newest = &oldest;
    if (!m->is_send) arrived(m, status);
    keep_block(m->host);
    free(m);
}

void metamorph_help_mpi_request(void)
{
    MPI_Status status;
    int complete = 0;
    if (!oldest) return;
    must_mpi(oldest->function, MPI_Test(&oldest->request, &complete, &status));
    if (complete) retire(&status);
}

void metamorph_finish_mpi_requests(void)
{
    MPI_Status status;
    while (oldest) {
        must_mpi(oldest->function, MPI_Wait(&oldest->request, &status));
        retire(&status);
    }
}

static void keep_message(const message *m, MPI_Request *req)
{
    message *kept = malloc(sizeof *kept);
    if (!kept) no_memory(m->function);
    *kept = *m;
    *newest = kept;
    newest = &kept->next;
    metamorph_finish_messages = metamorph_finish_mpi_requests;
    if (req) *req = MPI_REQUEST_NULL;
}

/* ------------------------------------------------------------------ sending and receiving */

static void send(message *m, int to, int tag, MPI_Request *req, bool async)
{
    m->is_send = true;
    if (to == MPI_PROC_NULL) m->count = 0;
    void *memory = host_memory(m, !async);
    if (m->host && m->count > 0)
        must(m->function, meta_copy_d2h(memory, m->packed, m->count * m->bytes, NULL));
    if (async) {
        must_mpi(m->function,
                 MPI_Isend(memory, (int)m->count, m->type, to, tag, MPI_COMM_WORLD, &m->request));
        keep_message(m, req);
        return;
    }
    must_mpi(m->function, MPI_Send(memory, (int)m->count, m->type, to, tag, MPI_COMM_WORLD));
    if (m->host) keep_block(m->host);
}

static void receive(message *m, int from, int tag, MPI_Request *req, bool async)
{
    MPI_Status status;
    if (from == MPI_PROC_NULL) m->count = 0;
    void *memory = host_memory(m, !async);
    if (async) {
        must_mpi(m->function,
                 MPI_Irecv(memory, (int)m->count, m->type, from, tag, MPI_COMM_WORLD, &m->request));
        keep_message(m, req);
        return;
    }
    must_mpi(m->function,
             MPI_Recv(memory, (int)m->count, m->type, from, tag, MPI_COMM_WORLD, &status));
    arrived(m, &status);
    if (m->host) keep_block(m->host);
}

/* A face's message, from or to @p packed. */
static message describe_face(const char *function, const metamorph_face *face, void *packed,
                             meta_type_id type)
{
    int64_t count;
    meta_face same;
    if (metamorph_face_of(function, face, &same)) end_job();
    must(function, meta_face_elements(&same, &count));
    message m = describe(function, packed, (size_t)count, type);
    m.face = same;
    return m;
}

void metamorph_mpi_packed_face_send(int dst_rank, void *packed_buf, size_t buf_leng, int tag,
                                    MPI_Request *req, meta_type_id type, int async)
{
    message m = describe("meta_mpi_packed_face_send", packed_buf, buf_leng, type);
    send(&m, dst_rank, tag, req, async != 0);
}

void metamorph_mpi_packed_face_recv(int src_rank, void *packed_buf, size_t buf_leng, int tag,
                                    MPI_Request *req, meta_type_id type, int async)
{
    message m = describe("meta_mpi_packed_face_recv", packed_buf, buf_leng, type);
    receive(&m, src_rank, tag, req, async != 0);
}

void metamorph_mpi_pack_and_send_face(meta_dim3 *grid_size, meta_dim3 *block_size, int dst_rank,
                                      metamorph_face *face, void *buf, void *packed_buf, int tag,
                                      MPI_Request *req, meta_type_id type, int async)
{
    message m = describe_face("meta_mpi_pack_and_send_face", face, packed_buf, type);
    (void)grid_size;
    (void)block_size;
    must(m.function, meta_pack_face(packed_buf, buf, &m.face, m.as, META_ASYNC));
    send(&m, dst_rank, tag, req, async != 0);
}

void metamorph_mpi_recv_and_unpack_face(meta_dim3 *grid_size, meta_dim3 *block_size, int src_rank,
                                        metamorph_face *face, void *buf, void *packed_buf, int tag,
                                        MPI_Request *req, meta_type_id type, int async)
{
    message m = describe_face("meta_mpi_recv_and_unpack_face", face, packed_buf, type);
    (void)grid_size;
    (void)block_size;
    if (!buf) {
        metamorph_refuse(m.function, "buf is NULL");
        end_job();
    }
    m.buf = buf;
    receive(&m, src_rank, tag, req, async != 0);
}

/* ------------------------------------------------------------------ life */

static bool has_job;

void metamorph_mpi_init(int *argc, char ***argv)
{
    if (has_job) return;
    metamorph_timers_init();
    must("meta_mpi_init", meta_comm_init(argc, argv));
    metamorph_is_started();
    has_job = true;
}

void metamorph_mpi_finalize(void)
{
    if (!has_job) return;
    has_job = false;
    must("meta_mpi_finalize", meta_flush());
    metamorph_finish_mpi_requests();
    metamorph_timers_finish();
    free_blocks();
    metamorph_free_scratch();
    metamorph_report("meta_mpi_finalize", meta_comm_finalize());
    metamorph_finalize();
}

metamorph_err metamorph_mpi_rank(int *rank)
{
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (!rank || !initialized || finalized) return -1;
    return MPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS ? 0 : -1;
}
