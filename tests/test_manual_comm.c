/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_manual_comm.c
 *  The examples of the manual pages of meta_comm.h, see test_manual_examples.c. */
/* TEST: backends=openmp np=1,2,3 mixed=yes labels=comm,documents */
#include "test_mpi.h"

#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (!CHECK_OK(call)) return;                                                               \
    } while (0)

/* EXAMPLE: meta_comm_init meta_comm_finalize meta_comm_rank */
static int run(int *argc, char ***argv)
{
    int rank, ranks;
    if (meta_comm_init(argc, argv)) { /* MPI, libmeta and this rank's device */
        fprintf(stderr, "%s\n", meta_last_error());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (meta_comm_rank(&rank, &ranks)) return 1;
    printf("rank %d of %d\n", rank, ranks);
    return meta_comm_finalize() ? 1 : 0;
}
/* END OF EXAMPLE */

/* MPI is initialized, and stays so. */
static void start(int *argc, char ***argv)
{
    test_mpi_start(argc, argv);
    test_require(meta_comm_init(argc, argv));
    CHECK_OK(meta_comm_finalize());
    CHECK_INT(run(argc, argv), 0);

    MPI_Comm comm = MPI_COMM_WORLD;
    /* EXAMPLE: meta_comm_attach */
    /* MPI is initialized by the program, and finalized by it after meta_comm_finalize(). */
    TRY(meta_comm_attach(comm));
    /* END OF EXAMPLE */
}

/* ------------------------------------------------------------------ messages */

static void messages_arrive(void)
{
    const meta_box box = {2, {6, 6}, {1, 1}, {5, 5}};
    void *packed, *other, *grid;
    const int right = (test_rank + 1) % test_size, left = (test_rank + test_size - 1) % test_size;
    const double mine = test_rank;
    double found = -1;
    TRY(meta_alloc(&grid, 36 * sizeof(double)));
    TRY(meta_alloc(&packed, 16 * sizeof(double)));
    TRY(meta_alloc(&other, 16 * sizeof(double)));
    TRY(meta_fill(grid, 36, &mine, META_F64, NULL));
    TRY(meta_fill(packed, 16, &mine, META_F64, NULL));
    {
        /* EXAMPLE: meta_packed_send meta_packed_recv */
        meta_event done;
        TRY(meta_packed_recv(left, other, 16, META_F64, 7, &done));
        TRY(meta_packed_send(right, packed, 16, META_F64, 7, META_ASYNC));
        TRY(meta_event_wait(done));
        TRY(meta_event_free(&done));
        /* END OF EXAMPLE */
    }
    CHECK_OK(meta_copy_d2h(&found, other, sizeof found, NULL));
    CHECK_NEAR(found, left, 0);
    {
        /* EXAMPLE: meta_pack_send meta_recv_unpack */
        /* A column of cells to the right, where it becomes ghosts; packed and other are buffers. */
        meta_face inner, ghosts;
        meta_event done;
        TRY(meta_face_slab(&inner, &box, 0, META_SLAB_HIGH, 1));
        TRY(meta_face_slab(&ghosts, &box, 0, META_SLAB_LOW_GHOST, 1));
        TRY(meta_recv_unpack(left, &ghosts, grid, other, META_F64, 8, &done));
        TRY(meta_pack_send(right, &inner, grid, packed, META_F64, 8, META_ASYNC));
        TRY(meta_event_wait(done));
        TRY(meta_event_free(&done));
        /* END OF EXAMPLE */
    }
    CHECK_OK(meta_copy_d2h(&found, (char *)grid + 6 * sizeof(double), sizeof found, NULL));
    CHECK_NEAR(found, left, 0);
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(grid));
    CHECK_OK(meta_free(packed));
    CHECK_OK(meta_free(other));
}

static void ranks_add_up(void)
{
    double sum = 2;
    /* EXAMPLE: meta_allreduce */
    TRY(meta_allreduce(&sum, &sum, 1, META_SUM, META_F64,
                       NULL)); /* sum may come from meta_reduce() */
    /* END OF EXAMPLE */
    CHECK_NEAR(sum, 2 * test_size, 0);
}

/* ------------------------------------------------------------------ halo plans */

static MPI_Comm cart;
static meta_box box;
static void *grid;
static meta_halo plan;

