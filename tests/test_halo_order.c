/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_halo_order.c
 *  Order of an exchange relative to work queued before and after it and to other plans in
 *  flight. The back end "late" (tests/plugins/late.c) delays its work as long as possible; the
 *  same on a blocked device: test_halo_order_opencl.c. */
/* TEST: backends=none auto=yes np=2 labels=comm */
/* TEST: backends=all,late np=1,2,3 mixed=yes labels=comm */
#include "test_mpi.h"

static void start(int *argc, char ***argv)
{
    test_find_own_plugins();
    test_comm_start(argc, argv);
}

static const test_setting setting = {start, test_mpi_worst, test_comm_end};

/* One ghost cell at each side, as i64. */
static meta_halo plan_over(MPI_Comm line, int64_t cells)
{
    meta_halo_desc desc = META_HALO_DESC_INIT;
    meta_halo plan = META_HALO_NULL;
    desc.cart = line;
    desc.box = (meta_box){1, {cells + 2}, {1}, {cells + 1}};
    desc.low[0] = desc.high[0] = 1;
    desc.type = META_I64;
    CHECK_OK(meta_halo_create(&plan, &desc));
    return plan;
}

/* The same over a line of ranks. */
static meta_halo line_plan(MPI_Comm *cart, int periodic, int64_t cells)
{
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, cart);
    return plan_over(*cart, cells);
}

static void work_queued_around_an_exchange_is_ordered_with_it(void)
{
    enum { CELLS = 1000 };
    const int64_t left = (test_rank + test_size - 1) % test_size,
                  right = (test_rank + 1) % test_size;
    meta_box all = {1, {CELLS + 2}, {0}, {CELLS + 2}}, ghosts = all;
    int64_t low = 0, high = 0;
    MPI_Comm cart;
    void *u;
    const meta_halo plan = line_plan(&cart, 1, CELLS);
    if (!CHECK_OK(meta_alloc(&u, (CELLS + 2) * sizeof(int64_t)))) return;
    for (int64_t step = 0; step < 50; ++step) {
        const int64_t mine = step * 1000 + test_rank;
        CHECK_OK(meta_fill_box(u, &all, &mine, META_I64, META_ASYNC));
        CHECK_OK(meta_halo_exchange(plan, &u, META_ASYNC));
        ghosts.start[0] = 0, ghosts.end[0] = 1;
        CHECK_OK(meta_reduce(&low, u, &ghosts, META_SUM, META_I64, META_ASYNC));
        ghosts.start[0] = CELLS + 1, ghosts.end[0] = CELLS + 2;
        CHECK_OK(meta_reduce(&high, u, &ghosts, META_SUM, META_I64, NULL));
        CHECK_INT(low, step * 1000 + left);
        CHECK_INT(high, step * 1000 + right);
    }
    CHECK_OK(meta_flush());
    meta_halo done_with = plan;
    CHECK_OK(meta_halo_free(&done_with));
    CHECK_OK(meta_free(u));
    MPI_Comm_free(&cart);
}

/* Rank 0's finish returns although its neighbour has not begun: an event does not block. */
static void a_finish_with_an_event_does_not_wait_for_neighbours(void)
{
    meta_event done = META_EVENT_NULL;
    MPI_Comm cart;
    void *u;
    int word = 0;
    const meta_halo plan = line_plan(&cart, 1, 10);
    if (!CHECK_OK(meta_alloc(&u, 12 * sizeof(int64_t)))) return;
    if (test_rank > 0)
        MPI_Recv(&word, 1, MPI_INT, test_rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_OK(meta_halo_start(plan, &u));
    CHECK_OK(meta_halo_finish(plan, &done));
    if (test_rank + 1 < test_size) MPI_Send(&word, 1, MPI_INT, test_rank + 1, 1, MPI_COMM_WORLD);
    CHECK_OK(meta_event_wait(done));
    CHECK_OK(meta_event_free(&done));
    meta_halo done_with = plan;
    CHECK_OK(meta_halo_free(&done_with));
    CHECK_OK(meta_free(u));
    MPI_Comm_free(&cart);
}

/* Every rank but the first begins its exchange only when the first has done its work on another
 * array: if that waited for the neighbours' ghosts, it would wait for ever. Each ends behind a
 * barrier of MPI's own. */
static void work_on_other_arrays_does_not_wait_for_an_exchange(void)
{
    enum { CELLS = 100 };
    const int64_t value = 10 + test_rank;
    const meta_box all = {1, {CELLS + 2}, {0}, {CELLS + 2}}, ghost = {1, {CELLS + 2}, {0}, {1}};
    int64_t sum = 0, low = 0;
    double host[4] = {0};
    MPI_Comm cart;
    void *u, *other;
    meta_halo plan = line_plan(&cart, 1, CELLS);
    if (!CHECK_OK(meta_alloc(&u, (CELLS + 2) * sizeof(int64_t))) ||
        !CHECK_OK(meta_alloc(&other, (CELLS + 2) * sizeof(int64_t))))
        return;
    CHECK_OK(meta_fill_box(u, &all, &value, META_I64, NULL));
    CHECK_OK(meta_fill_box(other, &all, &value, META_I64, NULL));
    if (test_rank == 0) {
        CHECK_OK(meta_halo_exchange(plan, &u, META_ASYNC));
        CHECK_OK(meta_fill_box(other, &ghost, &value, META_I64, META_ASYNC));
        CHECK_OK(meta_reduce(&sum, other, &all, META_SUM, META_I64, NULL));
        CHECK_OK(meta_copy_d2h(host, other, sizeof host, NULL));
        CHECK_INT(sum, value * (CELLS + 2));
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(meta_halo_exchange(plan, &u, META_ASYNC));
    }
    CHECK_OK(meta_reduce(&low, u, &ghost, META_SUM, META_I64, NULL));
    CHECK_INT(low, 10 + (test_rank + test_size - 1) % test_size);
    CHECK_OK(meta_halo_free(&plan));
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(other));
    MPI_Comm_free(&cart);
}

