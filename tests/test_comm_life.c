/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_life.c
 *  Joining and leaving a job: ranks, the same outcome on every rank, and a finalize that completes
 *  whatever messages and plans were left behind. */
/* TEST: backends=all np=1,2,3 labels=comm smoke=yes */
/* TEST: backends=openmp np=2 with=PROGRESS=thread labels=comm */
#include "test_mpi.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void calls_outside_a_job_are_refused(void)
{
    int rank;
    double x = 0;
    CHECK_ERR(meta_comm_rank(&rank, NULL), META_ERR_INIT);
    CHECK_ERR(meta_comm_finalize(), META_ERR_INIT);
    CHECK_ERR(meta_comm_attach(MPI_COMM_NULL), META_ERR_ARGUMENT);
    CHECK_OK(meta_init());
    CHECK_ERR_NAMES(meta_comm_rank(&rank, NULL), META_ERR_INIT, "meta_comm_init()");
    CHECK_ERR(meta_allreduce(&x, &x, 1, META_SUM, META_F64, NULL), META_ERR_INIT);
    CHECK_OK(meta_finalize());
}

/* A communicator whose ranks run the other way. */
static void ranks_are_those_of_the_communicator(void)
{
    MPI_Comm backwards;
    MPI_Comm_split(MPI_COMM_WORLD, 0, test_size - test_rank, &backwards);
    for (int round = 0; round < 3; ++round) {
        int rank = -1, size = -1;
        double mine = test_rank, sum = 0;
        test_require(meta_comm_attach(backwards));
        CHECK_ERR(meta_comm_attach(backwards), META_ERR_STATE);
        CHECK_ERR(meta_comm_init(NULL, NULL), META_ERR_STATE);
        CHECK_OK(meta_comm_rank(&rank, &size));
        CHECK_INT(rank, test_size - 1 - test_rank);
        CHECK_INT(size, test_size);
        CHECK_OK(meta_allreduce(&sum, &mine, 1, META_SUM, META_F64, NULL));
        CHECK_NEAR(sum, test_size * (test_size - 1) / 2, 0);
        CHECK_OK(meta_comm_finalize());
    }
    MPI_Comm_free(&backwards);
}

static void one_rank_that_fails_is_an_error_on_all(void)
{
    static const struct {
        const char *variable, *value;
        meta_err error;
    } bad[] = {{"META_LOG", "loud", META_ERR_ENVIRONMENT},
               {"META_TEST_CHUNK", "12", META_ERR_ENVIRONMENT},
               {"META_RANK_MAP", "*:nosuch", META_ERR_NO_DEVICE}};
    char who[32];
    snprintf(who, sizeof who, "rank %d: ", test_size - 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        const char *had = getenv(bad[k].variable);
        char *before = had ? strdup(had) : NULL;
        test_case("%s=%s", bad[k].variable, bad[k].value);
        if (test_rank == test_size - 1) setenv(bad[k].variable, bad[k].value, 1);
        CHECK_ERR_NAMES(meta_comm_init(NULL, NULL), bad[k].error, who);
        /* Named once, and by the public function. */
        CHECK(strncmp(meta_last_error(), who, strlen(who)) == 0);
        CHECK_CONTAINS(meta_last_error() + strlen(who), "meta_comm_init: ");
        CHECK(strstr(meta_last_error() + strlen(who), "rank ") == NULL);
        CHECK(strstr(meta_last_error(), "meta_get_acc") == NULL);
        unsetenv(bad[k].variable);
        if (before) setenv(bad[k].variable, before, 1);
        free(before);
        CHECK_ERR(meta_comm_rank(&test_rank, NULL), META_ERR_INIT);
        test_require(meta_comm_init(NULL, NULL));
        CHECK_OK(meta_comm_finalize());
    }
}

/* ------------------------------------------------------------------ what was left behind */

static void unreceived_messages_do_not_block_a_rank(void)
{
    enum { BYTES = 5 << 20 };
    void *a;
    test_require(meta_comm_attach(MPI_COMM_WORLD));
    CHECK_OK(meta_alloc(&a, BYTES));
    for (int k = 0; k < 3 && test_size > 1; ++k) {
        meta_event event = META_EVENT_NULL;
        CHECK_OK(
            meta_packed_send((test_rank + 1) % test_size, a, BYTES, META_U8, k, k ? &event : NULL));
        CHECK_OK(
            meta_event_wait(event)); /* complete when the buffer may be used again, not later */
        CHECK_OK(meta_event_free(&event));
    }
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_comm_finalize());
}

