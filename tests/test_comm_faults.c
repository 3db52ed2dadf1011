/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_faults.c
 *  MPI fails, one call at a time: each call of each function that the library makes while it joins
 * a job, makes, uses and frees a plan, sends, receives, reduces, cuts a grid and moves its cells,
 * on all ranks alike or on one alone. Every time there is an error that names the function, nothing
 * is left behind that ranks do not free together, no other rank waits longer than META_TIMEOUT, and
 * the library goes on; after META_ERR_PEER once it has left the job and joined it again. */
/* TEST: backends=openmp np=2 labels=comm */
/* TEST: backends=openmp np=1,3 labels=comm long=yes */
/* TEST: backends=opencl np=2 mixed=yes labels=comm long=yes */
#include "test_mpi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi_fault.h"

enum { CELLS = 600 };
static const size_t bytes = (CELLS + 2) * sizeof(int64_t);

/* ------------------------------------------------------------------ what is done */

typedef struct scene {
    MPI_Comm ring, copy; /* a copy has no history of cuts */
    meta_halo plan;
    void *u, *packed;
    bool joined;
    int reached; /* calls of the library that succeeded within a phase, where an error ends it */
} scene;

/* A part of a program's life; `act` is where MPI fails, and returns its first error. */
typedef struct phase {
    const char *name;
    void (*prepare)(scene *s);
    meta_err (*act)(scene *s);
    void (*clean)(scene *s);
} phase;

static int left(void)
{
    return (test_rank + test_size - 1) % test_size;
}

static int right(void)
{
    return (test_rank + 1) % test_size;
}

static meta_err first_of(meta_err first, meta_err second)
{
    return first != META_OK ? first : second;
}

static void make_ring(scene *s)
{
    const int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &s->ring);
}

/* The duplicate that plans share ends with the ring. */
static void change_ring(scene *s)
{
    MPI_Comm_free(&s->ring);
    make_ring(s);
}

static meta_err make_plan(scene *s)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    desc.cart = s->ring;
    desc.box = (meta_box){1, {CELLS + 2}, {1}, {CELLS + 1}};
    desc.low[0] = desc.high[0] = 1;
    desc.type = META_I64;
    return meta_halo_create(&s->plan, &desc);
}

static void have_plan(scene *s)
{
    CHECK_OK(make_plan(s));
}

static bool has_plan(const scene *s)
{
    const meta_halo none = META_HALO_NULL;
    return memcmp(&s->plan, &none, sizeof none) != 0;
}

static void have_no_plan(scene *s)
{
    if (has_plan(s)) CHECK_OK(meta_halo_free(&s->plan));
    s->plan = (meta_halo)META_HALO_NULL;
}

static void fill(scene *s, int64_t value)
{
    CHECK_OK(meta_fill(s->u, CELLS + 2, &value, META_I64, NULL));
}

static void check_ghosts(scene *s, int64_t step)
{
    int64_t found[CELLS + 2];
    CHECK_OK(meta_copy_d2h(found, s->u, bytes, NULL));
    CHECK_INT(found[0], 10 * step + left());
    CHECK_INT(found[1], 10 * step + test_rank);
    CHECK_INT(found[CELLS + 1], 10 * step + right());
}

/* A blocking exchange and one with an event; ghosts are right whenever it says so. */
static meta_err exchange_twice(scene *s)
{
    meta_event done = META_EVENT_NULL;
    meta_err error;
    fill(s, 10 + test_rank);
    error = meta_halo_exchange(s->plan, &s->u, NULL);
    if (error != META_OK) return error;
    s->reached = 1;
    check_ghosts(s, 1);
    fill(s, 20 + test_rank);
    error = meta_halo_exchange(s->plan, &s->u, &done);
    if (error != META_OK) return error;
    error = meta_event_wait(done);
    if (error == META_OK) check_ghosts(s, 2);
    CHECK_OK(meta_event_free(&done));
    return error;
}

/* A plan that was made all the same is one. */
static void use_plan(scene *s)
{
    if (has_plan(s)) CHECK_OK(exchange_twice(s));
    have_no_plan(s);
}

static meta_err free_plan(scene *s)
{
    return meta_halo_free(&s->plan);
}

