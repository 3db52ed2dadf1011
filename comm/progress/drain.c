/* SPDX-License-Identifier: BSD-3-Clause */
/** @file drain.c
 *  Drains MPI of messages that nobody will receive, before their communicator is freed: the next
 * one may have its context, and would meet them. */
#include "progress/progress.h"

enum { TIMEOUT = 10 };

meta_err comm_drain_peer(MPI_Comm among, int peer, int end, const char *phase)
{
    const comm_awaited its_end = {phase, among, peer, end};
    meta_wait_clock wait = {0};
    for (unsigned idle = 0;;) {
        MPI_Status status;
        bool found;
        META_TRY(comm_take_in(among, peer, &found, &status));
        if (found && status.MPI_TAG == end) return META_OK;
        META_TRY(comm_watch_rounds(&wait, &its_end));
        if (found || comm_advance()) {
            idle = 0;
            continue;
        }
        if (wait.began > 0 && comm_now - wait.began > TIMEOUT && comm_job.peer_timeout == 0)
            return core->fail(META_ERR_PEER,
                              "%s: rank %d of the communicator does not say that it has sent all",
                              phase, peer);
        comm_back_off(idle++);
    }
}
