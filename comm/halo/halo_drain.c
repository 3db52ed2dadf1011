/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_drain.c
 *  Drains MPI of the messages of a plan that failed: every rank sends each neighbour an empty
 * message as the last one, and receives and discards all that come before its neighbours' last
 * ones. */
#include "halo/halo_plan.h"

enum { END = 3 * HALO_DIRS, TIMEOUT = 10 };

/* Discard messages of one neighbour up to its last one of a direction. */
static meta_err drain_peer(const halo_plan *p, int peer)
{
    const double timeout = comm_job.peer_timeout > 0 ? comm_job.peer_timeout : TIMEOUT,
                 began = MPI_Wtime();
    for (unsigned idle = 0;;) {
        MPI_Status status;
        bool found;
        META_TRY(comm_take_in(p->cart, peer, &found, &status));
        if (found) {
            if (status.MPI_TAG == END) return META_OK;
            idle = 0;
        } else if (MPI_Wtime() - began > timeout) {
            return core->fail(META_ERR_PEER,
                              "rank %d of the Cartesian communicator does not end a halo plan in "
                              "which MPI failed",
                              peer);
        } else if (!comm_advance()) {
            comm_back_off(idle++);
        }
    }
}

meta_err halo_drain(const halo_plan *p)
{
    MPI_Request ends[HALO_DIRS];
    int count = 0;
    meta_err error = META_OK;
    for (int dir = 0; dir < p->dirs; ++dir)
        if (halo_has_neighbour(p, dir) && MPI_Isend(NULL, 0, MPI_BYTE, p->link[dir].peer, END,
                                                    p->cart, &ends[count]) == MPI_SUCCESS)
            ++count;
    for (int dir = 0; dir < p->dirs && error == META_OK; ++dir)
        if (halo_has_neighbour(p, dir)) error = drain_peer(p, p->link[dir].peer);
    /* Empty messages need no memory of ours: MPI may keep their requests. */
    for (int k = 0; k < count; ++k) comm_request_give_up(&ends[k], false);
    return error;
}