static void receives_without_a_sender_end_with_an_error(void)
{
    meta_event event;
    void *a;
    setenv("META_TIMEOUT", "0.2", 1);
    CHECK_OK(meta_init());
    test_require(meta_comm_attach(MPI_COMM_WORLD));
    unsetenv("META_TIMEOUT");
    CHECK_OK(meta_alloc(&a, 8));
    CHECK_OK(meta_packed_recv((test_rank + 1) % test_size, a, 1, META_F64, 3, &event));
    CHECK_OK(meta_comm_finalize());
    CHECK_ERR_NAMES(meta_event_wait(event), META_ERR_STATE, "tag 3");
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_free(a));
    CHECK_OK(meta_finalize());
}

static void plans_left_behind_are_ended(void)
{
    for (int started = 0; started < 2; ++started) {
        const int periodic = 1;
        meta_halo_desc desc = META_HALO_DESC_INIT;
        meta_halo plan;
        void *u;
        test_require(meta_comm_attach(MPI_COMM_WORLD));
        MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &desc.cart);
        desc.box = (meta_box){1, {12}, {1}, {11}};
        desc.low[0] = desc.high[0] = 1;
        CHECK_OK(meta_halo_create(&plan, &desc));
        CHECK_OK(meta_alloc(&u, 12 * sizeof(double)));
        if (started) CHECK_OK(meta_halo_start(plan, &u));
        MPI_Comm_free(&desc.cart);
        CHECK_ERR(meta_comm_finalize(), started ? META_ERR_STATE : META_OK);
        test_require(meta_comm_attach(MPI_COMM_WORLD));
        CHECK_ERR(meta_halo_finish(plan, NULL), META_ERR_HANDLE);
        CHECK_OK(meta_comm_finalize());
    }
}

static void the_core_may_be_finalised_first(void)
{
    int rank;
    CHECK_OK(meta_init());
    test_require(meta_comm_attach(MPI_COMM_WORLD));
    CHECK_OK(meta_finalize());
    CHECK_ERR(meta_comm_rank(&rank, NULL), META_ERR_INIT);
    CHECK_OK(meta_init());
    CHECK_ERR(meta_comm_rank(&rank, NULL), META_ERR_INIT);
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_comm_finalize());
    test_require(meta_comm_attach(MPI_COMM_WORLD));
    CHECK_OK(meta_comm_finalize());
}

static atomic_bool finalizing, calls;
static meta_err outcome;
static pthread_t caller;

static void *call_while_another_finalizes(void *unused)
{
    meta_traffic traffic = META_TRAFFIC_INIT;
    (void)unused;
    calls = true;
    outcome = meta_comm_traffic(&traffic);
    return NULL;
}

/* Visible, so that libmeta_comm finds it here: the first communicator is freed while the job is
 * left and the lock is held, and then another thread calls. */
__attribute__((visibility("default"))) int MPI_Comm_free(MPI_Comm *comm)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    if (atomic_exchange(&finalizing, false)) {
        CHECK_INT(pthread_create(&caller, NULL, call_while_another_finalizes, NULL), 0);
        while (!calls) sched_yield();
        nanosleep(&moment, NULL);
    }
    return PMPI_Comm_free(comm);
}

static void a_call_that_waited_while_another_thread_finalized_is_refused(void)
{
    int level;
    MPI_Query_thread(&level);
    test_require(meta_comm_init(NULL, NULL));
    calls = false;
    finalizing = true;
    CHECK_OK(meta_comm_finalize());
    CHECK(!finalizing);
    CHECK_INT(pthread_join(caller, NULL), 0);
    /* Where MPI is for one thread alone the call may have been refused at once. */
    if (level >= MPI_THREAD_SERIALIZED || outcome != META_ERR_STATE)
        CHECK_INT(outcome, META_ERR_INIT);
}

TEST_MPI_MAIN(PROMISE(calls_outside_a_job_are_refused),
              PROMISE(ranks_are_those_of_the_communicator),
              PROMISE(one_rank_that_fails_is_an_error_on_all),
              PROMISE(unreceived_messages_do_not_block_a_rank),
              PROMISE(receives_without_a_sender_end_with_an_error),
              PROMISE(plans_left_behind_are_ended), PROMISE(the_core_may_be_finalised_first),
              PROMISE(a_call_that_waited_while_another_thread_finalized_is_refused))
