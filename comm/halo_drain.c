/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_drain.c
 *  What is left in MPI of a plan that failed: every rank ends what it sends to a neighbour with an
 * empty message, and takes in all that comes before its neighbours'. */
#include "halo.h"

#include <stdlib.h>

enum { END = 3 * HALO_WAYS, PATIENCE = 10 };

/* Without room for it, MPI's error for a message that is too long consumes it as well. */
static meta_err discard(MPI_Message *message, const MPI_Status *status)
{
    int bytes = 0;
    COMM_MPI(MPI_Get_count, (status, MPI_BYTE, &bytes));
    char *data = malloc((size_t)bytes + 1);
    MPI_Mrecv(data, data ? bytes : 0, MPI_BYTE, message, MPI_STATUS_IGNORE);
    free(data);
    return META_OK;
}

/* All up to the end of what one neighbour sent in one direction. */
static meta_err take_in(const halo_plan *p, int peer)
{
    const double patience = job.patience > 0 ? job.patience : PATIENCE, began = MPI_Wtime();
    for (unsigned idle = 0;;) {
        MPI_Message message;
        MPI_Status status;
        int found = 0;
        COMM_MPI(MPI_Improbe, (peer, MPI_ANY_TAG, p->cart, &found, &message, &status));
        if (found) {
            COMM_TRY(discard(&message, &status));
            if (status.MPI_TAG == END) return META_OK;
            idle = 0;
        } else if (MPI_Wtime() - began > patience) {
            return core->fail(META_ERR_PEER,
                              "rank %d of the Cartesian communicator does not end a halo plan in "
                              "which MPI failed",
                              peer);
        } else if (!comm_progress()) {
            comm_back_off(idle++);
        }
    }
}

meta_err halo_drain(const halo_plan *p)
{
    MPI_Request ends[HALO_WAYS];
    int count = 0;
    meta_err error = META_OK;
    for (int way = 0; way < p->ways; ++way)
        if (halo_has_neighbour(p, way) && MPI_Isend(NULL, 0, MPI_BYTE, p->link[way].peer, END,
                                                    p->cart, &ends[count]) == MPI_SUCCESS)
            ++count;
    for (int way = 0; way < p->ways && error == META_OK; ++way)
        if (halo_has_neighbour(p, way)) error = take_in(p, p->link[way].peer);
    for (int k = 0; k < count; ++k)
        if (error == META_OK) MPI_Wait(&ends[k], MPI_STATUS_IGNORE);
        else MPI_Request_free(&ends[k]);
    return error;
}
