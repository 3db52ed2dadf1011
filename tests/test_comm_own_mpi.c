/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_own_mpi.c
 *  A program that leaves MPI to libmeta: meta_comm_init() initializes it, and meta_comm_finalize()
 *  finalizes it, but not when the call is rejected. */
/* TEST: np=2 labels=comm */
#include <mpi.h>
#include <pthread.h>

#include "meta_comm.h"
#include "says_secure.h"
#include "test.h"

static void a_process_with_more_rights_than_its_user_starts_no_mpi(void)
{
    int initialized = 1;
    says_secure = true;
    CHECK_ERR_NAMES(meta_comm_init(NULL, NULL), META_ERR_STATE, "more rights than the user");
    says_secure = false;
    MPI_Initialized(&initialized);
    CHECK(!initialized);
}

static void *finalize_elsewhere(void *unused)
{
    CHECK_ERR_NAMES(meta_comm_finalize(), META_ERR_STATE, "MPI_THREAD_FUNNELED");
    return unused;
}

static void only_the_initialising_thread_ends_mpi(void)
{
    pthread_t thread;
    double one = 1, sum = 0;
    int level, rank, size, finalized = 0;
    test_require(meta_comm_init(NULL, NULL));
    CHECK_OK(meta_comm_rank(&rank, &size));
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_SERIALIZED) {
        pthread_create(&thread, NULL, finalize_elsewhere, NULL);
        pthread_join(thread, NULL);
    }
    MPI_Finalized(&finalized);
    if (!CHECK(!finalized)) return;
    CHECK_OK(meta_allreduce(&sum, &one, 1, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, size, 0);
    CHECK_OK(meta_comm_finalize());
    MPI_Finalized(&finalized);
    CHECK(finalized);
    CHECK_ERR(meta_comm_finalize(), META_ERR_INIT);
    CHECK_ERR_NAMES(meta_comm_init(NULL, NULL), META_ERR_MPI, "twice");
}

TEST_MAIN(PROMISE(a_process_with_more_rights_than_its_user_starts_no_mpi),
          PROMISE(only_the_initialising_thread_ends_mpi))
