/* SPDX-License-Identifier: BSD-3-Clause */
/** @file job_mpi.c
 *  The processes that take part in a measurement: the ranks of MPI_COMM_WORLD. */
#include "config.h"

#include "job.h"
#include "meta_comm.h"

static job here;

void job_begin(int *argc, char ***argv)
{
    int provided;
    MPI_Comm node;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &here.size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, here.rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &here.node_rank);
    MPI_Comm_size(node, &here.node_size);
    MPI_Comm_free(&node);
}

void job_end(void)
{
    MPI_Finalize();
}

meta_err job_begin_meta(void)
{
    return meta_comm_init(NULL, NULL);
}

meta_err job_end_meta(void)
{
    return meta_comm_finalize();
}

const job *job_here(void)
{
    return &here;
}

void job_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void job_most(double *values, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

void job_tell(void *data, size_t bytes, int from)
{
    MPI_Bcast(data, (int)bytes, MPI_BYTE, from, MPI_COMM_WORLD);
}
