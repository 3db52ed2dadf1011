/* SPDX-License-Identifier: BSD-3-Clause */
/** @file app.c
 *  Group app: the library calls of one time step of meta-minighost with one variable, the
 *  7-point stencil and the sum in every step, compared with the stencil and the bare messages of
 *  the same grid. */
#include "config.h"

#include "exchange.h"
#include "group.h"
#include "plan.h"

typedef struct work {
    buffer grid, next;
    meta_halo plan;
    meta_box own;
    meta_type type;
    int sides; /* of this rank's block that lie on the domain boundary */
    meta_box side[6];
    uint64_t side_sum[6], sum;
    exchange *messages;
} work;

/* The same calls as in apps/minighost/solve.c. */
static bool step(work *w)
{
    bool right = note_meta(meta_halo_exchange(w->plan, &w->grid.at, META_ASYNC));
    for (int k = 0; k < w->sides && right; ++k)
        right = note_meta(
            meta_reduce(&w->side_sum[k], w->grid.at, &w->side[k], META_SUM, w->type, META_ASYNC));
    right = right && note_meta(meta_stencil(w->next.at, w->grid.at, &w->own, META_3D7P, w->type,
                                            &w->sum, META_ASYNC));
    right = right && note_meta(meta_flush());
    const buffer old = w->grid;
    w->grid = w->next;
    w->next = old;
    return right;
}

static void run(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k)
        if (!step(with)) return;
}

static void run_limit(void *with, int64_t times)
{
    work *w = with;
    for (int64_t k = 0; k < times; ++k) {
        exchange_send_only(w->messages, 1);
        if (!note_meta(
                meta_stencil(w->next.at, w->grid.at, &w->own, META_3D7P, w->type, &w->sum, NULL)))
            return;
    }
}

/* The block's sides on the boundary of the grid of ranks. */
static void find_sides(work *w, MPI_Comm cart, const cube *c)
{
    int dims[3], periods[3], mine[3];
    MPI_Cart_get(cart, 3, dims, periods, mine);
    for (int k = 0; k < 27; ++k) {
        const direction d = direction_of(k);
        const region border = cube_border(c, d);
        if (direction_axes(d) != 1) continue;
        for (int axis = 0; axis < 3; ++axis)
            if ((d.along[axis] < 0 && mine[axis] == 0) ||
                (d.along[axis] > 0 && mine[axis] == dims[axis] - 1))
                w->side[w->sides++] = region_in_grid(c, &border, &w->own);
    }
}

static void measure(bench *b, MPI_Comm cart, const cube *c)
{
    const double bytes = 2 * (double)number_size(b->o->type) * (double)(c->n * c->n * c->n);
    exchange messages;
    work w = {.type = type_of(b->o->type), .messages = &messages};
    row r;
    exchange_create(&messages, cart, c, 1, b->o->type, false);
    buffer_create_grid(&w.grid, &w.own, c->n, c->ghosts, b->o->type);
    buffer_create_grid(&w.next, &w.own, c->n, c->ghosts, b->o->type);
    find_sides(&w, cart, c);
    if (!rows_impossible("app", c->n)) {
        plan_create(&w.plan, cart, &w.own, 1, 1, w.type, false);
        if (!rows_impossible("app", c->n)) {
            row_begin(&r, "app", "minighost", b->o->type, c->n);
            row_add(&r, "minighost", SUBJECT, run, &w, bytes);
            row_add(&r, "3d7p_sum+send", LIMIT, run_limit, &w, bytes);
            row_end(b, &r);
        }
        plan_free(&w.plan);
    }
    buffer_free(&w.grid);
    buffer_free(&w.next);
    exchange_free(&messages);
}

void app_run(bench *b, int64_t size)
{
    const cube c = {size, 1};
    const double on_device = 2 * cube_grid_bytes(&c, number_size(b->o->type));
    int dims[3] = {0, 0, 0}, periods[3] = {0, 0, 0}, ranks;
    MPI_Comm cart;
    place_need(b->here, on_device, exchange_need(&c, 1, b->o->type));
    if (rows_impossible("app", size)) return;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    measure(b, cart, &c);
    MPI_Comm_free(&cart);
}
