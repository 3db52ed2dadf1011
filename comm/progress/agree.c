/* SPDX-License-Identifier: BSD-3-Clause */
/** @file agree.c
 *  One outcome for all ranks of a collective call in which each may fail on its own. */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "binding.h"
#include "progress/progress.h"

static const char phase[] = "while all ranks agree on the outcome of a call";

/* The upper half of a vote, whose lower half is the failing rank. A rank where MPI
 * failed, and that went on, may be in another call: what comes from that has not got it. */
static const int64_t mark = INT64_C(0x6d657461) << 32;

/* Votes as well: nothing failed, and MPI did not say which rank this is. */
enum { ALL_WELL = INT_MAX, NAMELESS = INT_MAX - 1 };

typedef struct verdict {
    int64_t vote, lowest;
    int code;
    char text[COMM_TEXT];
} verdict;

static _Thread_local struct {
    meta_err code;
    const char *text;
} refusal;

void meta_comm_refuse(meta_err code, const char *text)
{
    refusal.code = code;
    refusal.text = text;
}

/* Whether a rank is named in front, by an agreement before this one. */
static bool is_agreed(const char *text)
{
    int rank, length = 0;
    return sscanf(text, "rank %d: %n", &rank, &length) == 1 && length > 0;
}

/* The lowest failing rank, then its error. *agreed is META_ERR_PEER until this rank has taken part.
 */
static meta_err decide(MPI_Comm among, verdict *v, MPI_Request *request, meta_err *agreed)
{
    const int bytes = (int)(sizeof *v - offsetof(verdict, code));
    char text[COMM_TEXT];
    int rank = NAMELESS;
    const meta_err named = comm_mpi(MPI_Comm_rank(among, &rank), "MPI_Comm_rank");
    const meta_err mine = named == META_OK ? (meta_err)v->code : named;
    if (named != META_OK) rank = NAMELESS;
    v->vote = mark | (mine == META_OK ? ALL_WELL : rank);
    v->lowest = -1;
    COMM_MPI(MPI_Iallreduce, (&v->vote, &v->lowest, 1, MPI_INT64_T, MPI_MIN, among, request));
    meta_err error = comm_request_wait(request, comm_all_of(among, phase));
    if (error != META_ERR_PEER) *agreed = mine;
    /* Complete in spite of an error, this rank owes the others its part of the broadcast: else what
     * they send meets the next communicator in the context of this one. */
    const bool known = *request == MPI_REQUEST_NULL && v->lowest != -1;
    const int lowest = (int)(v->lowest & INT_MAX);
    if (!known || v->lowest == (mark | ALL_WELL)) return error;
    *agreed = META_ERR_PEER;
    if ((v->lowest & ~(int64_t)INT_MAX) != mark)
        return core->fail(META_ERR_PEER,
                          "%s: what came from the other ranks is not of this call: MPI has failed "
                          "on one of them",
                          phase);
    if (lowest == NAMELESS) {
        *agreed = META_ERR_MPI;
        return core->fail(META_ERR_MPI, "%s: MPI_Comm_rank failed on one of them", phase);
    }
    COMM_MPI(MPI_Ibcast, (&v->code, bytes, MPI_BYTE, lowest, among, request));
    error = comm_request_wait(request, comm_all_of(among, phase));
    if (error == META_ERR_MPI) *agreed = error; /* some error the others do agree on */
    META_TRY(error);
    *agreed = (meta_err)v->code;
    if (is_agreed(v->text)) return core->fail_as(*agreed, v->text);
    snprintf(text, sizeof text, "rank %d: %.*s", lowest, (int)(sizeof text - 24), v->text);
    return core->fail_as(*agreed, text);
}

meta_err comm_agree_on(MPI_Comm among, meta_err mine, meta_err *agreed)
{
    const bool refused = mine != META_OK && refusal.code != META_OK;
    char text[COMM_TEXT];
    snprintf(text, sizeof text, "%s", refused ? refusal.text : meta_last_error());
    *agreed = META_ERR_PEER;
    /* How the rank was lost says more than that it was. */
    if (comm_job.lost && mine == META_ERR_PEER) return core->fail_as(mine, text);
    META_TRY(comm_check_lost(phase));
    verdict *v = malloc(sizeof *v);
    if (!v) return core->fail(META_ERR_NO_MEMORY, "no memory to agree on the outcome of a call");
    v->code = (int)(refused ? refusal.code : mine);
    snprintf(v->text, sizeof v->text, "%s", text);
    MPI_Request request = MPI_REQUEST_NULL;
    const meta_err error = decide(among, v, &request, agreed);
    if (request == MPI_REQUEST_NULL) free(v); /* else MPI may still write to it */
    return error;
}

meta_err comm_agree(MPI_Comm among, meta_err mine)
{
    meta_err agreed;
    return comm_agree_on(among, mine, &agreed);
}

meta_err comm_duplicate(MPI_Comm comm, MPI_Comm *copy)
{
    MPI_Comm made;
    meta_err error = comm_all_duplicate(comm, &made, "while a communicator is duplicated");
    if (made == MPI_COMM_NULL) return error;
    const meta_err set =
        comm_mpi(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    error = comm_agree(made, error == META_OK ? set : error);
    if (error == META_OK) *copy = made;
    else if (error != META_ERR_PEER) MPI_Comm_free(&made);
    return error;
}

void comm_free(MPI_Comm *copy)
{
    if (*copy != MPI_COMM_NULL && !comm_job.lost) MPI_Comm_free(copy);
    *copy = MPI_COMM_NULL;
}
