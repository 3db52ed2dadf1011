/* SPDX-License-Identifier: BSD-3-Clause */
/** @file allreduce.c
 *  meta_allreduce(): from the device to staging, at its turn to MPI, and back.
 *
 *  Sums of floating numbers begin with a vote whether they are reproducible, the same message on
 *  every rank: its vote, with the numbers in it where they are few, before them where they are
 *  many. Where no rank wants exact sums that was all; where all do, the exact sums follow, as sums
 *  of integers. Where ranks disagree every one of them ends with an error: those that want exact
 *  sums take part in what the others have begun, so that none waits for ever.
 *
 *  More numbers than fit a piece, and exact sums, which are many times as large as what they are
 *  sums of, pass one piece after the other, after the vote where there is one; the next reduction
 *  begins when the last piece has. A piece needs staging for itself alone, unless the caller does
 *  not wait: then what is reduced may change after the call, and is copied whole in it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "p2p/message.h"

#define LIMBS_BYTES (META_EXACT_WORDS * sizeof(int64_t))
enum { PIECE_BYTES = 4 << 20 }; /* the same on every rank */

static size_t element_bytes(const comm_message *m)
{
    return m->bytes / (size_t)m->count;
}

static int64_t *limbs_of(const comm_message *m, int64_t k)
{
    return m->limbs + k * META_EXACT_WORDS;
}

static void unpin(comm_message *m)
{
    for (int64_t k = 0; m->pinned && k < m->count; ++k) core->exact_unpin(m->pinned[k]);
    free(m->pinned);
    m->pinned = NULL;
}

static void release_reduction(comm_message *m)
{
    unpin(m);
    if (m->staging && !m->left_to_mpi) core->staging_free(m->staging_of, m->staging);
    m->staging = NULL;
}

/* ------------------------------------------------------------------ steps */

static bool uploading(comm_message *m)
{
    return comm_message_device_done(m) && comm_message_end(m);
}

/* MPI is done: the result goes to the device. */
static bool upload(comm_message *m)
{
    if (m->status == META_OK && m->to_device) {
        const meta_err error = core->copy(m->sink.device, META_QUEUE_COMPUTE, META_COPY_H2D,
                                          m->target, &m->sink, m->bytes, &m->pending[0]);
        if (error != META_OK) comm_message_fail(m, error);
    }
    m->step = uploading;
    return true;
}

static bool reducing(comm_message *m)
{
    if (!comm_message_mpi_done(m)) return false;
    if (m->op != META_SUM) comm_reduce_canonical(m->target, m->count, m->type);
    return upload(m);
}

/* Give MPI @p elements elements at @p data, in parts that META_TEST_CHUNK allows: @p bytes and @p
 * numbers of @p datatype an element. Behind the first request if there is one. */
static void give(comm_message *m, void *data, int64_t elements, size_t bytes, int numbers,
                 MPI_Datatype datatype, MPI_Op op)
{
    const int64_t part = (int64_t)(comm_job.chunk / bytes);
    for (int64_t at = 0; at < elements && m->status == META_OK; at += part) {
        const int64_t count = elements - at < part ? elements - at : part;
        const int code =
            MPI_Iallreduce(MPI_IN_PLACE, (char *)data + (size_t)at * bytes, (int)count * numbers,
                           datatype, op, comm_job.collectives, &m->requests[m->request_count]);
        if (code == MPI_SUCCESS) ++m->request_count;
        else comm_message_fail(m, comm_mpi(code, "MPI_Iallreduce"));
    }
}

static void give_numbers(comm_message *m, void *target, const void *source, int64_t elements)
{
    const size_t bytes = element_bytes(m);
    /* MPI takes MPI_IN_PLACE from all ranks or from none, and some ranks have one memory only. */
    if (source != target) memcpy(target, source, (size_t)elements * bytes);
    give(m, target, elements, bytes, 1, comm_reduce_datatype(m->op, m->type),
         comm_reduce_operation(m->op, m->type));
}

