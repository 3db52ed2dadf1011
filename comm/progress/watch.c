/* SPDX-License-Identifier: BSD-3-Clause */
/** @file watch.c
 *  Peers that do not answer. Only time spent waiting for them counts: who computes for a minute
 *  between two calls has not waited, and what begins now has not waited yet. */
#include "comm.h"

#include <math.h>

enum { EVERY = 64, WARN_AFTER = 60 };

static double waited, last;
static unsigned quiet;
static bool warned;

static bool describe(char *text, size_t room)
{
    return comm_plans_describe(text, room) || comm_messages_describe(text, room);
}

/* Words are made for a wait that is told of, not for each look at one. */
static void look(void)
{
    char text[COMM_TEXT / 2];
    if (waited == 0) return;
    if (!comm_plans_waiting() && !comm_messages_waiting()) {
        waited = 0;
    } else if (comm_job.peer_timeout > 0 && waited > comm_job.peer_timeout) {
        comm_plans_give_up(waited);
        comm_messages_give_up(waited);
        waited = last = 0;
    } else if (comm_job.peer_timeout == 0 && waited > WARN_AFTER && !warned &&
               describe(text, sizeof text)) {
        warned = true;
        core->log(META_LOG_WARN,
                  "rank %d waits for %d s: %s (with META_TIMEOUT set, this is an error)",
                  comm_job.rank, WARN_AFTER, text);
    }
}

void comm_watch(bool moved)
{
    /* Calls further apart than this are not one waiting. */
    const double longest = 0.05;
    if (moved) {
        waited = last = 0;
        quiet = 0;
        return;
    }
    if (++quiet % EVERY != 0) return;
    const double now = MPI_Wtime();
    if (last > 0) waited += fmin(now - last, longest);
    last = now;
    look();
}

meta_err comm_watch_since(double began, bool *told, const char *phase, int peer, int tag)
{
    const double seconds = MPI_Wtime() - began;
    if (comm_job.peer_timeout > 0 && seconds > comm_job.peer_timeout) {
        comm_job.lost = true;
        if (peer == MPI_ANY_SOURCE)
            return core->fail(META_ERR_PEER,
                              "%s: not every rank of the communicator has come in %.3g s "
                              "(META_TIMEOUT)",
                              phase, seconds);
        return core->fail(META_ERR_PEER,
                          "%s: rank %d has not answered, tag %d, for %.3g s (META_TIMEOUT)", phase,
                          peer, tag, seconds);
    }
    if (comm_job.peer_timeout == 0 && seconds > WARN_AFTER && !*told) {
        *told = true;
        if (peer == MPI_ANY_SOURCE)
            core->log(META_LOG_WARN,
                      "rank %d waits for %d s %s: not every rank of the communicator has come",
                      comm_job.rank, WARN_AFTER, phase);
        else
            core->log(META_LOG_WARN, "rank %d waits for %d s %s: rank %d has not answered, tag %d",
                      comm_job.rank, WARN_AFTER, phase, peer, tag);
    }
    return META_OK;
}
