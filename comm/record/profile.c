/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile.c
 *  What is recorded of messages and exchanges, and the summary of all ranks, which rank 0 prints.
 */
#include "comm.h"

#include <stdlib.h>
#include <string.h>

static const char phase[] = "while ranks gather what they counted";

/* ------------------------------------------------------------------ what passes */

/* Something is under way from now on. */
static void open_at(uint64_t *began)
{
    if (*began != 0) return;
    *began = core->profile_now();
    core->profile_comm(+1);
}

static void close_at(uint64_t *began)
{
    if (*began != 0) core->profile_comm(-1);
    *began = 0;
}

void comm_record_post(comm_message *m)
{
    open_at(&m->posted);
}

void comm_record_given(comm_message *m)
{
    m->given = core->profile_now();
    if (comm_traced()) m->number = comm_trace_number(m);
}

void comm_record_told(comm_message *m)
{
    static const char *const names[] = {
        [COMM_SEND] = "message out", [COMM_RECV] = "message in", [COMM_REDUCE] = "allreduce"};
    if (m->posted == 0) return;
    const meta_profile_passage p = {.name = names[m->kind],
                                    .bytes = m->bytes,
                                    .begin = m->posted,
                                    .end = core->profile_now(),
                                    .out = m->kind != COMM_RECV,
                                    .peer = m->kind == COMM_REDUCE ? -1 : m->peer,
                                    .flows = m->number != 0,
                                    .channel = (uint64_t)m->tag,
                                    .number = m->number,
                                    .given = m->given};
    if (m->status == META_OK) core->profile_message(&p);
    close_at(&m->posted);
}

/* ------------------------------------------------------------------ all ranks */

/* What a rank sends before its rows. */
typedef struct head {
    double seconds, comm, hidden;
    int32_t count;
} head;

/* What rank 0 gathers. */
typedef struct gathered {
    head *heads;
    int *counts, *places;
    meta_profile_row *rows;
    meta_profile_share *shares;
} gathered;

static meta_err room_for_heads(gathered *g)
{
    const size_t ranks = (size_t)job.size;
    if (job.rank != 0) return META_OK;
    g->heads = calloc(ranks, sizeof *g->heads);
    g->counts = calloc(ranks, sizeof *g->counts);
    g->places = calloc(ranks, sizeof *g->places);
    g->shares = calloc(ranks, sizeof *g->shares);
    if (g->heads && g->counts && g->places && g->shares) return META_OK;
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for what %d ranks counted",
                      job.size);
}

static meta_err room_for_rows(gathered *g)
{
    size_t all = 0;
    if (job.rank != 0) return META_OK;
    for (int r = 0; r < job.size; ++r) {
        g->counts[r] = (int)g->heads[r].count;
        g->places[r] = (int)all;
        all += (size_t)g->counts[r];
    }
    g->rows = all <= INT32_MAX ? calloc(all + 1, sizeof *g->rows) : NULL;
    if (g->rows) return META_OK;
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for what %d ranks counted",
                      job.size);
}

static meta_err gather_rows(gathered *g, const meta_profile_share *mine)
{
    MPI_Datatype row;
    MPI_Request request;
    COMM_MPI(MPI_Type_contiguous, ((int)sizeof *g->rows, MPI_BYTE, &row));
    meta_err error = comm_mpi(MPI_Type_commit(&row), "MPI_Type_commit");
    if (error == META_OK)
        error = comm_mpi(MPI_Igatherv(mine->rows, (int)mine->count, row, g->rows, g->counts,
                                      g->places, row, 0, job.collectives, &request),
                         "MPI_Igatherv");
    if (error == META_OK) error = comm_request_wait(&request, phase, MPI_ANY_SOURCE, 0);
    MPI_Type_free(&row);
    return error;
}

static meta_err gather(gathered *g, const meta_profile_share *mine)
{
    const head h = {mine->seconds, mine->comm, mine->hidden, (int32_t)mine->count};
    MPI_Request request;
    COMM_TRY(comm_agree(job.collectives, room_for_heads(g)));
    COMM_MPI(MPI_Igather, (&h, (int)sizeof h, MPI_BYTE, g->heads, (int)sizeof h, MPI_BYTE, 0,
                           job.collectives, &request));
    COMM_TRY(comm_request_wait(&request, phase, MPI_ANY_SOURCE, 0));
    COMM_TRY(comm_agree(job.collectives, room_for_rows(g)));
    return gather_rows(g, mine);
}

static void print(const gathered *g)
{
    for (int r = 0; r < job.size; ++r)
        g->shares[r] = (meta_profile_share){.rank = r,
                                            .seconds = g->heads[r].seconds,
                                            .comm = g->heads[r].comm,
                                            .hidden = g->heads[r].hidden,
                                            .rows = g->rows + g->places[r],
                                            .count = (size_t)g->counts[r]};
    core->profile_print(g->shares, job.size);
}

/* Each device is asked what it could copy while all the others are. */
static meta_err summary(void)
{
    gathered g = {0};
    meta_profile_share mine = {0};
    COMM_TRY(comm_meet(job.collectives));
    meta_err error = comm_agree(job.collectives, core->profile_share(&mine));
    if (error == META_OK) error = gather(&g, &mine);
    if (error == META_OK && job.rank == 0) print(&g);
    /* Of a rank that was lost MPI may still want to write. */
    if (error == META_ERR_PEER) return error;
    free(mine.rows);
    free(g.heads);
    free(g.counts);
    free(g.places);
    free(g.rows);
    free(g.shares);
    return error;
}

meta_err comm_profile_print(void)
{
    COMM_TRY(comm_thread_allowed());
    comm_lock();
    const meta_err error =
        job.attached ? summary()
                     : core->fail(META_ERR_INIT, "this process is not part of a job any more");
    comm_unlock();
    return error;
}

meta_err comm_profile_begin(void)
{
    int mine = *core->profiling & (META_PROFILE_SUMMARY | META_PROFILE_TRACE), all = 0;
    COMM_MPI(MPI_Allreduce, (&mine, &all, 1, MPI_INT, MPI_BOR, job.collectives));
    job.profiled = all;
    if (all & ~mine) core->profile_want(all);
    return comm_trace_begin();
}

meta_err comm_profile_end(void)
{
    meta_err error = META_OK;
    if (job.profiled & META_PROFILE_SUMMARY && !job.lost) {
        error = summary();
        core->profile_forget();
    }
    return error != META_OK ? error : comm_trace_end();
}
