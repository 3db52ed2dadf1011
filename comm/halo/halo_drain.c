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
    const comm_awaited its_end = {"while a halo plan in which MPI failed is ended", p->cart, peer,
                                  END};
    meta_wait_clock wait = {0};
    for (unsigned idle = 0;;) {
        MPI_Status status;
        bool found;
        META_TRY(comm_take_in(p->cart, peer, &found, &status));
        if (found && status.MPI_TAG == END) return META_OK;
        META_TRY(comm_watch_rounds(&wait, &its_end));
        if (found || comm_advance()) {
            idle = 0;
            continue;
        }
        if (wait.began > 0 && comm_now - wait.began > TIMEOUT && comm_job.peer_timeout == 0)
            return core->fail(META_ERR_PEER,
                              "rank %d of the Cartesian communicator does not end a halo plan in "
                              "which MPI failed",
                              peer);
        comm_back_off(idle++);
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