static void exchanges_of_several_plans_are_in_flight_at_once(void)
{
    enum { PLANS = 5, CELLS = 20 };
    meta_halo plan[PLANS];
    meta_event done[PLANS];
    MPI_Comm cart[PLANS];
    void *u[PLANS];
    for (int k = 0; k < PLANS; ++k) {
        const int64_t mine = 10 * test_rank + k;
        plan[k] = line_plan(&cart[k], 1, CELLS);
        CHECK_OK(meta_alloc(&u[k], (CELLS + 2) * sizeof(int64_t)));
        CHECK_OK(meta_fill(u[k], CELLS + 2, &mine, META_I64, META_ASYNC));
    }
    for (int k = 0; k < PLANS; ++k) CHECK_OK(meta_halo_start(plan[k], &u[k]));
    for (int k = PLANS - 1; k >= 0; --k) CHECK_OK(meta_halo_finish(plan[k], &done[k]));
    CHECK_OK(meta_event_waitall(PLANS, done));
    for (int k = 0; k < PLANS; ++k) {
        int64_t low = -1;
        CHECK_OK(meta_copy_d2h(&low, u[k], sizeof low, NULL));
        CHECK_INT(low, 10 * ((test_rank + test_size - 1) % test_size) + k);
        CHECK_OK(meta_event_free(&done[k]));
        CHECK_OK(meta_halo_free(&plan[k]));
        CHECK_OK(meta_free(u[k]));
        MPI_Comm_free(&cart[k]);
    }
}

/* Each rank begins with another one of two plans, and neither is waited for before the other. */
static void the_order_of_plans_may_differ_from_rank_to_rank(void)
{
    enum { CELLS = 20 };
    meta_halo plan[2];
    MPI_Comm cart[2];
    void *u[2];
    for (int k = 0; k < 2; ++k) {
        const int64_t mine = 10 * test_rank + k;
        plan[k] = line_plan(&cart[k], 1, CELLS);
        CHECK_OK(meta_alloc(&u[k], (CELLS + 2) * sizeof(int64_t)));
        CHECK_OK(meta_fill(u[k], CELLS + 2, &mine, META_I64, META_ASYNC));
    }
    for (int k = 0; k < 2; ++k) {
        const int which = (test_rank + k) % 2;
        CHECK_OK(meta_halo_exchange(plan[which], &u[which], META_ASYNC));
    }
    for (int k = 0; k < 2; ++k) {
        int64_t low = -1;
        CHECK_OK(meta_copy_d2h(&low, u[k], sizeof low, NULL));
        CHECK_INT(low, 10 * ((test_rank + test_size - 1) % test_size) + k);
        CHECK_OK(meta_halo_free(&plan[k]));
        CHECK_OK(meta_free(u[k]));
        MPI_Comm_free(&cart[k]);
    }
}

/* A message of rank 0 that its device has not loaded yet must still reach rank 1, which makes the
 * plan only afterwards. */
static void creating_a_plan_makes_progress_on_messages(void)
{
    enum { CELLS = 4 << 20 };
    const int periodic = 1;
    const double one = 1;
    MPI_Comm cart;
    void *u;
    if (!CHECK_OK(meta_alloc(&u, CELLS * sizeof(double)))) return;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &periodic, 0, &cart);
    if (test_rank == 0 && test_size > 1) {
        for (int k = 0; k < 5; ++k) CHECK_OK(meta_fill(u, CELLS, &one, META_F64, META_ASYNC));
        CHECK_OK(meta_packed_send(1, u, 10, META_F64, 0, META_ASYNC));
    } else if (test_rank == 1) {
        CHECK_OK(meta_packed_recv(0, u, 10, META_F64, 0, NULL));
    }
    meta_halo plan = plan_over(cart, 10);
    CHECK_OK(meta_halo_free(&plan));
    CHECK_OK(meta_free(u));
    MPI_Comm_free(&cart);
}

TEST_MAIN_WITH(&setting, PROMISE(work_queued_around_an_exchange_is_ordered_with_it),
               PROMISE(a_finish_with_an_event_does_not_wait_for_neighbours),
               PROMISE(work_on_other_arrays_does_not_wait_for_an_exchange),
               PROMISE(exchanges_of_several_plans_are_in_flight_at_once),
               PROMISE(the_order_of_plans_may_differ_from_rank_to_rank),
               PROMISE(creating_a_plan_makes_progress_on_messages))
