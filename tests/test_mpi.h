/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_mpi.h
 *  The harness for tests of several processes: a promise is kept if no rank broke it, and every
 *  rank exits with the same status. Failures are printed by the rank that detected them. */
#ifndef META_TEST_MPI_H
#define META_TEST_MPI_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "meta_comm.h"
#include "test.h"

/** main() of a test of several processes, with MPI initialised and nothing else started. */
#define TEST_MPI_MAIN(...) TEST_MAIN_WITH(&test_mpi, __VA_ARGS__)
/** The same, with libmeta_comm started over MPI_COMM_WORLD and each rank's device opened before the
 *  first promise, and finalised after the last. */
#define TEST_COMM_MAIN(...) TEST_MAIN_WITH(&test_comm, __VA_ARGS__)

/* A thread of the library's own needs more than the tests themselves. */
static inline void test_mpi_start(int *argc, char ***argv)
{
    const char *progress = getenv("META_PROGRESS");
    const bool thread = progress != NULL && strcmp(progress, "thread") == 0;
    int granted;
    MPI_Init_thread(argc, argv, thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
}

/* A failure counts more than a missing device, though its exit status is the smaller one. */
static inline int test_mpi_worst(int status)
{
    const int mine = status == 0 ? 0 : status == 77 ? 1 : 2;
    int worst;
    MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return worst == 0 ? 0 : worst == 1 ? 77 : 1;
}

static inline int test_mpi_end(int status)
{
    MPI_Finalize();
    return status;
}

/* Whether meta_comm_init() succeeded. */
static bool test_comm_started;

static inline void test_comm_start(int *argc, char ***argv)
{
    test_mpi_start(argc, argv);
    const meta_err err = meta_comm_init(argc, argv);
    test_comm_started = err == META_OK;
    test_require(err);
}

static inline int test_comm_end(int status)
{
    if (test_comm_started && status != 77 && !CHECK_OK(meta_comm_finalize())) status = 1;
    return test_mpi_end(test_mpi_worst(status));
}

__attribute__((unused)) static const test_setting test_mpi = {test_mpi_start, test_mpi_worst,
                                                              test_mpi_end};
__attribute__((unused)) static const test_setting test_comm = {test_comm_start, test_mpi_worst,
                                                               test_comm_end};

#endif