static void exchange_ghosts(void)
{
    int dims[3] = {0, 0, 0}, periodic[3] = {1, 1, 1};
    const int64_t cells[3] = {8, 8, 8};
    const int ghosts[3] = {1, 1, 1};
    const double one = 1;
    MPI_Dims_create(test_size, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &cart);
    TRY(meta_grid_alloc(&grid, &box, 3, cells, ghosts, ghosts, META_F64));
    {
        /* EXAMPLE: meta_halo_create meta_halo_exchange meta_halo meta_halo_desc meta_halo_kind */
        /* cart is a Cartesian communicator, box that of meta_grid_alloc() with one layer of ghosts.
         */
        const meta_halo_desc desc = META_HALO_DESC(cart, box, 1, META_HALO_FACES, 1, META_F64);
        TRY(meta_halo_create(&plan, &desc)); /* once */
        TRY(meta_fill_box(grid, &box, &one, META_F64, META_ASYNC));
        TRY(meta_halo_exchange(plan, &grid, NULL)); /* in each step */
        /* END OF EXAMPLE */
    }
    {
        /* EXAMPLE: meta_halo_start meta_halo_finish */
        TRY(meta_halo_start(plan, &grid));
        /* … work that does not write the grid, nor read its ghosts … */
        TRY(meta_halo_finish(plan, META_ASYNC)); /* later work sees the ghosts */
        /* END OF EXAMPLE */
    }
    double sum = 0;
    meta_box right = box;
    right.start[0] = box.end[0], right.end[0] = box.end[0] + 1;
    CHECK_OK(meta_reduce(&sum, grid, &right, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, 64, 0);
}

static void exchange_two_grids(void)
{
    void *a = grid, *b;
    TRY(meta_alloc(&b, (size_t)(box.size[0] * box.size[1] * box.size[2]) * sizeof(double)));
    /* EXAMPLE: meta_halo_begin meta_halo_end meta_exchange */
    meta_exchange first, second; /* of two arrays, by one plan, on every rank in this order */
    TRY(meta_halo_begin(plan, &a, &first));
    TRY(meta_halo_begin(plan, &b, &second));
    TRY(meta_halo_end(&second, NULL));
    TRY(meta_halo_end(&first, NULL));
    /* END OF EXAMPLE */
    CHECK_OK(meta_free(b));
}

/* EXAMPLE: meta_halo_overlap meta_halo_work */
typedef struct grids {
    void *now, *next;
} grids;

/* Called for boxes that together are the plan's own cells. */
static meta_err average(const meta_box *part, void *with)
{
    grids *g = with;
    return meta_stencil(g->next, g->now, part, META_3D7P, META_F64, NULL, META_ASYNC);
}

static meta_err step(meta_halo halo, grids *g)
{
    const meta_err err = meta_halo_overlap(halo, &g->now, average, average, g, META_ASYNC);
    void *swap = g->now;
    g->now = g->next, g->next = swap;
    return err;
}
/* END OF EXAMPLE */

static void overlap(void)
{
    const int64_t cells[3] = {8, 8, 8};
    const int ghosts[3] = {1, 1, 1};
    meta_box same;
    grids g = {.now = grid};
    double sum = 0;
    TRY(meta_grid_alloc(&g.next, &same, 3, cells, ghosts, ghosts, META_F64));
    TRY(step(plan, &g));
    TRY(step(plan, &g));
    CHECK_OK(meta_reduce(&sum, grid, &box, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, 512, 1e-12);
    CHECK_OK(meta_flush());
    CHECK_OK(meta_free(g.next));
}

static void count_messages(void)
{
    /* EXAMPLE: meta_comm_traffic meta_path_name meta_traffic meta_path */
    meta_traffic traffic = META_TRAFFIC_INIT;
    TRY(meta_comm_traffic(&traffic));
    for (int k = 0; k < META_PATH_COUNT; ++k)
        if (traffic.messages_sent[k])
            printf("%llu messages, %s\n", (unsigned long long)traffic.messages_sent[k],
                   meta_path_name((meta_path)k));
    /* END OF EXAMPLE */
    uint64_t all = 0;
    for (int k = 0; k < META_PATH_COUNT; ++k) all += traffic.messages_sent[k];
    CHECK(all > 0);
}

static void free_plan(void)
{
    /* EXAMPLE: meta_halo_free */
    TRY(meta_halo_free(&plan)); /* on every rank, before the communicator */
    MPI_Comm_free(&cart);
    /* END OF EXAMPLE */
    CHECK_OK(meta_free(grid));
}

static void plans_exchange_ghosts(void)
{
    exchange_ghosts();
    if (test_failures() == 0) exchange_two_grids();
    if (test_failures() == 0) overlap();
    count_messages();
    free_plan();
}

/* ------------------------------------------------------------------ uneven devices */

/* EXAMPLE: meta_measure_speed meta_speed_work */
static meta_err work(void *with)
{
    grids *g = with; /* 16 × 16 × 16 cells with ghosts */
    const meta_box inner = {3, {18, 18, 18}, {1, 1, 1}, {17, 17, 17}};
    return meta_stencil(g->next, g->now, &inner, META_3D7P, META_F64, NULL, META_ASYNC);
}

/* Cells that this rank computes in a second, while the others compute as well. */
static meta_err measure(MPI_Comm comm, grids *g, double *speed)
{
    return meta_measure_speed(comm, work, g, 16 * 16 * 16, 3, speed);
}
/* END OF EXAMPLE */

static void blocks_suit_speeds(void)
{
    int dims[1] = {0}, walls[1] = {0};
    const size_t bytes = 18 * 18 * 18 * sizeof(double);
    const double one = 1;
    MPI_Comm line;
    grids g;
    double speed = 0;
    MPI_Dims_create(test_size, 1, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, walls, 0, &line);
    TRY(meta_alloc(&g.now, bytes));
    TRY(meta_alloc(&g.next, bytes));
    TRY(meta_fill(g.now, 18 * 18 * 18, &one, META_F64, NULL));
    TRY(measure(line, &g, &speed));
    CHECK(speed > 0);

    /* EXAMPLE: meta_decompose meta_cuts_block meta_cuts meta_decompose_desc */
    /* 1000 cells over the ranks of a communicator of one dimension, at most 16 here. */
    int64_t at[17], first, mine;
    const meta_cuts cuts = {{at}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    desc.cart = line;
    desc.cells[0] = 1000;
    desc.speed = speed; /* of this rank, from meta_measure_speed() */
    TRY(meta_decompose(&cuts, &desc, NULL));
    TRY(meta_cuts_block(&cuts, line, test_rank, &first, &mine));
    printf("this rank has cells %lld to %lld\n", (long long)first, (long long)(first + mine - 1));
    /* END OF EXAMPLE */
    CHECK_INT(at[test_size], 1000);

    const double seconds = 0.01 * (1 + test_rank);
    int64_t at_next[17];
    const meta_cuts now = cuts, next = {{at_next}};
    {
        /* EXAMPLE: meta_rebalance */
        /* What would be better, after steps that took this rank so many seconds each? */
        double before, after;
        TRY(meta_rebalance(&next, &now, &desc, seconds, &before, &after));
        if (after < 0.95 * before)
            printf("steps would take %.3f s instead of %.3f\n", after, before);
        /* END OF EXAMPLE */
        CHECK(after <= before);
    }
    {
        const double step = 0.01 * (1 + test_size); /* no rank's time, but the whole step's */
        /* EXAMPLE: meta_balance */
        /* Cuts to try next, after steps in which this rank computed for so many seconds each. */
        double gain;
        TRY(meta_balance(&next, &now, &desc, seconds, step, &gain));
        if (gain > 0) printf("steps may take %.3f s less with the next cuts\n", gain);
        /* END OF EXAMPLE */
        CHECK(gain >= 0);
    }
    int64_t own_now, own_next;
    void *from, *to;
    TRY(meta_cuts_block(&now, line, test_rank, NULL, &own_now));
    TRY(meta_cuts_block(&next, line, test_rank, NULL, &own_next));
    TRY(meta_alloc(&from, (size_t)own_now * sizeof(double)));
    TRY(meta_alloc(&to, (size_t)own_next * sizeof(double)));
    TRY(meta_fill(from, own_now, &one, META_F64, NULL));
    {
        /* EXAMPLE: meta_redistribute meta_redistribute_field */
        /* Buffers from and to are arrays without ghosts, of the cells that a rank has by its cuts.
         */
        const meta_redistribute_field field = {.type = META_F64,
                                               .from = from,
                                               .from_box = {1, {own_now}, {0}, {own_now}},
                                               .to = to,
                                               .to_box = {1, {own_next}, {0}, {own_next}}};
        TRY(meta_redistribute(line, &now, &next, 1, &field));
        /* END OF EXAMPLE */
    }
    double sum = 0;
    const meta_box all = {1, {own_next}, {0}, {own_next}};
    CHECK_OK(meta_reduce(&sum, to, &all, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, (double)own_next, 0);
    void *const buffers[] = {g.now, g.next, from, to};
    for (int k = 0; k < 4; ++k) CHECK_OK(meta_free(buffers[k]));
    MPI_Comm_free(&line);
}

static const test_setting setting = {start, test_mpi_worst, test_comm_end};

TEST_MAIN_WITH(&setting, PROMISE(messages_arrive), PROMISE(ranks_add_up),
               PROMISE(plans_exchange_ghosts), PROMISE(blocks_suit_speeds))
