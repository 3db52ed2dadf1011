/* SPDX-License-Identifier: BSD-3-Clause */
/** @file collective.c
 *  Collective calls of MPI that end when a rank does not come: the calls that do not block, waited
 *  for by the engine. MPI may use the memory of a call that was given up as long as the process
 *  lives, so it is memory of its own, which is then left to MPI. */
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

meta_err comm_all_duplicate(MPI_Comm comm, MPI_Comm *copy, const char *phase)
{
    MPI_Request request = MPI_REQUEST_NULL;
    *copy = MPI_COMM_NULL;
    META_TRY(comm_check_lost(phase));
    struct duplicate *made = malloc(sizeof *made);
    if (!made) return core->fail(META_ERR_NO_MEMORY, "no memory to duplicate a communicator");
    made->comm = MPI_COMM_NULL;
    meta_err error = comm_mpi(MPI_Comm_idup(comm, &made->comm, &request), "MPI_Comm_idup");
    const bool began = error == META_OK;
    if (began) error = comm_request_wait(&request, comm_all_of(comm, phase));
    if (request != MPI_REQUEST_NULL) {
        made->next = given_up;
        given_up = made;
        return error;
    }
    if (began) *copy = made->comm;
    free(made);
    return error;
}
