/* SPDX-License-Identifier: BSD-3-Clause */
/** @file comm_table.c
 *  What libmeta_comm offers libmeta_io, as one table. */
#include "comm_table.h"

#include "base/comm_base.h"
#include "progress/progress.h"

static meta_err enter(const char *call)
{
    META_TRY(comm_enter(call));
    comm_unlock();
    return META_OK;
}

static void leave(void)
{
    core->leave();
}

static void at_end(meta_err (*end)(void))
{
    enum { MOST = sizeof comm_job.at_end / sizeof *comm_job.at_end };
    int k = 0;
    comm_lock();
    while (k < MOST && comm_job.at_end[k] && comm_job.at_end[k] != end) ++k;
    if (k < MOST) comm_job.at_end[k] = end;
    comm_unlock();
}

static size_t chunk(void)
{
    return comm_job.chunk;
}

static meta_err duplicate(MPI_Comm comm, const char *name, MPI_Comm *copy)
{
    if (comm == MPI_COMM_NULL)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' is MPI_COMM_NULL", name);
    comm_lock();
    const meta_err error = comm_duplicate(comm, copy);
    comm_unlock();
    return error;
}

static void free_copy(MPI_Comm *copy)
{
    comm_lock();
    comm_free(copy);
    comm_unlock();
}

static meta_err agree(MPI_Comm among, meta_err mine)
{
    comm_lock();
    const meta_err error = comm_agree(among, mine);
    comm_unlock();
    return error;
}

static meta_err all_reduce(MPI_Comm among, void *values, int count, MPI_Datatype type, MPI_Op op,
                           const char *phase)
{
    comm_lock();
    const meta_err error = comm_all_reduce(among, values, count, type, op, phase);
    comm_unlock();
    return error;
}

static meta_err all_from(MPI_Comm among, void *values, int count, MPI_Datatype type, int root,
                         const char *phase)
{
    comm_lock();
    const meta_err error = comm_all_from(among, values, count, type, root, phase);
    comm_unlock();
    return error;
}

static meta_err all_gather(MPI_Comm among, const void *mine, int bytes, void *all,
                           const char *phase)
{
    comm_lock();
    const meta_err error = comm_all_gather(among, mine, bytes, all, phase);
    comm_unlock();
    return error;
}

static meta_err send(MPI_Comm among, const void *bytes, int count, int to, int tag,
                     MPI_Request *request)
{
    comm_lock();
    const meta_err error =
        comm_mpi(MPI_Isend(bytes, count, MPI_BYTE, to, tag, among, request), "MPI_Isend");
    comm_unlock();
    return error;
}

static meta_err receive(MPI_Comm among, void *bytes, int count, int from, int tag,
                        MPI_Request *request)
{
    comm_lock();
    const meta_err error =
        comm_mpi(MPI_Irecv(bytes, count, MPI_BYTE, from, tag, among, request), "MPI_Irecv");
    comm_unlock();
    return error;
}

static meta_err wait_for(MPI_Comm among, MPI_Request *request, int peer, int tag, const char *phase)
{
    const comm_awaited what = {phase, among, peer, tag};
    comm_lock();
    const meta_err error = comm_request_wait(request, what);
    comm_unlock();
    return error;
}

const meta_comm meta_comm_table = {
    .version = META_COMM_TABLE_VERSION,
    .size = sizeof(meta_comm),
    .enter = enter,
    .leave = leave,
    .at_end = at_end,
    .chunk = chunk,
    .duplicate = duplicate,
    .free = free_copy,
    .agree = agree,
    .all_reduce = all_reduce,
    .all_from = all_from,
    .all_gather = all_gather,
    .send = send,
    .receive = receive,
    .wait = wait_for,
};
