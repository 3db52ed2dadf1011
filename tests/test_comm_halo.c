/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_halo.c
 *  Halo exchange: on random process grids, extents, widths, paddings, periodicities, types and
 *  numbers of fields, every cell of every array is compared with its global index. */
/* TEST: backends=all np=1,2,3,4 mixed=yes timeout=180 labels=comm */
#include "test_mpi.h"

#include <stdlib.h>
#include <string.h>

enum { DIMS = 3, MOST_FIELDS = 3, WIDEST = 3 };

/* The case at hand, the same on every rank but for what the rank's coordinates make of it. */
typedef struct grid {
    MPI_Comm cart;
    int dims, extent[DIMS], periodic[DIMS], at[DIMS];
    int64_t cells[DIMS]; /* of the global grid */
    int64_t first[DIMS]; /* global index of this rank's first own cell */
    meta_halo_desc desc;
    size_t element;
    int64_t count; /* elements of one array */
    meta_halo plan;
    void *buffer;                    /* all fields */
    void *field[MOST_FIELDS];        /* on the device */
    unsigned char *found, *expected; /* one array on the host */
} grid;

/* ------------------------------------------------------------------ the case */

/* Ranks over dimensions, any factorisation of them. */
static void cut_ranks(grid *g)
{
    int rest = test_size;
    for (int d = 0; d < g->dims; ++d) g->extent[d] = 1;
    for (int factor = 2; rest > 1; ++factor)
        while (rest % factor == 0) {
            g->extent[test_random_in(0, g->dims - 1)] *= factor;
            rest /= factor;
        }
}

/* Blocks of different extents, each as thick as what it has to send. */
static void cut_cells(grid *g, int d)
{
    const int64_t least = g->desc.low[d] > g->desc.high[d] ? g->desc.low[d] : g->desc.high[d];
    int64_t before = 0, own = 0;
    g->cells[d] = 0;
    for (int k = 0; k < g->extent[d]; ++k) {
        const int64_t thick = test_random_in(least > 0 ? least : 1, least + 6);
        if (k == g->at[d]) before = g->cells[d], own = thick;
        g->cells[d] += thick;
    }
    g->first[d] = before;
    g->desc.box.start[d] = g->desc.low[d] + (test_rank * 7 + d) % 3;
    g->desc.box.end[d] = g->desc.box.start[d] + own;
    g->desc.box.size[d] = g->desc.box.end[d] + g->desc.high[d] + (test_rank * 5 + d) % 2;
}

static void make_case(grid *g, int number)
{
    int rank;
    memset(g, 0, sizeof *g);
    g->desc = (meta_halo_desc)META_HALO_DESC_INIT;
    g->dims = (int)test_random_in(1, DIMS);
    g->desc.kind = test_random() % 2 ? META_HALO_ALL : META_HALO_FACES;
    g->desc.type = (meta_type)test_random_in(0, META_TYPE_COUNT - 1);
    g->desc.fields = (int)test_random_in(1, MOST_FIELDS);
    g->desc.box.ndim = g->dims;
    cut_ranks(g);
    for (int d = 0; d < g->dims; ++d) g->periodic[d] = (int)(test_random() % 2);
    MPI_Cart_create(MPI_COMM_WORLD, g->dims, g->extent, g->periodic, 0, &g->cart);
    MPI_Comm_rank(g->cart, &rank);
    MPI_Cart_coords(g->cart, rank, g->dims, g->at);
    for (int d = 0; d < g->dims; ++d) {
        g->desc.low[d] = (int)test_random_in(0, WIDEST);
        g->desc.high[d] = (int)test_random_in(0, WIDEST);
        cut_cells(g, d);
    }
    g->desc.cart = g->cart;
    g->count = 1;
    for (int d = 0; d < g->dims; ++d) g->count *= g->desc.box.size[d];
    meta_type_size(g->desc.type, &g->element);
    test_case(
        "%d: %d dimensions, ranks %dx%dx%d, periodic %d%d%d, cells %lldx%lldx%lld, low %d,%d,%d, "
        "high %d,%d,%d, kind %d, %d fields, type %d",
        number, g->dims, g->extent[0], g->extent[1], g->extent[2], g->periodic[0], g->periodic[1],
        g->periodic[2], (long long)g->cells[0], (long long)g->cells[1], (long long)g->cells[2],
        g->desc.low[0], g->desc.low[1], g->desc.low[2], g->desc.high[0], g->desc.high[1],
        g->desc.high[2], (int)g->desc.kind, g->desc.fields, (int)g->desc.type);
}

/* ------------------------------------------------------------------ the oracle */

static const unsigned char untouched = 0xd7;

/* The cell's element: its global index, its field and the step, in as many bytes as there are. */
static void put(const grid *g, unsigned char *array, int64_t at, const int64_t global[DIMS],
                int field, int step)
{
    uint64_t value = (uint64_t)field * 37 + (uint64_t)step * 101 + 1;
    for (int d = g->dims - 1; d >= 0; --d) value = value * 1009 + (uint64_t)global[d];
    memcpy(array + (size_t)at * g->element, &value, g->element);
}

