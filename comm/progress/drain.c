/* SPDX-License-Identifier: BSD-3-Clause */
/** @file drain.c
 *  Drains MPI of messages that nobody will receive, before their tags or their communicator's
 * context are used again: what comes next would meet them. */
#include "progress/progress.h"

static bool is_last(const MPI_Status *status, int end)
{
    int bytes = 0;
    return status->MPI_TAG == end && MPI_Get_count(status, MPI_BYTE, &bytes) == MPI_SUCCESS &&
           bytes == 0;
}

meta_err comm_drain_peer(MPI_Comm among, int peer, int tag, int end, comm_drained *what)
{
    const comm_awaited its_end = {what->phase, among, peer, end};
    meta_wait_clock wait = {0};
    for (unsigned idle = 0;;) {
        MPI_Status status;
        bool found;
        META_TRY(comm_take_in(among, peer, tag, &found, &status));
        if (found && is_last(&status, end)) return META_OK;
        what->dropped += found;
        META_TRY(comm_watch_rounds(&wait, &its_end));
        if (found || comm_advance()) {
            idle = 0;
            continue;
        }
        if (what->longest > 0 && comm_job.peer_timeout == 0 && wait.began > 0 &&
            comm_now - wait.began > what->longest)
            return core->fail(META_ERR_PEER,
                              "%s: rank %d of the communicator does not say that it has sent all",
                              what->phase, peer);
        comm_unlock();
        comm_back_off(idle++);
        comm_lock();
    }
}
