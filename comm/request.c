/* SPDX-License-Identifier: BSD-3-Clause */
/** @file request.c
 *  Single requests and messages of MPI outside the pipelines: waited for while everything else
 * moves on, given up, and taken in where nobody wants them. */
#include "comm.h"

#include <stdio.h>
#include <stdlib.h>

/* MPI failed to say whether @p request is complete: it may be soon, and nothing is left of it then.
 */
static void settle_request(MPI_Request *request)
{
    enum { ATTEMPTS = 2000 };
    int met = 0;
    for (int k = 0; k < ATTEMPTS && !met; ++k) {
        if (MPI_Test(request, &met, MPI_STATUS_IGNORE) != MPI_SUCCESS) return;
        if (!met) comm_back_off((unsigned)k);
    }
}

meta_err comm_request_wait(MPI_Request *request, const char *phase, int peer, int tag)
{
    const double began = MPI_Wtime();
    bool warned = false;
    for (unsigned idle = 0;;) {
        int met = 0;
        const meta_err error = comm_mpi(MPI_Test(request, &met, MPI_STATUS_IGNORE), "MPI_Test");
        if (error != META_OK) return settle_request(request), error;
        if (met) return META_OK;
        if (comm_advance()) {
            idle = 0;
            continue;
        }
        if (idle % 64 == 63) COMM_TRY(comm_watch_since(began, &warned, phase, peer, tag));
        comm_unlock();
        comm_back_off(idle++);
        comm_lock();
    }
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
    enum { ATTEMPTS = 4000 }; /* a tenth of a second of naps behind those that only yield */
    int over = 0;
    if (*request == MPI_REQUEST_NULL) return true;
    for (unsigned k = 0; k < ATTEMPTS && !over; ++k) {
        if (MPI_Test(request, &over, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
        /* Only what is active, as one that persists may not be. */
        if (!over && k == 0 && cancel) MPI_Cancel(request);
        if (!over) comm_back_off(k);
    }
    if (!over) MPI_Request_free(request);
    return over;
}

/* ------------------------------------------------------------------ messages for nobody */

/* Without room for it, MPI's error for a message that is too long consumes it as well. Only calls
 * that name the communicator return that error (MPICH 4.0 ends the process from MPI_Test and
 * MPI_Mrecv). */
static meta_err discard(MPI_Comm among, const MPI_Status *status)
{
    const int from = status->MPI_SOURCE, tag = status->MPI_TAG;
    MPI_Request request;
    int bytes = 0;
    COMM_MPI(MPI_Get_count, (status, MPI_BYTE, &bytes));
    char *data = malloc((size_t)bytes + 1);
    if (!data) {
        MPI_Recv(NULL, 0, MPI_BYTE, from, tag, among, MPI_STATUS_IGNORE);
        return META_OK;
    }
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
    COMM_TRY(discard(among, status));
    *found = true;
    return META_OK;
}