/* Whether the cell at @p c of the array holds something: @p own cells always, ghosts if @p ghosts.
 */
static bool holds(const grid *g, const int64_t c[DIMS], bool ghosts, int64_t global[DIMS])
{
    const meta_box *box = &g->desc.box;
    int axes = 0;
    for (int d = 0; d < g->dims; ++d) {
        global[d] = g->first[d] + c[d] - box->start[d];
        if (c[d] >= box->start[d] && c[d] < box->end[d]) continue;
        ++axes;
        if (c[d] < box->start[d] - g->desc.low[d] || c[d] >= box->end[d] + g->desc.high[d])
            return false;
        if (global[d] >= 0 && global[d] < g->cells[d]) continue;
        if (!g->periodic[d]) return false;
        global[d] = (global[d] + g->cells[d]) % g->cells[d];
    }
    return axes == 0 || (ghosts && (axes == 1 || g->desc.kind == META_HALO_ALL));
}

static void fill(const grid *g, unsigned char *array, int field, int step, bool ghosts)
{
    memset(array, untouched, (size_t)g->count * g->element);
    for (int64_t k = 0; k < g->count; ++k) {
        int64_t c[DIMS] = {0}, global[DIMS] = {0}, rest = k;
        for (int d = 0; d < g->dims; ++d) {
            c[d] = rest % g->desc.box.size[d];
            rest /= g->desc.box.size[d];
        }
        if (holds(g, c, ghosts, global)) put(g, array, k, global, field, step);
    }
}

/* ------------------------------------------------------------------ exchanges */

/* The ways to do it. */
static void exchange(grid *g, int way)
{
    meta_event done = META_EVENT_NULL;
    int complete = 0;
    if (way == 0) {
        CHECK_OK(meta_halo_exchange(g->plan, g->field, NULL));
        return;
    }
    CHECK_OK(meta_halo_start(g->plan, g->field));
    if (way == 1) {
        CHECK_OK(meta_halo_finish(g->plan, NULL));
    } else if (way == 2) { /* what is queued next sees the ghosts: nobody waits */
        CHECK_OK(meta_halo_finish(g->plan, META_ASYNC));
    } else {
        CHECK_OK(meta_halo_finish(g->plan, &done));
        while (way == 3 && !complete) CHECK_OK(meta_event_test(done, &complete));
        if (way == 4) CHECK_OK(meta_event_wait(done));
        CHECK_OK(meta_event_free(&done));
    }
}

static void run_case(grid *g)
{
    const size_t bytes = (size_t)g->count * g->element;
    g->found = malloc(bytes);
    g->expected = malloc(bytes);
    if (!CHECK_OK(meta_alloc(&g->buffer, bytes * (size_t)g->desc.fields))) return;
    for (int f = 0; f < g->desc.fields; ++f) g->field[f] = (char *)g->buffer + (size_t)f * bytes;
    if (!CHECK_OK(meta_halo_create(&g->plan, &g->desc))) return;
    for (int step = 0; step < 5; ++step) {
        for (int f = 0; f < g->desc.fields; ++f) {
            fill(g, g->found, f, step, false);
            CHECK_OK(meta_copy_h2d(g->field[f], g->found, bytes, NULL));
        }
        exchange(g, step);
        for (int f = 0; f < g->desc.fields; ++f) {
            CHECK_OK(meta_copy_d2h(g->found, g->field[f], bytes, NULL));
            fill(g, g->expected, f, step, true);
            CHECK_ARRAY(g->found, g->expected, g->count, g->desc.type);
        }
    }
    CHECK_OK(meta_halo_free(&g->plan));
    CHECK_OK(meta_free(g->buffer));
}

/* The same on every rank, so that all leave the loop together. */
static bool broken_anywhere(void)
{
    const int mine = test_failures() > 0;
    int any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

static void every_ghost_cell_holds_its_neighbours_value(void)
{
    const int64_t cases = test_count(60, 2000);
    for (int64_t k = 0; k < cases && !broken_anywhere(); ++k) {
        grid g;
        make_case(&g, (int)k);
        run_case(&g);
        free(g.found);
        free(g.expected);
        MPI_Comm_free(&g.cart);
    }
}

/* ------------------------------------------------------------------ order */

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

static void several_plans_are_under_way_at_once(void)
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
static void making_a_plan_keeps_messages_moving(void)
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

TEST_COMM_MAIN(PROMISE(every_ghost_cell_holds_its_neighbours_value),
               PROMISE(work_queued_around_an_exchange_is_ordered_with_it),
               PROMISE(a_finish_with_an_event_does_not_wait_for_neighbours),
               PROMISE(several_plans_are_under_way_at_once),
               PROMISE(the_order_of_plans_may_differ_from_rank_to_rank),
               PROMISE(making_a_plan_keeps_messages_moving))
