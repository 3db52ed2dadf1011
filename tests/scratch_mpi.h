/* SPDX-License-Identifier: BSD-3-Clause */
/** @file scratch_mpi.h
 *  A folder of rank 0's for all ranks. Collective. */
#ifndef META_TEST_SCRATCH_MPI_H
#define META_TEST_SCRATCH_MPI_H

#include "scratch.h"
#include "test_mpi.h"

/** As scratch_make(); @p room is the same on all ranks. */
static inline void scratch_share(const char *name, char *path, size_t room)
{
    if (test_rank == 0) scratch_make(name, path, room);
    MPI_Bcast(path, (int)room, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/** Remove it when no rank uses it any more. */
static inline void scratch_remove_shared(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0) scratch_remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
