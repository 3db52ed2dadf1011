/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_many.c
 *  More plans than MPI has communicators: those of one communicator share duplicates of it,
 * whatever the number of MPI's tags is; they are used and freed in any order, and what they had is
 * used again. MPI's refusal of a communicator is an error. */
/* TEST: backends=openmp np=2 labels=comm */
/* TEST: backends=openmp np=2 with=SHARED=off labels=comm */
#include <pthread.h>
#include <stddef.h>

#include "test_mpi.h"

enum { PLANS = 10000, CELLS = 4 };

/* ------------------------------------------------------------------ between libmeta and MPI */

static int duplicates; /* that were made */
static bool few_tags;  /* MPI_TAG_UB is the least that the standard allows */

#pragma GCC visibility push(default)
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    ++duplicates;
    return PMPI_Comm_idup(comm, made, request);
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *there)
{
    static int least = 32767;
    const int code = PMPI_Comm_get_attr(comm, key, value, there);
    if (few_tags && key == MPI_TAG_UB && *there) *(int **)value = &least;
    return code;
}

#pragma GCC visibility pop

/* ------------------------------------------------------------------ plans and arrays */

static meta_halo plan[PLANS];
static void *u[2];

static MPI_Comm make_line(void)
{
    const int periodic = 1;
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &line);
    return line;
}

static meta_err make(MPI_Comm line, int k)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    desc.cart = line;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = desc.high[0] = 1;
    desc.type = META_I32;
    return meta_halo_create(&plan[k], &desc);
}

static bool make_all(MPI_Comm line, int count)
{
    for (int k = 0; k < count; ++k)
        if (!CHECK_OK(make(line, k))) return false;
    return true;
}

/* Each rank's own cells have a number of its own, and every plan another one. */
static int32_t value_of(int rank, int k, int cell)
{
    return (rank * PLANS + k) * CELLS + cell;
}

static void set(int k, int which)
{
    int32_t *own = u[which];
    own[0] = own[CELLS + 1] = -1;
    for (int i = 0; i < CELLS; ++i) own[i + 1] = value_of(test_rank, k, i);
}

static bool has_ghosts(int k, int which)
{
    const int32_t *own = u[which];
    const int next = (test_rank + 1) % test_size, before = (test_rank + test_size - 1) % test_size;
    return CHECK_INT(own[0], value_of(before, k, CELLS - 1)) &&
           CHECK_INT(own[CELLS + 1], value_of(next, k, 0));
}

/* Plans @p a and @p b at the same time, begun in an order that ranks do not share. */
static bool exchange_two(int a, int b)
{
    const int first = test_rank % 2 == 0 ? 0 : 1, k[2] = {a, b};
    for (int n = 0; n < 2; ++n) {
        const int which = n == 0 ? first : 1 - first;
        set(k[which], which);
        if (!CHECK_OK(meta_halo_start(plan[k[which]], &u[which]))) return false;
    }
    for (int which = 0; which < 2; ++which)
        if (!CHECK_OK(meta_halo_finish(plan[k[which]], NULL)) || !has_ghosts(k[which], which))
            return false;
    return true;
}

static void exchange_some(int count)
{
    uint64_t random = 20261128;
    for (int n = 0; n < 500; ++n) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const int a = (int)(random >> 33) % count,
                  b = (a + 1 + (int)(random >> 50) % (count - 1)) % count;
        if (!exchange_two(a, b)) return;
    }
}

static void free_all(int count)
{
    for (int k = 0; k < count; ++k) CHECK_OK(meta_halo_free(&plan[(k * 7919LL) % count]));
}

/* ------------------------------------------------------------------ promises */

static void begin(void)
{
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_alloc(&u[k], (CELLS + 2) * sizeof(int32_t)));
    duplicates = 0;
}

static void end(void)
{
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_free(u[k]));
}

/* A plan takes 81 tags, and a duplicate has 4096 plans at most. */
static int most_duplicates(void)
{
    enum { TAGS = 81, MOST = 4096 };
    int *last, there;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last, &there);
    const int of_one = *last / TAGS < MOST ? *last / TAGS : MOST;
    return PLANS / of_one + 2;
}

static void plans_may_be_many(void)
{
    begin();
    MPI_Comm line = make_line();
    if (make_all(line, PLANS)) {
        CHECK(duplicates >= 1 && duplicates <= most_duplicates());
        exchange_some(PLANS);
        /* Plans need the program's communicator only when they are made. */
        MPI_Comm_free(&line);
        exchange_some(PLANS);
        free_all(PLANS);
    }
    end();
}

