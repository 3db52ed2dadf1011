/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exact.c
 *  Sums of floating numbers over ranks: the vote whether they are reproducible, and those that are,
 *  as sums of integers.
 *
 *  Every rank begins with the same message: its vote, with the numbers in it where they are few,
 *  before them where they are many. Where no rank wants exact sums that was all; where all do, the
 *  exact sums follow. Where ranks disagree every one of them ends with an error: those that want
 *  exact sums take part in what the others have begun, so that none waits for ever. */
#include "comm.h"

#include <inttypes.h>
#include <string.h>

#define LIMBS_BYTES (META_EXACT_WORDS * sizeof(int64_t))

static int64_t *limbs_of(const comm_message *m, int64_t k)
{
    return m->limbs + k * META_EXACT_WORDS;
}

static size_t element_bytes(const comm_message *m)
{
    return m->bytes / (size_t)m->count;
}

/* ------------------------------------------------------------------ before */

meta_err comm_exact_needs(comm_message *m, size_t *bytes, int64_t *requests)
{
    const int64_t part = (int64_t)(comm_job.chunk / LIMBS_BYTES);
    m->voted = m->op == META_SUM && (m->type == META_F64 || m->type == META_F32);
    if (!m->voted) return META_OK;
    m->exact = core->reproducible() != 0;
    m->vote = m->exact;
    m->small = m->bytes + element_bytes(m) <= sizeof m->carried;
    if (!m->small) ++*requests;
    if (!m->exact) return META_OK;
    if ((uint64_t)m->count > PTRDIFF_MAX / 2 / LIMBS_BYTES)
        return core->fail(META_ERR_OVERFLOW,
                          "argument 'count' is %" PRId64 ": a reproducible sum needs %d bytes for "
                          "each element",
                          m->count, (int)LIMBS_BYTES);
    *bytes = (size_t)m->count * LIMBS_BYTES;
    const int64_t parts = (m->count + part - 1) / part;
    if (parts > *requests) *requests = parts;
    return META_OK;
}

void comm_exact_pin(comm_message *m, const void *send, const void *recv)
{
    if (!m->voted || !m->exact) return;
    m->limbs = (int64_t *)(void *)m->wire_data;
    for (int64_t k = 0; k < m->count; ++k)
        *limbs_of(m, k) =
            (int64_t)(intptr_t)core->exact_pin((const char *)send + (size_t)k * element_bytes(m));
    m->pinned = true;
    core->exact_forget(recv, m->bytes);
}

void comm_exact_unpin(comm_message *m)
{
    if (!m->pinned) return;
    for (int64_t k = 0; k < m->count; ++k) core->exact_unpin((void *)(intptr_t)*limbs_of(m, k));
    m->pinned = false;
}

/* ------------------------------------------------------------------ steps */

static bool adding(comm_message *m)
{
    if (!comm_message_retired(m)) return false;
    for (int64_t k = 0; k < m->count && m->status == META_OK; ++k)
        core->exact_element(limbs_of(m, k), m->type,
                            (char *)m->target + (size_t)k * element_bytes(m));
    return comm_reduce_upload(m);
}

/* The exact sums take the place of what was pinned. */
static void fill(comm_message *m)
{
    for (int64_t k = 0; k < m->count; ++k) {
        int64_t *limbs = limbs_of(m, k);
        void *pinned = (void *)(intptr_t)*limbs;
        core->exact_limbs(pinned, (const char *)m->source + (size_t)k * element_bytes(m), m->type,
                          limbs);
        core->exact_unpin(pinned);
    }
    m->pinned = false;
}

static void give_limbs(comm_message *m)
{
    const int64_t part = (int64_t)(comm_job.chunk / LIMBS_BYTES);
    int requests = 0;
    for (int64_t at = 0; at < m->count && m->status == META_OK; at += part) {
        const int64_t count = m->count - at < part ? m->count - at : part;
        const int code =
            MPI_Iallreduce(MPI_IN_PLACE, limbs_of(m, at), (int)count * META_EXACT_WORDS,
                           MPI_INT64_T, MPI_SUM, comm_job.collectives, &m->requests[requests]);
        if (code == MPI_SUCCESS) m->request_count = ++requests;
        else comm_message_fail(m, comm_mpi(code, "MPI_Iallreduce"));
    }
}

static meta_err disagree(const comm_message *m)
{
    return core->fail(META_ERR_MISMATCH,
                      "reproducible sums are on in %d of %d ranks, in this one they are %s: give "
                      "every rank the same META_REPRODUCIBLE and the same meta_set_reproducible()",
                      m->votes, comm_job.size, m->exact ? "on" : "off");
}

static bool joined(comm_message *m)
{
    if (!comm_message_retired(m)) return false;
    comm_message_fail(m, disagree(m));
    return comm_message_end(m);
}

/* What is carried is in the numbers' own type. */
static void read_votes(comm_message *m)
{
    double f64;
    float f32;
    if (!m->small) return;
    if (m->type == META_F64) memcpy(&f64, m->carried + m->bytes, sizeof f64), m->votes = (int)f64;
    else memcpy(&f32, m->carried + m->bytes, sizeof f32), m->votes = (int)f32;
}

static bool voting(comm_message *m)
{
    if (!comm_message_retired(m)) return false;
    if (m->status != META_OK) return comm_message_end(m);
    read_votes(m);
    if (m->votes != 0 && m->votes != comm_job.size) {
        if (m->exact && !m->small) comm_reduce_parts(m, 0);
        m->step = joined;
    } else if (m->exact) {
        fill(m);
        give_limbs(m);
        m->step = adding;
    } else {
        if (m->small) memcpy(m->target, m->carried, m->bytes);
        return comm_reduce_upload(m);
    }
    comm_message_pass(m);
    return true;
}

static void carry_vote(comm_message *m)
{
    const double f64 = m->vote;
    const float f32 = (float)m->vote;
    memcpy(m->carried, m->source, m->bytes);
    if (m->type == META_F64) memcpy(m->carried + m->bytes, &f64, sizeof f64);
    else memcpy(m->carried + m->bytes, &f32, sizeof f32);
}

bool comm_exact_step(comm_message *m)
{
    int code;
    if (!m->turn) return false;
    if (m->small) {
        carry_vote(m);
        code = MPI_Iallreduce(MPI_IN_PLACE, m->carried, (int)m->count + 1,
                              m->type == META_F64 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM,
                              comm_job.collectives, &m->requests[0]);
    } else {
        code = MPI_Iallreduce(&m->vote, &m->votes, 1, MPI_INT, MPI_SUM, comm_job.collectives,
                              &m->requests[0]);
    }
    if (code == MPI_SUCCESS) m->request_count = 1;
    else comm_message_fail(m, comm_mpi(code, "MPI_Iallreduce"));
    if (!m->exact && !m->small && m->status == META_OK) comm_reduce_parts(m, 1);
    if (!m->exact) comm_message_pass(m);
    m->step = voting;
    return true;
}
