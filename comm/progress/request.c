/* SPDX-License-Identifier: BSD-3-Clause */
/** @file request.c
 *  Single requests and messages of MPI outside the pipelines: waited for while everything else
 * moves on, given up, and taken in where nobody wants them. */
#include "comm.h"

#include <stdio.h>
#include <stdlib.h>

/* Whether @p request is complete within a moment: a tenth of a second of naps, behind attempts that
 * only yield. */
static bool complete_soon(MPI_Request *request)
{
    enum { ATTEMPTS = 4000 };
    int over = 0;
    for (unsigned k = 0; k < ATTEMPTS && !over; ++k) {
        if (MPI_Test(request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
        if (!over) comm_back_off(k);
    }
    return over;
}

meta_err comm_request_wait(MPI_Request *request, const char *phase, int peer, int tag)
{
    const double began = MPI_Wtime();
    bool warned = false;
    for (unsigned idle = 0;;) {
        int met = 0;
        const meta_err error = comm_mpi(MPI_Test(request, &met, MPI_STATUS_IGNORE), "MPI_Test");
        /* MPI failed to say whether it is complete: it may be soon, and nothing is left of it then.
         */
        if (error != META_OK) return complete_soon(request), error;
        if (met) return META_OK;
        if (comm_advance()) {
            idle = 0;
            continue;
        }
        if (idle % 64 == 63) META_TRY(comm_watch_since(began, &warned, phase, peer, tag));
        comm_unlock();
        comm_back_off(idle++);
        comm_lock();
    }
}

meta_err comm_collective_wait(MPI_Request *request, const char *phase, meta_err *own)
{
    const meta_err error = comm_request_wait(request, phase, MPI_ANY_SOURCE, 0);
    if (error == META_OK || error == META_ERR_PEER || *request != MPI_REQUEST_NULL) return error;
    *own = error;
    return META_OK;
}

meta_err comm_barrier(MPI_Comm among, MPI_Request *request)
{
    const meta_err error = comm_mpi(MPI_Ibarrier(among, request), "MPI_Ibarrier");
    if (error != META_OK && MPI_Ibarrier(among, request) != MPI_SUCCESS)
        *request = MPI_REQUEST_NULL;
    return error;
}

meta_err comm_meet(MPI_Comm among)
{
    char text[COMM_TEXT];
    MPI_Request barrier;
    const meta_err error = comm_barrier(among, &barrier);
    snprintf(text, sizeof text, "%s", meta_last_error());
    const meta_err waited = comm_request_wait(&barrier, "while all ranks meet", MPI_ANY_SOURCE, 0);
    if (waited == META_ERR_PEER || error == META_OK) return waited;
    return core->fail_as(error, text);
}

bool comm_request_give_up(MPI_Request *request, bool cancel)
{
    int over = 0;
    if (*request == MPI_REQUEST_NULL) return true;
    /* Only what is active is cancelled, as one that persists may not be. */
    if (MPI_Test(request, &over, MPI_STATUS_IGNORE) == MPI_SUCCESS && !over) {
        if (cancel) MPI_Cancel(request);
        over = complete_soon(request);
    }
    if (!over) MPI_Request_free(request);
    return over;
}

/* ------------------------------------------------------------------ messages for nobody */

/* MPI's error for a message that is too long consumes it as well. Only calls that name the
 * communicator return that error (MPICH 4.0 ends the process from MPI_Test and MPI_Mrecv): so this
 * one, which does not wait, since the message has come. */
void comm_consume(MPI_Comm among, int source, int tag)
{
    MPI_Recv(NULL, 0, MPI_BYTE, source, tag, among, MPI_STATUS_IGNORE);
}

static meta_err discard(MPI_Comm among, const MPI_Status *status)
{
    const int from = status->MPI_SOURCE, tag = status->MPI_TAG;
    MPI_Request request;
    int bytes = 0;
    COMM_MPI(MPI_Get_count, (status, MPI_BYTE, &bytes));
    char *data = malloc((size_t)bytes + 1);
    if (!data) return comm_consume(among, from, tag), META_OK;
    meta_err error =
        comm_mpi(MPI_Irecv(data, bytes, MPI_BYTE, from, tag, among, &request), "MPI_Irecv");
    if (error == META_OK) {
        error =
            comm_request_wait(&request, "while a message that nobody wants is taken in", from, tag);
        if (error != META_OK && !comm_request_give_up(&request, true))
            return error; /* the memory is MPI's */
    }
    free(data);
    return error;
}

meta_err comm_take_in(MPI_Comm among, int source, bool *found, MPI_Status *status)
{
    int there = 0;
    *found = false;
    COMM_MPI(MPI_Iprobe, (source, MPI_ANY_TAG, among, &there, status));
    if (!there) return META_OK;
    META_TRY(discard(among, status));
    *found = true;
    return META_OK;
}
