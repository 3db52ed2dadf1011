/* SPDX-License-Identifier: BSD-3-Clause */
/** @file agree.c
 *  One outcome for all ranks of a collective call in which each may fail on its own. */
#include "comm.h"

#include "binding.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct verdict {
    int rank, lowest;
    int code;
    char text[COMM_TEXT];
} verdict;

static _Thread_local struct {
    meta_err code;
    const char *text;
} refusal;

static const char phase[] = "while all ranks agree on the outcome of a call";

/* A failure of MPI here is this rank's verdict, where it has none yet. What failed is then tried
 * once more: the others wait for it. */
static bool failed(verdict *v, int code, const char *call)
{
    if (code == MPI_SUCCESS) return false;
    const meta_err error = comm_mpi(code, call);
    if (v->code != META_OK) return true;
    v->code = (int)error;
    snprintf(v->text, sizeof v->text, "%s", meta_last_error());
    return true;
}

static meta_err decide(MPI_Comm among, verdict *v, meta_err *own)
{
    char text[COMM_TEXT];
    MPI_Request request;
    int rank;
    if (failed(v, MPI_Comm_rank(among, &rank), "MPI_Comm_rank"))
        COMM_MPI(MPI_Comm_rank, (among, &rank));
    v->rank = v->code == META_OK ? INT_MAX : rank;
    if (failed(v, MPI_Iallreduce(&v->rank, &v->lowest, 1, MPI_INT, MPI_MIN, among, &request),
               "MPI_Iallreduce")) {
        v->rank = rank;
        COMM_MPI(MPI_Iallreduce, (&v->rank, &v->lowest, 1, MPI_INT, MPI_MIN, among, &request));
    }
    META_TRY(comm_collective_wait(&request, phase, own));
    if (v->lowest == INT_MAX) return META_OK;
    const int bytes = (int)(sizeof *v - offsetof(verdict, code));
    if (failed(v, MPI_Ibcast(&v->code, bytes, MPI_BYTE, v->lowest, among, &request), "MPI_Ibcast"))
        COMM_MPI(MPI_Ibcast, (&v->code, bytes, MPI_BYTE, v->lowest, among, &request));
    META_TRY(comm_collective_wait(&request, phase, own));
    snprintf(text, sizeof text, "rank %d: %.*s", v->lowest, (int)(sizeof text - 24), v->text);
    return core->fail_as((meta_err)v->code, text);
}

void meta_comm_refuse(meta_err code, const char *text)
{
    refusal.code = code;
    refusal.text = text;
}

meta_err comm_agree_on(MPI_Comm among, meta_err mine, meta_err *agreed)
{
    char before[COMM_TEXT];
    meta_err own = META_OK;
    const bool refused = mine != META_OK && refusal.code != META_OK;
    if (refused) mine = refusal.code;
    snprintf(before, sizeof before, "%s", refused ? refusal.text : meta_last_error());
    verdict *v = malloc(sizeof *v);
    if (!v)
        return *agreed =
                   core->fail(META_ERR_NO_MEMORY, "no memory to agree on the outcome of a call");
    v->code = (int)mine;
    snprintf(v->text, sizeof v->text, "%s", before);
    *agreed = decide(among, v, &own);
    if (*agreed != META_ERR_PEER) free(v); /* else MPI may still write to it */
    return *agreed == META_OK ? own : *agreed;
}

meta_err comm_agree(MPI_Comm among, meta_err mine)
{
    meta_err agreed;
    return comm_agree_on(among, mine, &agreed);
}

meta_err comm_duplicate(MPI_Comm comm, MPI_Comm *copy)
{
    MPI_Comm made;
    meta_err error = comm_meet(comm);
    if (error == META_ERR_PEER) return error;
    /* After another error the others have met, and go on to this call. */
    COMM_MPI(MPI_Comm_dup, (comm, &made));
    const meta_err set =
        comm_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    error = comm_agree(made, error == META_OK ? set : error);
    if (error == META_OK) *copy = made;
    else if (error != META_ERR_PEER) MPI_Comm_free(&made);
    return error;
}
