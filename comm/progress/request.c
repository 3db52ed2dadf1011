/* SPDX-License-Identifier: BSD-3-Clause */
/** @file request.c
 *  Single requests and messages of MPI outside the pipelines: waited for while everything else
 *  advances, given up, and received where nobody wants them. */
#include <stdio.h>
#include <stdlib.h>

#include "node/node.h"
#include "progress/progress.h"

enum { WARN_AFTER = 60 };

/* Whether the wait is for rank @p rank of the job. Local. */
static bool is_for(const comm_awaited *what, int rank)
{
    bool is = false;
    int there;
    MPI_Group all = MPI_GROUP_NULL, among = MPI_GROUP_NULL;
    if (MPI_Comm_group(comm_job.messages, &all) == MPI_SUCCESS &&
        MPI_Comm_group(what->among, &among) == MPI_SUCCESS)
        is = MPI_Group_translate_ranks(all, 1, &rank, among, &there) == MPI_SUCCESS &&
             there != MPI_UNDEFINED && (what->peer == MPI_ANY_SOURCE || what->peer == there);
    if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
    if (among != MPI_GROUP_NULL) MPI_Group_free(&among);
    return is;
}

/* Whether a rank that the wait is for has ended. */
static bool has_ended(const comm_awaited *what)
{
    int rank;
    for (int k = 0; comm_job.peer_timeout > 0 && comm_ended_mate(k, &rank); ++k)
        if (is_for(what, rank)) return true;
    return false;
}

static void describe(const comm_awaited *what, double seconds, char *text, size_t room)
{
    if (what->peer == MPI_ANY_SOURCE)
        snprintf(text, room, "not every rank of the communicator has come");
    else snprintf(text, room, "rank %d has not answered, tag %d", what->peer, what->tag);
    comm_mates_describe(seconds, text, room);
}

/* Those that it was for, as far as they are known. */
static void lose(const comm_awaited *what, const char *text)
{
    int rank;
    comm_lose(-1, text);
    for (int k = 0; comm_missing_mate(k, comm_job.peer_timeout / 2, &rank); ++k)
        if (is_for(what, rank)) comm_lose(rank, text);
}

static meta_err judge(const meta_wait_clock *wait, const comm_awaited *what)
{
    static bool warned;
    char text[COMM_TEXT / 2];
    comm_mates_look(wait->began, comm_now);
    const double seconds = comm_waited_since(wait->began, 0, -1);
    if (comm_job.peer_timeout > 0 && (seconds > comm_job.peer_timeout || has_ended(what))) {
        describe(what, comm_job.peer_timeout / 2, text, sizeof text);
        lose(what, text);
        return core->fail(META_ERR_PEER, "%s: %s, for %.3g s (META_TIMEOUT)", what->phase, text,
                          seconds);
    }
    if (comm_job.peer_timeout > 0 || seconds <= WARN_AFTER || warned) return META_OK;
    warned = true;
    describe(what, WARN_AFTER / 2, text, sizeof text);
    core->log(META_LOG_WARN, "rank %d waits for %d s %s: %s", comm_job.rank, WARN_AFTER,
              what->phase, text);
    return META_OK;
}

meta_err comm_watch(meta_wait_clock *wait, const comm_awaited *what)
{
    comm_clock_read(wait);
    return judge(wait, what);
}

meta_err comm_watch_rounds(meta_wait_clock *wait, const comm_awaited *what)
{
    comm_mate_beat();
    return comm_clock_round(wait) ? judge(wait, what) : META_OK;
}

/* Let MPI complete a request, one test of which failed. Given up after a second failure, and after
 * META_TIMEOUT or WARN_AFTER seconds; then the request is not MPI_REQUEST_NULL. */
static meta_err finish(MPI_Request *request, meta_err failed)
{
    meta_wait_clock wait = {0};
    const double longest = comm_job.peer_timeout > 0 ? comm_job.peer_timeout : WARN_AFTER;
    char text[COMM_TEXT];
    int complete = *request == MPI_REQUEST_NULL, code = MPI_SUCCESS;
    snprintf(text, sizeof text, "%s", meta_last_error());
    for (unsigned idle = 0; !complete && code == MPI_SUCCESS;) {
        if (comm_clock_round(&wait) && comm_now - wait.began >= longest) break;
        code = MPI_Test(request, &complete, MPI_STATUS_IGNORE);
        if (complete || comm_advance()) continue;
        comm_unlock();
        comm_back_off(idle++);
        comm_lock();
    }
    return core->fail_as(failed, text);
}