static void tags_may_be_few(void)
{
    enum { COUNT = 1000, ONES = 400 };
    begin();
    few_tags = true;
    MPI_Comm line = make_line();
    if (make_all(line, COUNT)) {
        CHECK(duplicates >= 3 && duplicates <= 5);
        exchange_some(COUNT);
        free_all(COUNT);
    }
    /* Their tags are given again, so that no more duplicates are needed for as many. */
    const int before = duplicates;
    CHECK(make_all(line, COUNT));
    exchange_some(COUNT);
    free_all(COUNT);
    for (int k = 0; k < ONES; ++k) {
        CHECK_OK(make(line, 0));
        CHECK_OK(meta_halo_free(&plan[0]));
    }
    CHECK_INT(duplicates, before);
    few_tags = false;
    MPI_Comm_free(&line);
    end();
}

/* A plan in which each rank but the last sends to the next one. */
static meta_err make_one_way(MPI_Comm line)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    desc.cart = line;
    desc.box = (meta_box){1, {CELLS + 1}, {1}, {CELLS + 1}};
    desc.low[0] = 1;
    desc.type = META_I32;
    return meta_halo_create(&plan[0], &desc);
}

/* The sender begins one exchange more than the receiver: the next plan with these tags does not
 * meet what it sent. */
static void what_was_not_received_is_not_met(void)
{
    enum { ONES = 700 };
    const int periodic = 0;
    MPI_Comm line;
    begin();
    few_tags = true;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &line);
    for (int k = 0; k < ONES && CHECK_OK(make_one_way(line)); ++k) {
        set(k, 0);
        CHECK_OK(meta_halo_exchange(plan[0], &u[0], NULL));
        CHECK_INT(((int32_t *)u[0])[0],
                  test_rank == 0 ? -1 : value_of(test_rank - 1, k, CELLS - 1));
        if (test_rank == 0) CHECK_OK(meta_halo_exchange(plan[0], &u[0], NULL));
        CHECK_OK(meta_halo_free(&plan[0]));
    }
    few_tags = false;
    MPI_Comm_free(&line);
    end();
}

/* ------------------------------------------------------------------ threads */

enum { THREADS = 4, OF_EACH = 100 };

/* A thread's plans end in the same order on all ranks, those of different threads in any. */
static void *free_some(void *first)
{
    for (int k = 0; k < OF_EACH; ++k) CHECK_OK(meta_halo_free((meta_halo *)first + k));
    return NULL;
}

static void threads_free_their_plans_in_any_order(void)
{
    pthread_t thread[THREADS];
    MPI_Comm line = make_line();
    begin();
    CHECK(make_all(line, THREADS * OF_EACH));
    exchange_some(THREADS * OF_EACH);
    for (int t = 0; t < THREADS; ++t) {
        const int of = test_rank % 2 == 0 ? t : THREADS - 1 - t;
        pthread_create(&thread[t], NULL, free_some, plan + (ptrdiff_t)of * OF_EACH);
    }
    for (int t = 0; t < THREADS; ++t) pthread_join(thread[t], NULL);
    MPI_Comm_free(&line);
    end();
}

/* ------------------------------------------------------------------ communicators */

/* With all communicators that MPI has in the program's hands; one given back is enough. */
static void a_communicator_too_much_is_an_error(void)
{
    enum { MOST = 4000 };
    static MPI_Comm own[MOST];
    int count = 0;
    MPI_Comm line = make_line();
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (count < MOST && MPI_Comm_dup(MPI_COMM_WORLD, &own[count]) == MPI_SUCCESS) ++count;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (count < MOST) { /* Open MPI has 65532 */
        CHECK_ERR_NAMES(make(line, 0), META_ERR_MPI, "communicator");
        MPI_Comm_free(&own[--count]);
    }
    CHECK_OK(make(line, 0));
    CHECK_OK(make(line, 1));
    CHECK(exchange_two(0, 1));
    CHECK_OK(meta_halo_free(&plan[0]));
    CHECK_OK(meta_halo_free(&plan[1]));
    while (count > 0) MPI_Comm_free(&own[--count]);
    MPI_Comm_free(&line);
    end();
}

static void start(int *argc, char ***argv)
{
    int granted;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &granted);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    test_require(meta_comm_init(argc, argv));
}

static const test_setting setting = {start, test_mpi_worst, test_comm_end};

TEST_MAIN_WITH(&setting, PROMISE(plans_may_be_many), PROMISE(tags_may_be_few),
               PROMISE(what_was_not_received_is_not_met),
               PROMISE(threads_free_their_plans_in_any_order),
               PROMISE(a_communicator_too_much_is_an_error))
