/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_drain.c
 *  Drains MPI of a plan's messages: every rank sends each neighbour an empty message of each tag as
 * the last one, and receives and discards all that come before its neighbours' last ones. */
#include "halo/halo_plan.h"

static const int kinds[] = {HALO_TAG_DATA, HALO_TAG_ARRAYS, HALO_TAG_SEAL};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Whether there may be messages of kind @p kind to and from direction @p dir: both ends know. */
static bool carries(const halo_plan *p, bool made, int kind, int dir)
{
    if (!halo_has_neighbour(p, dir)) return false;
    if (kind == HALO_TAG_SEAL) return made && p->link[dir].sealed;
    return kind == HALO_TAG_DATA || !made;
}

meta_err halo_drain(const halo_plan *p, bool made, comm_drained *what)
{
    MPI_Request last[KINDS * HALO_DIRS];
    int count = 0;
    meta_err error = META_OK;
    for (int k = 0; k < KINDS; ++k)
        for (int dir = 0; dir < p->dirs; ++dir) {
            if (!carries(p, made, kinds[k], dir)) continue;
            const int code = MPI_Isend(NULL, 0, MPI_BYTE, p->link[dir].peer,
                                       halo_tag(p, kinds[k], dir), p->place.comm, &last[count]);
            if (code == MPI_SUCCESS) ++count;
            else error = comm_mpi(code, "MPI_Isend");
        }
    for (int k = 0; k < KINDS; ++k)
        for (int dir = 0; dir < p->dirs && error == META_OK; ++dir) {
            const int tag = halo_tag(p, kinds[k], p->dirs - 1 - dir);
            if (carries(p, made, kinds[k], dir))
                error = comm_drain_peer(p->place.comm, p->link[dir].peer, tag, tag, what);
        }
    /* Empty messages need no memory of ours: MPI may keep their requests. */
    for (int k = 0; k < count; ++k) comm_request_give_up(&last[k], false);
    return error;
}
