/* SPDX-License-Identifier: BSD-3-Clause */
/** @file agree.c
 *  One outcome for all ranks of a collective call in which each may fail on its own. */
#include "comm.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct verdict {
    int code;
    char text[COMM_TEXT];
} verdict;

meta_err comm_agree(MPI_Comm among, meta_err mine)
{
    verdict found = {.code = (int)mine};
    char text[COMM_TEXT];
    int rank, lowest;
    if (mine != META_OK) snprintf(found.text, sizeof found.text, "%s", meta_last_error());
    COMM_MPI(MPI_Comm_rank, (among, &rank));
    if (mine == META_OK) rank = INT_MAX;
    COMM_MPI(MPI_Allreduce, (&rank, &lowest, 1, MPI_INT, MPI_MIN, among));
    if (lowest == INT_MAX) return META_OK;
    COMM_MPI(MPI_Bcast, (&found, (int)sizeof found, MPI_BYTE, lowest, among));
    snprintf(text, sizeof text, "rank %d: %.*s", lowest, (int)(sizeof text - 24), found.text);
    return core->fail_as((meta_err)found.code, text);
}
