/* SPDX-License-Identifier: BSD-3-Clause */
/** @file collective.c
 *  Collective calls of MPI that end when a rank does not come: the calls that do not block, waited
 *  for by the engine. MPI may use the memory of a call that was given up as long as the process
 *  lives, so it is memory of its own, which is then left to MPI. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress/progress.h"

/* Wait for @p request, which works on @p memory. */
static meta_err end(MPI_Request *request, comm_awaited what, void *memory)
{
    const meta_err error = comm_request_wait(request, what);
    if (error != META_OK && *request == MPI_REQUEST_NULL) free(memory);
    return error;
}

/* A copy of @p bytes bytes, with room for @p room. */
static meta_err copy_of(const void *values, size_t bytes, size_t room, void **copy)
{
    *copy = malloc(room + 1);
    if (!*copy)
        return core->fail(META_ERR_NO_MEMORY, "no memory for a collective call on %zu bytes", room);
    memcpy(*copy, values, bytes);
    return META_OK;
}

static meta_err bytes_of(int count, MPI_Datatype type, size_t *bytes)
{
    int size;
    COMM_MPI(MPI_Type_size, (type, &size));
    *bytes = (size_t)count * (size_t)size;
    return META_OK;
}

static meta_err after(MPI_Request *request, comm_awaited what, void *memory, void *values,
                      size_t bytes)
{
    META_TRY(end(request, what, memory));
    memcpy(values, memory, bytes);
    free(memory);
    return META_OK;
}

meta_err comm_all_reduce(MPI_Comm among, void *values, int count, MPI_Datatype type, MPI_Op op,
                         const char *phase)
{
    MPI_Request request = MPI_REQUEST_NULL;
    size_t bytes;
    void *memory;
    META_TRY(comm_check_lost(phase));
    META_TRY(bytes_of(count, type, &bytes));
    META_TRY(copy_of(values, bytes, bytes, &memory));
    const meta_err error = comm_mpi(
        MPI_Iallreduce(MPI_IN_PLACE, memory, count, type, op, among, &request), "MPI_Iallreduce");
    if (error != META_OK) return free(memory), error;
    return after(&request, comm_all_of(among, phase), memory, values, bytes);
}

meta_err comm_all_from(MPI_Comm among, void *values, int count, MPI_Datatype type, int root,
                       const char *phase)
{
    MPI_Request request = MPI_REQUEST_NULL;
    size_t bytes;
    void *memory;
    META_TRY(comm_check_lost(phase));
    META_TRY(bytes_of(count, type, &bytes));
    META_TRY(copy_of(values, bytes, bytes, &memory));
    const meta_err error =
        comm_mpi(MPI_Ibcast(memory, count, type, root, among, &request), "MPI_Ibcast");
    if (error != META_OK) return free(memory), error;
    return after(&request, comm_all_of(among, phase), memory, values, bytes);
}

meta_err comm_all_gather(MPI_Comm among, const void *mine, int bytes, void *all, const char *phase)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int size;
    char *memory;
    META_TRY(comm_check_lost(phase));
    COMM_MPI(MPI_Comm_size, (among, &size));
    const size_t one = (size_t)bytes, every = (size_t)size * one;
    META_TRY(copy_of(mine, one, one + every, (void **)&memory));
    const meta_err error = comm_mpi(
        MPI_Iallgather(memory, bytes, MPI_BYTE, memory + one, bytes, MPI_BYTE, among, &request),
        "MPI_Iallgather");
    if (error != META_OK) return free(memory), error;
    META_TRY(end(&request, comm_all_of(among, phase), memory));
    memcpy(all, memory + one, every);
    free(memory);
    return META_OK;
}

/* A communicator that is being made. MPI writes it where a call that was given up cannot be asked
 * not to, and keeps no pointer that a leak checker could follow: the list has those. */
struct duplicate {
    MPI_Comm comm;
    struct duplicate *next;
};
static struct duplicate *given_up;

/* That MPI has no communicator left is an error of the program's communicator, or where it shows
 * when the request is tested, of one that MPI always has; all of them end the process by default.
 */
enum { HANDLED = 3 };
typedef struct handlers {
    MPI_Errhandler ours;
    MPI_Comm comm[HANDLED];
    MPI_Errhandler handler[HANDLED];
    int count;
} handlers;
static int raised; /* MPI's error, after which what it makes is not to be used; else MPI_SUCCESS */

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    raised = *code;
}

/* @p error, or if there is none that of setting them as they were. */
static meta_err handlers_restore(handlers *h, meta_err error)
{
    while (h->count-- > 0) {
        const int code = MPI_Comm_set_errhandler(h->comm[h->count], h->handler[h->count]);
        if (error == META_OK) error = comm_mpi(code, "MPI_Comm_set_errhandler");
        MPI_Errhandler_free(&h->handler[h->count]);
    }
    if (h->ours != MPI_ERRHANDLER_NULL) MPI_Errhandler_free(&h->ours);
    return error;
}

static meta_err handlers_set(handlers *h, MPI_Comm comm)
{
    *h = (handlers){.ours = MPI_ERRHANDLER_NULL, .comm = {comm, MPI_COMM_WORLD, MPI_COMM_SELF}};
    raised = MPI_SUCCESS;
    COMM_MPI(MPI_Comm_create_errhandler, (note, &h->ours));
    for (int k = 0; k < HANDLED; ++k) {
        COMM_MPI(MPI_Comm_get_errhandler, (h->comm[k], &h->handler[k]));
        h->count = k + 1;
        COMM_MPI(MPI_Comm_set_errhandler, (h->comm[k], h->ours));
    }
    return META_OK;
}

static meta_err explain(meta_err error)
{
    char text[COMM_TEXT];
    if (raised == MPI_SUCCESS || error != META_ERR_MPI) return error;
    snprintf(text, sizeof text, "%s", meta_last_error());
    return core->fail(error,
                      "%s; a communicator was to be duplicated, of which MPI has few (MPICH "
                      "2048): free those that are not needed",
                      text);
}

/* Begin, and wait. */
static meta_err duplicate(MPI_Comm comm, struct duplicate *made, MPI_Request *request,
                          const char *phase)
{
    COMM_MPI(MPI_Comm_idup, (comm, &made->comm, request));
    return comm_request_wait(request, comm_all_of(comm, phase));
}

meta_err comm_all_duplicate(MPI_Comm comm, MPI_Comm *copy, const char *phase)
{
    MPI_Request request = MPI_REQUEST_NULL;
    handlers h;
    *copy = MPI_COMM_NULL;
    META_TRY(comm_check_lost(phase));
    struct duplicate *made = malloc(sizeof *made);
    if (!made) return core->fail(META_ERR_NO_MEMORY, "no memory to duplicate a communicator");
    made->comm = MPI_COMM_NULL;
    meta_err error = handlers_set(&h, comm);
    if (error == META_OK) {
        error = duplicate(comm, made, &request, phase);
        /* MPICH 5.0 returns success where a handler has returned. */
        if (error == META_OK) error = comm_mpi(raised, "MPI_Comm_idup");
        error = explain(error);
    }
    error = handlers_restore(&h, error);
    if (request != MPI_REQUEST_NULL) {
        made->next = given_up;
        given_up = made;
        return error;
    }
    if (raised == MPI_SUCCESS) *copy = made->comm;
    free(made);
    return error;
}