/* Around the ring, so that each rank sends and receives. */
static meta_err pass_messages(scene *s)
{
    const int64_t mine = 7 + test_rank;
    int64_t found = 0;
    meta_event sent = META_EVENT_NULL;
    meta_err error;
    CHECK_OK(meta_fill(s->packed, CELLS, &mine, META_I64, NULL));
    error = meta_packed_send(right(), s->packed, CELLS, META_I64, 3, &sent);
    if (error == META_OK) error = meta_event_wait(sent);
    CHECK_OK(meta_event_free(&sent));
    const meta_err received = meta_packed_recv(left(), s->u, CELLS, META_I64, 3, NULL);
    if (received == META_OK) {
        CHECK_OK(meta_copy_d2h(&found, s->u, sizeof found, NULL));
        CHECK_INT(found, 7 + left());
    }
    /* A rank that was lost counts more than what went before. */
    const meta_err flushed = meta_flush();
    if (received == META_ERR_PEER || flushed == META_ERR_PEER) return META_ERR_PEER;
    return first_of(first_of(error, received), flushed);
}

static meta_err reduce(scene *s)
{
    double x[2] = {test_rank, 1}, sum[2] = {-1, -1};
    int64_t n = test_rank, most = -1;
    meta_err error = meta_allreduce(sum, x, 2, META_SUM, META_F64, NULL);
    if (error != META_OK) return error;
    s->reached = 1;
    CHECK_NEAR(sum[1], test_size, 0);
    error = meta_allreduce(&most, &n, 1, META_MAX, META_I64, NULL);
    if (error == META_OK) CHECK_INT(most, test_size - 1);
    return error;
}

static meta_err no_work_on_box(const meta_box *box, void *with)
{
    (void)box, (void)with;
    return META_OK;
}

/* Two exchanges of different arrays at once, and one beside work. */
static meta_err exchange_beside_others(scene *s)
{
    meta_exchange first, second;
    fill(s, 10 + test_rank);
    meta_err error = meta_halo_begin(s->plan, &s->u, &first);
    if (error != META_OK) return error;
    error = meta_halo_begin(s->plan, &s->packed, &second);
    if (error == META_OK) error = meta_halo_end(&second, NULL);
    const meta_err ended = meta_halo_end(&first, NULL);
    if (error != META_OK || ended != META_OK) return first_of(ended, error); /* the plan's state */
    s->reached = 1;
    check_ghosts(s, 1);
    fill(s, 20 + test_rank);
    error = meta_halo_overlap(s->plan, &s->u, no_work_on_box, no_work_on_box, NULL, NULL);
    if (error == META_OK) check_ghosts(s, 2);
    return error;
}

