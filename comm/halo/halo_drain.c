/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_drain.c
 *  Drains MPI of the messages of a plan that failed: every rank sends each neighbour an empty
 * message as the last one, and receives and discards all that come before its neighbours' last
 * ones. */
#include "halo/halo_plan.h"

enum { END = 3 * HALO_DIRS };
static const char phase[] = "while a halo plan in which MPI failed is ended";

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
        if (halo_has_neighbour(p, dir))
            error = comm_drain_peer(p->cart, p->link[dir].peer, END, phase);
    /* Empty messages need no memory of ours: MPI may keep their requests. */
    for (int k = 0; k < count; ++k) comm_request_give_up(&ends[k], false);
    return error;
}