/* ------------------------------------------------------------------ steps of pieces */

static int64_t elements_now(const comm_message *m)
{
    return m->count - m->at < m->piece ? m->count - m->at : m->piece;
}

/* The numbers of the piece under way, in the caller's host memory or in staging. */
static char *numbers_at(const comm_message *m, const void *all, bool staged)
{
    return (char *)all + (staged && !m->whole ? 0 : (size_t)m->at * element_bytes(m));
}

static meta_err copy_piece(comm_message *m, meta_copy_kind kind, const meta_span *all, char *host)
{
    const meta_span part = comm_span_part(all, (size_t)m->at * element_bytes(m));
    return core->copy(all->device, META_QUEUE_COMPUTE, kind, host, &part,
                      (size_t)elements_now(m) * element_bytes(m), &m->pending[0]);
}

static bool load_piece(comm_message *m);

static bool end_piece(comm_message *m)
{
    if (!comm_message_device_done(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    m->at += elements_now(m);
    if (m->at == m->count) return m->whole ? upload(m) : comm_message_end(m);
    m->step = load_piece;
    return true;
}

static bool reducing_piece(comm_message *m)
{
    if (!comm_message_mpi_done(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    char *to = numbers_at(m, m->target, m->to_device);
    const int64_t elements = elements_now(m);
    for (int64_t k = 0; m->exact && k < elements; ++k)
        core->exact_element(limbs_of(m, k), m->type, to + (size_t)k * element_bytes(m));
    if (m->op != META_SUM) comm_reduce_canonical(to, elements, m->type);
    if (m->to_device && !m->whole) {
        const meta_err error = copy_piece(m, META_COPY_H2D, &m->sink, to);
        if (error != META_OK) comm_message_fail(m, error);
    }
    m->step = end_piece;
    return true;
}

static bool reduce_piece(comm_message *m)
{
    if (!comm_message_device_done(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    const char *from = numbers_at(m, m->source, m->from_device);
    const int64_t elements = elements_now(m);
    for (int64_t k = 0; m->exact && k < elements; ++k)
        core->exact_limbs(m->pinned[m->at + k], from + (size_t)k * element_bytes(m), m->type,
                          limbs_of(m, k));
    if (m->exact) give(m, m->limbs, elements, LIMBS_BYTES, META_EXACT_WORDS, MPI_INT64_T, MPI_SUM);
    else give_numbers(m, numbers_at(m, m->target, m->to_device), from, elements);
    if (m->at + elements == m->count) comm_message_pass(m);
    m->step = reducing_piece;
    return true;
}

static bool load_piece(comm_message *m)
{
    if (m->from_device && !m->whole) {
        const meta_err error =
            copy_piece(m, META_COPY_D2H, &m->packed, numbers_at(m, m->source, true));
        if (error != META_OK) comm_message_fail(m, error);
    }
    m->step = reduce_piece;
    return true;
}

static bool reduce(comm_message *m)
{
    if (!m->turn) return false;
    if (!m->at_once) {
        m->step = load_piece;
        return true;
    }
    give_numbers(m, m->target, m->source, m->count);
    comm_message_pass(m);
    m->step = reducing;
    return true;
}

/* ------------------------------------------------------------------ steps of voted sums */

static bool disagreeing(comm_message *m)
{
    if (!comm_message_mpi_done(m)) return false;
    comm_message_fail(
        m, core->fail(META_ERR_MISMATCH,
                      "reproducible sums are on in %d of %d ranks, in this one they are %s: give "
                      "every rank the same META_REPRODUCIBLE and the same meta_set_reproducible()",
                      m->votes, comm_job.size, m->exact ? "on" : "off"));
    return comm_message_end(m);
}

static bool voting(comm_message *m)
{
    if (!comm_message_mpi_done(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    if (m->small && m->type == META_F64) {
        double votes;
        memcpy(&votes, m->carried + m->bytes, sizeof votes);
        m->votes = (int)votes;
    } else if (m->small) {
        float votes;
        memcpy(&votes, m->carried + m->bytes, sizeof votes);
        m->votes = (int)votes;
    }
    if (m->votes != 0 && m->votes != comm_job.size) {
        if (m->exact && !m->small && m->at_once) give_numbers(m, m->target, m->source, m->count);
        m->step = disagreeing;
    } else if (m->exact || !m->at_once) {
        m->step = load_piece;
        return true;
    } else {
        if (m->small) memcpy(m->target, m->carried, m->bytes);
        return upload(m);
    }
    comm_message_pass(m);
    return true;
}

static bool vote(comm_message *m)
{
    int code;
    if (!m->turn) return false;
    if (m->small) {
        const double f64 = m->vote;
        const float f32 = (float)m->vote;
        memcpy(m->carried, m->source, m->bytes);
        if (m->type == META_F64) memcpy(m->carried + m->bytes, &f64, sizeof f64);
        else memcpy(m->carried + m->bytes, &f32, sizeof f32);
        code = MPI_Iallreduce(MPI_IN_PLACE, m->carried, (int)m->count + 1,
                              m->type == META_F64 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM,
                              comm_job.collectives, &m->requests[0]);
    } else {
        code = MPI_Iallreduce(&m->vote, &m->votes, 1, MPI_INT, MPI_SUM, comm_job.collectives,
                              &m->requests[0]);
    }
    if (code == MPI_SUCCESS) m->request_count = 1;
    else comm_message_fail(m, comm_mpi(code, "MPI_Iallreduce"));
    if (!m->exact && !m->small && m->at_once && m->status == META_OK)
        give_numbers(m, m->target, m->source, m->count);
    if (!m->exact && m->at_once) comm_message_pass(m);
    m->step = voting;
    return true;
}

static bool download(comm_message *m)
{
    if (!comm_message_device_done(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    m->step = m->voted ? vote : reduce;
    return true;
}

/* ------------------------------------------------------------------ posting */

static meta_err check(int64_t count, meta_op op, meta_type type, size_t *element)
{
    META_TRY(core->check_type(type, "type", element));
    if (type >= META_I16)
        return core->fail(META_ERR_TYPE,
                          "argument 'type' is %s, which is moved but not computed with",
                          comm_type_name((uint32_t)type));
    META_TRY(core->check_op(op));
    if (count < 0) return core->fail(META_ERR_ARGUMENT, "argument 'count' is %" PRId64, count);
    if (count > INT64_MAX / 8)
        return core->fail(META_ERR_OVERFLOW, "argument 'count' is %" PRId64 ", more than 2^60",
                          count);
    return META_OK;
}

static int64_t requests_for(int64_t count, size_t bytes)
{
    const int64_t part = (int64_t)(comm_job.chunk / bytes);
    return (count + part - 1) / part;
}

/* Keep the exact sums behind the numbers at @p send; those at @p recv will not be theirs. */
static meta_err pin(comm_message *m, const void *send, const void *recv)
{
    m->limbs = (int64_t *)(void *)m->staging;
    m->pinned = calloc((size_t)m->count, sizeof *m->pinned);
    if (!m->pinned)
        return core->fail(META_ERR_NO_MEMORY,
                          "the host has no memory for the exact sums of %" PRId64 " elements",
                          m->count);
    for (int64_t k = 0; k < m->count; ++k)
        m->pinned[k] = core->exact_pin((const char *)send + (size_t)k * element_bytes(m));
    core->exact_forget(recv, m->bytes);
    return META_OK;
}

/* Requests and staging, exact sums before numbers, and the copy from the device. @p waits: the
 * caller does, and so changes nothing meanwhile. */
static meta_err load(comm_message *m, void *recv, const void *send, const meta_span *from,
                     bool waits)
{
    const bool staged = m->from_device || m->to_device;
    meta_device *device = m->from_device ? from->device : m->sink.device;
    size_t limbs = 0;
    m->voted = m->op == META_SUM && (m->type == META_F64 || m->type == META_F32);
    m->exact = m->voted && core->reproducible();
    m->vote = m->exact;
    m->small = m->voted && m->bytes + element_bytes(m) <= sizeof m->carried;
    m->at_once = m->bytes <= PIECE_BYTES;
    m->whole = m->at_once || !waits;
    m->piece = PIECE_BYTES / (int64_t)(m->exact ? LIMBS_BYTES : element_bytes(m));
    if (m->piece > m->count) m->piece = m->count;
    int64_t requests = requests_for(m->at_once ? m->count : m->piece, element_bytes(m));
    if (m->voted && !m->small) ++requests;
    if (m->exact) {
        limbs = (size_t)m->piece * LIMBS_BYTES;
        const int64_t parts = requests_for(m->piece, LIMBS_BYTES);
        if (parts > requests) requests = parts;
    }
    if (requests > 1) {
        MPI_Request *array =
            requests <= INT32_MAX ? malloc((size_t)requests * sizeof *array) : NULL;
        if (!array)
            return core->fail(META_ERR_NO_MEMORY,
                              "the host has no memory for the %" PRId64 " parts of a reduction "
                              "(a larger META_TEST_CHUNK makes fewer)",
                              requests);
        for (int64_t k = 0; k < requests; ++k) array[k] = MPI_REQUEST_NULL;
        m->requests = array;
    }
    if (!staged && limbs > 0) META_TRY(core->current_device(&device));
    if (staged || limbs > 0) {
        void *data;
        const size_t numbers = m->whole ? m->bytes : (size_t)m->piece * element_bytes(m);
        META_TRY(core->staging(device, limbs + (staged ? numbers : 0), &data));
        m->staging = data;
        m->staging_of = device;
    }
    if (m->exact) META_TRY(pin(m, send, recv));
    m->source = m->from_device ? m->staging + limbs : send;
    m->target = m->to_device ? m->staging + limbs : recv;
    if (!m->from_device) return META_OK;
    comm_queue_owed(from);
    m->packed = *from;
    if (!m->whole) return META_OK;
    return core->copy(from->device, META_QUEUE_COMPUTE, META_COPY_D2H, m->staging + limbs, from,
                      m->bytes, &m->pending[0]);
}

static meta_err allreduce(void *recv, const void *send, int64_t count, meta_op op, meta_type type,
                          meta_event *done)
{
    comm_message *m;
    meta_span from, to;
    size_t element;
    int from_device, to_device;
    META_TRY(check(count, op, type, &element));
    META_TRY(core->resolve_any(recv, count, type, "recv", &to_device, &to));
    META_TRY(core->resolve_any(send, count, type, "send", &from_device, &from));
    const char *a = recv, *b = send;
    const size_t bytes = (size_t)count * element;
    if (a != b && a + bytes > b && b + bytes > a)
        return core->fail(META_ERR_OVERLAP, "arguments 'recv' and 'send' overlap: give the same "
                                            "address or memory that is apart");
    if (count == 0) {
        if (done && done != META_ASYNC) *done = (meta_event)META_EVENT_NULL;
        return META_OK;
    }
    META_TRY(comm_check_lost("while all ranks combine what they have"));
    META_TRY(comm_message_new(&m, COMM_REDUCE, comm_job.rank, 0, done));
    m->type = type;
    m->op = op;
    m->count = count;
    m->bytes = bytes;
    m->from_device = from_device;
    m->to_device = to_device;
    m->release = release_reduction;
    m->step = download;
    if (from_device) comm_message_hold(m, send);
    if (to_device) comm_message_hold(m, recv), m->sink = to;
    const meta_err error = load(m, recv, send, &from, !done);
    return error == META_OK ? comm_message_post(m, done) : comm_message_drop(m, error);
}

meta_err meta_allreduce(void *recv, const void *send, int64_t count, meta_op op, meta_type type,
                        meta_event *done)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(allreduce(recv, send, count, op, type, done));
}