meta_err comm_request_test(MPI_Request *request, int *complete)
{
    const meta_err error = comm_mpi(MPI_Test(request, complete, MPI_STATUS_IGNORE), "MPI_Test");
    return error == META_OK ? META_OK : finish(request, error);
}

meta_err comm_request_wait(MPI_Request *request, comm_awaited what)
{
    meta_wait_clock wait = {0};
    for (unsigned idle = 0;;) {
        int complete = 0;
        META_TRY(comm_request_test(request, &complete));
        if (complete) return META_OK;
        META_TRY(comm_watch_rounds(&wait, &what));
        if (comm_advance()) {
            idle = 0;
            continue;
        }
        comm_unlock();
        comm_back_off(idle++);
        comm_lock();
    }
}

meta_err comm_meet(MPI_Comm among, bool *met)
{
    static const char phase[] = "while all ranks meet";
    MPI_Request barrier;
    *met = false;
    META_TRY(comm_check_lost(phase));
    COMM_MPI(MPI_Ibarrier, (among, &barrier));
    const meta_err error = comm_request_wait(&barrier, comm_all_of(among, phase));
    *met = error != META_ERR_PEER;
    return error;
}

bool comm_request_give_up(MPI_Request *request, bool cancel)
{
    enum { ATTEMPTS = 4000 }; /* a tenth of a second of naps, after attempts that only yield */
    int complete = 0;
    if (*request == MPI_REQUEST_NULL) return true;
    /* Only what is active is cancelled, as one that persists may not be. A receive that stays
     * active takes what is sent later, so that MPI is asked again where it failed. */
    int code = MPI_Test(request, &complete, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS && *request != MPI_REQUEST_NULL)
        code = MPI_Test(request, &complete, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !complete && cancel) MPI_Cancel(request);
    for (unsigned k = 0; k < ATTEMPTS && code == MPI_SUCCESS && !complete; ++k) {
        comm_back_off(k);
        code = MPI_Test(request, &complete, MPI_STATUS_IGNORE);
    }
    if (!complete && *request != MPI_REQUEST_NULL) MPI_Request_free(request);
    return complete;
}

/* ------------------------------------------------------------------ messages for nobody */

/* MPI's error for a message that is too long consumes it as well. Only calls that name the
 * communicator return that error (MPICH 4.0 ends the process from MPI_Test and MPI_Mrecv): so this
 * one, which does not wait, since the message has come. */
void comm_consume(MPI_Comm among, int source, int tag)
{
    MPI_Recv(NULL, 0, MPI_BYTE, source, tag, among, MPI_STATUS_IGNORE);
}

meta_err comm_take_in(MPI_Comm among, int source, int wanted, bool *found, MPI_Status *status)
{
    MPI_Request request;
    int there = 0, bytes = 0;
    *found = false;
    COMM_MPI(MPI_Iprobe, (source, wanted, among, &there, status));
    if (!there) return META_OK;
    const int from = status->MPI_SOURCE, tag = status->MPI_TAG;
    COMM_MPI(MPI_Get_count, (status, MPI_BYTE, &bytes));
    char *data = malloc((size_t)bytes + 1);
    if (data) {
        meta_err error =
            comm_mpi(MPI_Irecv(data, bytes, MPI_BYTE, from, tag, among, &request), "MPI_Irecv");
        if (error == META_OK) {
            error = comm_request_wait(
                &request,
                (comm_awaited){"while a message that nobody wants is received", among, from, tag});
            if (error != META_OK && !comm_request_give_up(&request, true))
                return error; /* the memory is MPI's */
        }
        free(data);
        META_TRY(error);
    } else {
        comm_consume(among, from, tag);
    }
    *found = true;
    return META_OK;
}
