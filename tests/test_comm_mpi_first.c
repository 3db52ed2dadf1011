/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_mpi_first.c
 *  A program that calls MPI_Finalize() before meta_comm_finalize(): the job ends there, with what
 * was under way, buffers stay until the program's last call, and errors say why. With
 * META_PROGRESS=thread MPI was initialised by the library, and nothing is under way: while the
 * thread is in MPI, a program may not call MPI_Finalize() (MPICH 4.0.2 then aborts now and then).
 */
/* TEST: backends=openmp np=1,2 labels=comm */
/* TEST: backends=openmp np=2 with=PROGRESS=thread labels=comm */
#include "scratch.h"
#include "test_mpi.h"

#include <stdio.h>

static void begin_job(void)
{
    if (getenv("META_PROGRESS")) {
        test_require(meta_comm_init(NULL, NULL));
    } else {
        MPI_Init(NULL, NULL);
        test_require(meta_comm_attach(MPI_COMM_WORLD));
    }
    CHECK_OK(meta_comm_rank(&test_rank, &test_size));
}

static void the_job_ends_with_mpi(void)
{
    enum { BYTES = 3 << 20 };
    const int periodic = 1;
    char folder[256], name[300], log[8192] = "";
    meta_halo plan;
    meta_halo_desc desc = META_HALO_DESC_INIT;
    void *u, *message;
    int rank, finalized = 0;
    scratch_make("mpi-first", folder, sizeof folder);
    snprintf(name, sizeof name, "%s/log", folder);
    setenv("META_LOG_FILE", name, 1);
    begin_job();
    const bool sends = test_size > 1 && !getenv("META_PROGRESS");
    CHECK_OK(meta_alloc(&u, 12 * sizeof(double)));
    CHECK_OK(meta_alloc(&message, BYTES));
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &desc.cart);
    desc.box = (meta_box){1, {12}, {1}, {11}};
    desc.low[0] = desc.high[0] = 1;
    CHECK_OK(meta_halo_create(&plan, &desc));
    /* Nobody receives it. */
    if (sends)
        CHECK_OK(
            meta_packed_send((test_rank + 1) % test_size, message, BYTES, META_U8, 1, META_ASYNC));
    MPI_Comm_free(&desc.cart);
    MPI_Finalize();
    MPI_Finalized(&finalized);
    CHECK(finalized);
    CHECK_ERR_NAMES(meta_halo_exchange(plan, &u, NULL), META_ERR_INIT, "MPI_Finalize()");
    CHECK_ERR_NAMES(meta_comm_rank(&rank, NULL), META_ERR_INIT, "MPI_Finalize()");
    CHECK_ERR_NAMES(meta_comm_attach(MPI_COMM_WORLD), META_ERR_MPI, "finalised");
    CHECK_OK(meta_free(message));
    CHECK_OK(meta_free(u));
    CHECK_ERR_NAMES(meta_comm_finalize(), META_ERR_INIT, "MPI_Finalize()");
    CHECK_ERR(meta_alloc(&u, 8), META_ERR_INIT); /* that was the core's end, too */
    CHECK_ERR_NAMES(meta_comm_finalize(), META_ERR_INIT, "MPI_Finalize()");
    CHECK(scratch_read(name, log, sizeof log));
    CHECK_CONTAINS(log, "MPI_Finalize() was called before meta_comm_finalize()");
    CHECK_CONTAINS(log, "1 halo plan was never freed");
    if (sends) CHECK_CONTAINS(log, "was never received");
    CHECK(!strstr(log, "has not ended well"));
    scratch_remove(folder);
}

TEST_MAIN(PROMISE(the_job_ends_with_mpi))
