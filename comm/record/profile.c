/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile.c
 *  Profiling of communication: what is under way, and the summary of all ranks, printed by rank 0,
 *  or written to its file. */
#include <stdlib.h>
#include <string.h>

#include "record/comm_record.h"

/* What is made of the records of all ranks at the end. */
enum { REPORTS = META_PROFILE_SUMMARY | META_PROFILE_JSON };
static const char phase[] = "while the summary of all ranks is gathered";

void comm_record_begin(uint64_t *began)
{
    if (*began != 0) return;
    *began = core->profile_now();
    core->profile_comm(+1);
}

void comm_record_end(uint64_t *began)
{
    if (*began != 0) core->profile_comm(-1);
    *began = 0;
}

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

static meta_err no_room(void)
{
    return core->fail(META_ERR_NO_MEMORY, "the host has no memory for what %d ranks counted",
                      comm_job.size);
}

static meta_err room_for_heads(gathered *g)
{
    const size_t ranks = (size_t)comm_job.size;
    if (comm_job.rank != 0) return META_OK;
    g->heads = calloc(ranks, sizeof *g->heads);
    g->counts = calloc(ranks, sizeof *g->counts);
    g->places = calloc(ranks, sizeof *g->places);
    g->shares = calloc(ranks, sizeof *g->shares);
    return g->heads && g->counts && g->places && g->shares ? META_OK : no_room();
}

static meta_err room_for_rows(gathered *g)
{
    size_t all = 0;
    if (comm_job.rank != 0) return META_OK;
    for (int r = 0; r < comm_job.size; ++r) {
        g->counts[r] = (int)g->heads[r].count;
        g->places[r] = (int)all;
        all += (size_t)g->counts[r];
    }
    g->rows = all <= INT32_MAX ? calloc(all + 1, sizeof *g->rows) : NULL;
    return g->rows ? META_OK : no_room();
}

static meta_err gather_rows(gathered *g, const meta_profile_share *mine)
{
    MPI_Datatype row;
    MPI_Request request;
    COMM_MPI(MPI_Type_contiguous, ((int)sizeof *g->rows, MPI_BYTE, &row));
    meta_err error = comm_mpi(MPI_Type_commit(&row), "MPI_Type_commit");
    if (error == META_OK)
        error = comm_mpi(MPI_Igatherv(mine->rows, (int)mine->count, row, g->rows, g->counts,
                                      g->places, row, 0, comm_job.collectives, &request),
                         "MPI_Igatherv");
    if (error == META_OK)
        error = comm_request_wait(&request, comm_all_of(comm_job.collectives, phase));
    MPI_Type_free(&row);
    return error;
}

static meta_err gather(gathered *g, const meta_profile_share *mine)
{
    const head h = {mine->seconds, mine->comm, mine->hidden, (int32_t)mine->count};
    MPI_Request request;
    META_TRY(comm_agree(comm_job.collectives, room_for_heads(g)));
    COMM_MPI(MPI_Igather, (&h, (int)sizeof h, MPI_BYTE, g->heads, (int)sizeof h, MPI_BYTE, 0,
                           comm_job.collectives, &request));
    META_TRY(comm_request_wait(&request, comm_all_of(comm_job.collectives, phase)));
    META_TRY(comm_agree(comm_job.collectives, room_for_rows(g)));
    return gather_rows(g, mine);
}

static void report(const gathered *g, int flags)
{
    for (int r = 0; r < comm_job.size; ++r)
        g->shares[r] = (meta_profile_share){.rank = r,
                                            .seconds = g->heads[r].seconds,
                                            .comm = g->heads[r].comm,
                                            .hidden = g->heads[r].hidden,
                                            .rows = g->rows + g->places[r],
                                            .count = (size_t)g->counts[r]};
    core->profile_report(g->shares, comm_job.size, flags);
}

/* Devices measure their copy bandwidth at the same time on all ranks. */
static meta_err summary(int flags)
{
    gathered g = {0};
    meta_profile_share mine = {0};
    bool met;
    META_TRY(comm_meet(comm_job.collectives, &met));
    meta_err error = comm_agree(comm_job.collectives, core->profile_share(&mine));
    if (error == META_OK) error = gather(&g, &mine);
    if (error == META_OK && comm_job.rank == 0) report(&g, flags);
    /* A collective operation that did not complete may still write to this memory. */
    if (error == META_ERR_PEER || error == META_ERR_MPI) return error;
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
    META_TRY(comm_thread_allowed());
    comm_lock();
    const meta_err error =
        comm_job.attached ? summary(META_PROFILE_SUMMARY)
                          : core->fail(META_ERR_INIT, "this process is not part of a job any more");
    comm_unlock();
    return error;
}

meta_err comm_profile_begin(void)
{
    const int mine = *core->profiling & (REPORTS | META_PROFILE_TRACE);
    int all = mine;
    META_TRY(comm_all_reduce(comm_job.collectives, &all, 1, MPI_INT, MPI_BOR, phase));
    comm_job.profiled = all;
    if (all & ~mine) core->profile_want(all);
    return comm_trace_begin();
}

meta_err comm_profile_end(void)
{
    meta_err error = META_OK;
    if (comm_job.profiled & REPORTS && !comm_job.lost) {
        error = summary(comm_job.profiled & REPORTS);
        core->profile_forget();
    }
    return error != META_OK ? error : comm_trace_end();
}
