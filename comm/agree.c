/* SPDX-License-Identifier: BSD-3-Clause */
/** @file agree.c
 *  One outcome for all ranks of a collective call in which each may fail on its own. */
#include "comm.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct verdict {
    int rank, lowest;
    int code;
    char text[COMM_TEXT];
} verdict;

static const char phase[] = "while all ranks agree on the outcome of a call";

static meta_err decide(MPI_Comm among, meta_err mine, verdict *v)
{
    char text[COMM_TEXT];
    MPI_Request request;
    COMM_MPI(MPI_Comm_rank, (among, &v->rank));
    if (mine == META_OK) v->rank = INT_MAX;
    COMM_MPI(MPI_Iallreduce, (&v->rank, &v->lowest, 1, MPI_INT, MPI_MIN, among, &request));
    COMM_TRY(comm_request_wait(&request, phase, MPI_ANY_SOURCE, 0));
    if (v->lowest == INT_MAX) return META_OK;
    COMM_MPI(MPI_Ibcast, (&v->code, (int)(sizeof *v - offsetof(verdict, code)), MPI_BYTE, v->lowest,
                          among, &request));
    COMM_TRY(comm_request_wait(&request, phase, MPI_ANY_SOURCE, 0));
    snprintf(text, sizeof text, "rank %d: %.*s", v->lowest, (int)(sizeof text - 24), v->text);
    return core->fail_as((meta_err)v->code, text);
}

meta_err comm_agree(MPI_Comm among, meta_err mine)
{
    char before[COMM_TEXT];
    snprintf(before, sizeof before, "%s", meta_last_error());
    verdict *v = malloc(sizeof *v);
    if (!v) return core->fail(META_ERR_NO_MEMORY, "no memory to agree on the outcome of a call");
    v->code = (int)mine;
    snprintf(v->text, sizeof v->text, "%s", before);
    const meta_err error = decide(among, mine, v);
    if (error != META_ERR_PEER) free(v); /* else MPI may still write to it */
    return error;
}