/* Even cuts, found and then proposed again, and the cells moved to others and back. */
static meta_err cut_and_move(scene *s)
{
    enum { MOST_RANKS = 8 };
    int64_t at[MOST_RANKS + 1], next_at[MOST_RANKS + 1], odd_at[MOST_RANKS + 1], cells = 0;
    const meta_cuts cuts = {{at}}, next = {{next_at}}, odd = {{odd_at}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    desc.cart = s->ring;
    desc.cells[0] = CELLS;
    meta_err error = meta_decompose(&cuts, &desc, NULL);
    s->reached = error == META_OK;
    if (error == META_OK) error = meta_cuts_block(&cuts, s->ring, test_rank, NULL, &cells);
    if (error == META_OK) error = meta_rebalance(&next, &cuts, &desc, 1, NULL, NULL);
    if (error != META_OK) return error;
    s->reached = 2;
    for (int k = 0; k <= test_size; ++k) odd_at[k] = at[k] + (k > 0 && k < test_size);
    const int64_t then = odd_at[test_rank + 1] - odd_at[test_rank];
    const meta_redistribute_field field = {.type = META_I64,
                                           .from = s->u,
                                           .from_box = {1, {cells}, {0}, {cells}},
                                           .to = s->packed,
                                           .to_box = {1, {then}, {0}, {then}}};
    return meta_redistribute(s->ring, &cuts, &odd, 1, &field);
}

static void have_copy(scene *s)
{
    MPI_Comm_dup(s->ring, &s->copy);
}

static void have_no_copy(scene *s)
{
    MPI_Comm_free(&s->copy);
}

/* The first call, which makes a history of cuts, and one that finds it. */
static meta_err balance_twice(scene *s)
{
    enum { MOST_RANKS = 8 };
    int64_t at[MOST_RANKS + 1], next_at[MOST_RANKS + 1];
    const meta_cuts cuts = {{at}}, next = {{next_at}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    const double seconds = 1 + test_rank;
    double gain = -1;
    desc.cart = s->copy;
    desc.cells[0] = CELLS;
    for (int k = 0; k <= test_size; ++k) at[k] = (int64_t)CELLS * k / test_size;
    meta_err error = meta_balance(&next, &cuts, &desc, seconds, seconds, &gain);
    s->reached = error == META_OK;
    if (error == META_OK) error = meta_balance(&next, &cuts, &desc, seconds, seconds, &gain);
    if (error == META_OK) CHECK(test_size > 1 ? gain > 0 : gain == 0);
    return error;
}

static meta_err no_work(void *with)
{
    (void)with;
    return META_OK;
}

static meta_err measure(scene *s)
{
    double speed = 0;
    const meta_err error = meta_measure_speed(s->ring, no_work, NULL, 1, 1, &speed);
    if (error == META_OK) CHECK(speed > 0);
    return error;
}

/* The test's own buffers, and its plan, are of the library's life, and go with it. */
static meta_err leave(scene *s)
{
    meta_err error = META_OK;
    if (s->u) CHECK_OK(meta_free(s->u));
    if (s->packed) CHECK_OK(meta_free(s->packed));
    s->u = s->packed = NULL;
    s->plan = (meta_halo)META_HALO_NULL;
    if (s->joined) error = meta_comm_finalize();
    s->joined = false;
    return error;
}

static meta_err join(scene *s)
{
    const meta_err error = meta_comm_init(NULL, NULL);
    s->joined = error == META_OK;
    if (!s->joined) return error;
    CHECK_OK(meta_alloc(&s->u, bytes));
    CHECK_OK(meta_alloc(&s->packed, bytes));
    return META_OK;
}

/* The message of an error after which further calls failed as well; empty: meta_last_error() has
 * it. */
static char first_message[512];

/* Leave, then join. A rank where MPI failed in the first may come to the second before the others
 * have given it up. */
static meta_err live_again(scene *s)
{
    const meta_err error = leave(s);
    if (error != META_OK) snprintf(first_message, sizeof first_message, "%s", meta_last_error());
    return first_of(error, join(s));
}

static void be_joined(scene *s)
{
    if (!s->joined) CHECK_OK(join(s));
}

static void nothing(scene *s)
{
    (void)s;
}

static const phase phases[] = {
    {"making a plan", nothing, make_plan, use_plan},
    {"exchanging", have_plan, exchange_twice, have_no_plan},
    {"freeing a plan", have_plan, free_plan, have_no_plan},
    {"passing messages", nothing, pass_messages, nothing},
    {"reducing", nothing, reduce, nothing},
    {"leaving and joining", nothing, live_again, be_joined},
    {"leaving with a plan left and joining", have_plan, live_again, be_joined},
    /* In a long run: */
    {"exchanging beside others", have_plan, exchange_beside_others, have_no_plan},
    {"balancing a grid", have_copy, balance_twice, have_no_copy},
    {"cutting a grid and moving its cells", nothing, cut_and_move, nothing},
    {"measuring speeds", nothing, measure, nothing},
};
enum {
    PHASES = sizeof phases / sizeof *phases,
    FEW_PHASES = PHASES - 4,
    MOVING = PHASES - 2,
    MEASURING
};

static int phases_now(void)
{
    return test_long() ? PHASES : FEW_PHASES;
}

/* ------------------------------------------------------------------ one failure */

typedef struct failure {
    const phase *during;
    int function;
    int64_t n;
    int rank; /* or -1: on all */
} failure;

static int64_t most_of_all(int64_t mine)
{
    int64_t most = 0;
    MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void count_objects(int64_t objects[MPI_OBJECT_COUNT])
{
    for (int k = 0; k < MPI_OBJECT_COUNT; ++k) objects[k] = mpi_objects((mpi_object)k);
}

/* By which neighbours tell each other that a plan or a move ends. */
static bool ends_plans(const char *name)
{
    return strcmp(name, "MPI_Isend") == 0 || strcmp(name, "MPI_Iprobe") == 0 ||
           strcmp(name, "MPI_Irecv") == 0 || strcmp(name, "MPI_Get_count") == 0 ||
           strncmp(name, "MPI_Test", 8) == 0;
}

/* By which ranks meet and agree. */
static bool agrees(const char *name)
{
    return strcmp(name, "MPI_Comm_rank") == 0 || strcmp(name, "MPI_Iallreduce") == 0 ||
           strcmp(name, "MPI_Ibcast") == 0 || strcmp(name, "MPI_Ibarrier") == 0 ||
           strcmp(name, "MPI_Comm_idup") == 0 || strcmp(name, "MPI_Iallgather") == 0;
}

/* A request that cannot be tested any more, a collective one above all, cannot be given back; and
 * what ranks free together is left to MPI where they cannot agree to do so. */
static void check_objects(const int64_t before[MPI_OBJECT_COUNT], const failure *f)
{
    const char *name = mpi_function_name(f->function);
    const bool completes = strncmp(name, "MPI_Test", 8) == 0 || strncmp(name, "MPI_Wait", 8) == 0,
               frees = f->during->act == free_plan || f->during->act == live_again;
    if (frees && (agrees(name) || ends_plans(name))) return;
    /* The failure may come while what is left of a move is received. */
    if (f->during->act == cut_and_move && ends_plans(name)) return;
    for (int k = 0; k < MPI_OBJECT_COUNT; ++k) {
        const int64_t now = mpi_objects((mpi_object)k);
        if (completes && k == MPI_OBJECT_REQUEST) continue;
        if (now != before[k])
            FAIL("there are %" PRId64 " %s, and were %" PRId64, now, mpi_object_name((mpi_object)k),
                 before[k]);
    }
}

/* The library as a program meets it that knows of no failure. */
static void check_usable(scene *s)
{
    have_plan(s);
    CHECK_OK(exchange_twice(s));
    have_no_plan(s);
    CHECK_OK(pass_messages(s));
    CHECK_OK(reduce(s));
}

/* What frees has freed even so. A plan can do without shared memory, and says so on the log. A
 * message that nobody will receive may stay where it is when a job is left. */
static bool may_be_overlooked(const failure *f)
{
    const char *name = mpi_function_name(f->function), *shared = getenv("META_SHARED");
    if (f->during->act == make_plan && shared && strcmp(shared, "auto") == 0 && agrees(name))
        return true;
    return strstr(name, "_free") || strstr(name, "_delete_") || strstr(name, "MPI_Win_") ||
           strstr(name, "MPI_Info_") || strcmp(name, "MPI_Cancel") == 0 ||
           (f->during->act == live_again && strcmp(name, "MPI_Iprobe") == 0);
}

/* The error of this rank, the worst of all, and whether the failure came anywhere. */
static void check_error(const failure *f, meta_err mine, int64_t worst, bool came)
{
    const char *message = *first_message ? first_message : meta_last_error();
    if (mine != META_OK && mine != META_ERR_PEER && mine != META_ERR_MPI)
        FAIL("%s, for a failure of MPI; message: %s", meta_strerror(mine), message);
    if (mine == META_ERR_MPI) CHECK_CONTAINS(message, mpi_function_name(f->function));
    if (came && worst == META_OK && !may_be_overlooked(f)) FAIL("MPI failed, and no rank was told");
    if (!came && mine != META_OK)
        FAIL("%s, and MPI had not failed; message: %s", meta_strerror(mine), message);
}

/* MPI failed before it found the message, which would meet the next receive. */
static bool leaves_message(const failure *f)
{
    return f->during->act == pass_messages &&
           strcmp(mpi_function_name(f->function), "MPI_Iprobe") == 0;
}

/* What polls is called unequally often: on one rank it may fail in a call that the other has behind
 * it. */
static bool out_of_step(const scene *s)
{
    return most_of_all(s->reached) != -most_of_all(-s->reached);
}

static void fail_once(scene *s, const failure *f)
{
    int64_t before[MPI_OBJECT_COUNT];
    test_case("%s fails at call %" PRId64 " while %s, on %s", mpi_function_name(f->function), f->n,
              f->during->name, f->rank < 0 ? "all ranks" : "the last rank");
    change_ring(s);
    count_objects(before);
    f->during->prepare(s);
    if (f->rank < 0 || f->rank == test_rank) mpi_fault_arm(f->function, f->n);
    *first_message = '\0';
    s->reached = 0;
    const meta_err mine = f->during->act(s);
    const bool came = most_of_all(mpi_fault_disarm());
    const int64_t worst = most_of_all(mine);
    const bool lost = most_of_all(mine == META_ERR_PEER) || out_of_step(s);
    check_error(f, mine, worst, came);
    if (lost || leaves_message(f)) {
        leave(s);     /* as well as it can */
        make_ring(s); /* in the old one ranks may have called MPI unequally often */
        be_joined(s);
    } else {
        f->during->clean(s);
        change_ring(s);
        check_objects(before, f);
    }
    check_usable(s);
}

/* ------------------------------------------------------------------ all failures */

/* How often the phase calls a function, on the rank that does so most often. */
static void count_calls(scene *s, const phase *p, int64_t *calls)
{
    change_ring(s);
    p->prepare(s);
    mpi_calls_forget();
    CHECK_OK(p->act(s));
    for (int k = 0; k < mpi_functions(); ++k) calls[k] = mpi_calls(k);
    p->clean(s);
    for (int k = 0; k < mpi_functions(); ++k) calls[k] = most_of_all(calls[k]);
}

/* How often what polls is called says nothing. */
static bool polls(int function)
{
    const char *name = mpi_function_name(function);
    return strncmp(name, "MPI_Test", 8) == 0 || strcmp(name, "MPI_Iprobe") == 0 ||
           strcmp(name, "MPI_Request_get_status") == 0;
}

static bool broken_anywhere(void)
{
    return most_of_all(test_failures() > 0);
}

static int64_t fail_at_each_call(scene *s, const phase *p, int64_t *tried)
{
    int64_t calls[256], failed_before = test_failures();
    if (!CHECK(mpi_functions() <= 256)) return 0;
    count_calls(s, p, calls);
    for (int k = 0; k < mpi_functions(); ++k) {
        const int64_t most = test_count(4, 30), few = polls(k) ? 2 : most;
        for (int64_t n = 1; n <= calls[k] && n <= few && !broken_anywhere(); ++n, ++*tried)
            fail_once(s, &(failure){p, k, n, -1});
    }
    return test_failures() - failed_before;
}

/* With shared memory between the ranks, and with messages. */
static void begin(scene *s, const char *shared)
{
    *s = (scene){.plan = META_HALO_NULL};
    setenv("META_SHARED", shared, 1);
    setenv("META_TIMEOUT", "2", 1);
    make_ring(s);
    test_require(join(s));
}

static void end(scene *s)
{
    CHECK_OK(leave(s));
    MPI_Comm_free(&s->ring);
    unsetenv("META_TIMEOUT");
    unsetenv("META_SHARED");
}

static void a_failure_of_mpi_on_all_ranks_is_an_error_and_no_more(void)
{
    static const char *const shared[] = {"auto", "off"};
    for (int k = 0; k < 2 && !broken_anywhere(); ++k) {
        scene s;
        int64_t tried = 0;
        begin(&s, shared[k]);
        for (int p = 0; p < phases_now(); ++p) fail_at_each_call(&s, &phases[p], &tried);
        CHECK(tried > 20);
        end(&s);
    }
}

static int number_of(const char *name)
{
    int function = 0;
    while (strcmp(mpi_function_name(function), name) != 0) ++function;
    return function;
}

/* A rank that has begun takes part in the vote behind it; one that has not keeps the others out of
 * it. */
static void a_failure_while_a_communicator_is_duplicated_keeps_nobody(void)
{
    const bool last = test_rank == test_size - 1;
    double speed = -1;
    scene s;
    begin(&s, "off");
    if (last) mpi_fault_arm(number_of("MPI_Test"), 1);
    CHECK_ERR(meta_measure_speed(s.ring, no_work, NULL, 1, 1, &speed), META_ERR_MPI);
    CHECK_CONTAINS(meta_last_error(), "MPI_Test");
    if (last) CHECK(mpi_fault_disarm());
    CHECK_OK(meta_measure_speed(s.ring, no_work, NULL, 1, 1, &speed));
    CHECK(speed > 0);
    speed = -1;
    if (last) mpi_fault_arm(number_of("MPI_Comm_idup"), 1);
    CHECK_ERR(meta_measure_speed(s.ring, no_work, NULL, 1, 1, &speed),
              last ? META_ERR_MPI : META_ERR_PEER);
    if (last) CHECK_CONTAINS(meta_last_error(), "MPI_Comm_idup");
    if (last) CHECK(mpi_fault_disarm());
    CHECK(speed == -1);
    leave(&s);
    make_ring(&s);
    be_joined(&s);
    CHECK_OK(meta_measure_speed(s.ring, no_work, NULL, 1, 1, &speed));
    CHECK(speed > 0);
    end(&s);
}

/* Nor do they meet the plan that is made next, as check_usable() makes one. */
static void cells_whose_move_failed_are_dropped(void)
{
    scene s;
    if (test_size == 1) return;
    begin(&s, "off");
    fail_once(&s, &(failure){&phases[MOVING], number_of("MPI_Irecv"), 1, -1});
    fail_once(&s, &(failure){&phases[MOVING], number_of("MPI_Isend"), 1, test_size - 1});
    end(&s);
}

/* It takes no part in a vote while the others wait for it elsewhere. */
static void a_rank_that_cannot_meet_the_others_says_why(void)
{
    scene s;
    if (test_size == 1) return;
    begin(&s, "off");
    fail_once(&s, &(failure){&phases[MEASURING], number_of("MPI_Ibarrier"), 1, test_size - 1});
    end(&s);
}

/* The last rank comes late to one call after the other, for each of which the others have all the
 * time: a call may give it up only if it has itself lasted that long. */
static void what_begins_now_has_not_waited_yet(void)
{
    const struct timespec late = {.tv_sec = 1, .tv_nsec = 300000000};
    meta_err error = META_OK;
    scene s;
    begin(&s, "off");
    for (int call = 0; call < 3 && error == META_OK; ++call) {
        if (test_rank == test_size - 1) nanosleep(&late, NULL);
        const double began = MPI_Wtime();
        error = call == 0 ? make_plan(&s) : meta_halo_exchange(s.plan, &s.u, NULL);
        test_case("call %d, which lasted %g s", call, MPI_Wtime() - began);
        if (error != META_OK) CHECK_INT(error, META_ERR_PEER);
        if (error != META_OK) CHECK(MPI_Wtime() - began >= 2);
        error = (meta_err)most_of_all(error);
    }
    if (error == META_OK) {
        have_no_plan(&s);
        end(&s);
    } else {
        leave(&s);
        MPI_Comm_free(&s.ring);
    }
}

/* Those in which MPI itself keeps the other ranks, and those asked whether it can be called at all.
 */
static bool blocks_in_mpi(int function)
{
    static const char *const names[] = {"MPI_Allgather", "MPI_Allreduce",  "MPI_Alltoall",
                                        "MPI_Barrier",   "MPI_Bcast",      "MPI_Cart_create",
                                        "MPI_Comm_dup",  "MPI_Gather",     "MPI_Reduce",
                                        "MPI_Finalized", "MPI_Initialized"};
    const char *name = mpi_function_name(function);
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (strcmp(name, names[k]) == 0) return true;
    return strncmp(name, "MPI_Comm_split", 14) == 0 || strncmp(name, "MPI_Comm_create", 15) == 0 ||
           strncmp(name, "MPI_Win_allocate", 16) == 0 || strcmp(name, "MPI_Win_create") == 0;
}

/* The others have begun to duplicate the one communicator over which all could join again. */
static bool keeps_from_joining(const failure *f)
{
    return f->during->act == live_again &&
           strcmp(mpi_function_name(f->function), "MPI_Comm_idup") == 0;
}

/* The others get the same error where ranks agree on it, or wait in vain. */
static void a_failure_of_mpi_on_one_rank_keeps_nobody(void)
{
    static const char *const shared[] = {"off", "auto"};
    const int64_t cases = test_count(3, 40);
    for (int k = 0; k < 2 && test_size > 1 && !broken_anywhere(); ++k) {
        int64_t calls[PHASES][256];
        scene s;
        begin(&s, shared[k]);
        for (int p = 0; p < phases_now(); ++p) count_calls(&s, &phases[p], calls[p]);
        for (int64_t done = 0; done < cases && !broken_anywhere();) {
            const int p = (int)test_random_in(0, phases_now() - 1);
            const int function = (int)test_random_in(0, mpi_functions() - 1);
            if (calls[p][function] == 0 || blocks_in_mpi(function)) continue;
            const int64_t most = polls(function) ? 1 : calls[p][function];
            const failure f = {&phases[p], function, test_random_in(1, most), test_size - 1};
            if (keeps_from_joining(&f)) continue;
            fail_once(&s, &f);
            ++done;
        }
        end(&s);
    }
}

TEST_MPI_MAIN(PROMISE(a_failure_of_mpi_on_all_ranks_is_an_error_and_no_more),
              PROMISE(a_failure_of_mpi_on_one_rank_keeps_nobody),
              PROMISE(cells_whose_move_failed_are_dropped),
              PROMISE(a_rank_that_cannot_meet_the_others_says_why),
              PROMISE(a_failure_while_a_communicator_is_duplicated_keeps_nobody),
              PROMISE(what_begins_now_has_not_waited_yet))
