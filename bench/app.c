/* SPDX-License-Identifier: BSD-3-Clause */
/** @file app.c
 *  Group app: the library calls of one time step of meta-minighost with the 7-point stencil, and
 * the sum of every variable in every step, compared with a copy of the same arrays, with the step's
 *  stencils and bare messages alone, and with the published algorithm on host arrays. */
#include "config.h"

#include <stdio.h>

#include "exchange.h"
#include "group.h"
#include "limit.h"
#include "plain_loops.h"
#include "plan.h"

enum { SIDES = 6, SUMS = SIDES + 1 };

typedef struct work {
    number type;
    int fields, sides; /* sides of this rank's block that lie on the domain's boundary */
    buffer grid[MOST_FIELDS], next[MOST_FIELDS];
    meta_halo plan;
    meta_box own, side[SIDES];
    region border[SIDES];              /* the sides in a dense array */
    uint64_t sums[MOST_FIELDS * SUMS]; /* of each variable at the sides, and of all its cells */
    exchange *messages;                /* of dense host arrays */
    void *array;                       /* a further one, for the published algorithm */
    double total;                      /* of its sums */
} work;

/* ------------------------------------------------------------------ a step */

static void *sum_of(work *w, int field, int term)
{
    return number_at(w->sums, field * SUMS + term, w->type);
}

static bool stencil(work *w, int field, meta_event *done)
{
    return note_meta(meta_stencil(w->next[field].at, w->grid[field].at, &w->own, META_3D7P,
                                  type_of(w->type), sum_of(w, field, SIDES), done));
}

/* The same calls as in apps/minighost/solve.c. */
static bool step(work *w)
{
    void *grid[MOST_FIELDS];
    for (int f = 0; f < w->fields; ++f) grid[f] = w->grid[f].at;
    bool right = note_meta(meta_halo_start(w->plan, grid)) &&
                 note_meta(meta_halo_finish(w->plan, META_ASYNC));
    for (int f = 0; f < w->fields && right; ++f)
        right = note_meta(meta_stencil_sums(w->next[f].at, w->grid[f].at, &w->own, META_3D7P,
                                            type_of(w->type), sum_of(w, f, SIDES), sum_of(w, f, 0),
                                            w->sides, w->side, META_ASYNC));
    right = right && note_meta(meta_flush());
    for (int f = 0; f < w->fields; ++f) {
        const buffer old = w->grid[f];
        w->grid[f] = w->next[f];
        w->next[f] = old;
    }
    return right;
}

static void run(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k)
        if (!step(with)) return;
}

static void run_parts(void *with, int64_t times)
{
    work *w = with;
    for (int64_t k = 0; k < times; ++k) {
        exchange_send_only(w->messages, 1);
        for (int f = 0; f < w->fields; ++f)
            if (!stencil(w, f, NULL)) return;
    }
}

/* ------------------------------------------------------------------ the published algorithm */

static double sum_of_region(const work *w, const void *field, const region *r)
{
    const int64_t edge = w->messages->c.n + 2 * w->messages->c.ghosts;
    double sum = 0;
    for (int64_t z = r->start[2]; z < r->end[2]; ++z)
        for (int64_t y = r->start[1]; y < r->end[1]; ++y)
            for (int64_t x = r->start[0]; x < r->end[0]; ++x) {
                const int64_t c = (z * edge + y) * edge + x;
                sum += w->type == NUMBER_F64 ? ((const double *)field)[c]
                                             : (double)((const float *)field)[c];
            }
    return sum;
}

static void run_reference(void *with, int64_t times)
{
    work *w = with;
    const bool f64 = w->type == NUMBER_F64;
    for (int64_t k = 0; k < times; ++k) {
        exchange_manual(w->messages, 1);
        for (int f = 0; f < w->fields; ++f) {
            void *field = w->messages->field[f];
            for (int s = 0; s < w->sides; ++s) w->total += sum_of_region(w, field, &w->border[s]);
            w->total += plain_minighost(field, w->array, w->messages->c.n, f64);
        }
    }
}

/* ------------------------------------------------------------------ the rows */

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
                (d.along[axis] > 0 && mine[axis] == dims[axis] - 1)) {
                w->border[w->sides] = border;
                w->side[w->sides++] = region_in_grid(c, &border, &w->own);
            }
    }
}

static bool has_reference(const bench *b)
{
    return b->here->all_host && (b->o->type == NUMBER_F64 || b->o->type == NUMBER_F32);
}

static void measure_row(bench *b, work *w, int64_t size)
{
    const double bytes = (double)number_size(b->o->type) * (double)(size * size * size);
    char what[24] = "minighost";
    copy_limit limit;
    row r;
    if (w->fields > 1) snprintf(what, sizeof what, "minighost_%df", w->fields);
    row_begin(&r, "app", what, b->o->type, size);
    row_add(&r, what, SUBJECT, run, w, 2 * bytes * w->fields);
    row_add(&r, "parts", PEER, run_parts, w, 2 * bytes * w->fields);
    if (has_reference(b)) row_add(&r, "reference", PEER, run_reference, w, 2 * bytes * w->fields);
    copies_limit_add(&r, &limit, b->here, w->next, w->grid, w->fields, bytes);
    row_end(b, &r);
}

static void measure(bench *b, MPI_Comm cart, const cube *c, int fields)
{
    exchange messages;
    buffer array = {.at = NULL};
    work w = {.type = b->o->type, .fields = fields, .messages = &messages};
    exchange_create(&messages, cart, c, fields, b->o->type, false);
    for (int f = 0; f < fields; ++f) {
        buffer_create_grid(&w.grid[f], &w.own, c->n, c->ghosts, b->o->type);
        buffer_create_grid(&w.next[f], &w.own, c->n, c->ghosts, b->o->type);
    }
    if (has_reference(b)) {
        if (b->here->threads > 0) plain_threads(b->here->threads);
        buffer_create_host(&array, cube_cells(c), b->o->type);
        w.array = array.at;
    }
    find_sides(&w, cart, c);
    if (!rows_impossible("app", c->n)) {
        plan_create(&w.plan, cart, &w.own, 1, fields, type_of(w.type), false);
        if (!rows_impossible("app", c->n)) measure_row(b, &w, c->n);
        plan_free(&w.plan);
    }
    for (int f = 0; f < fields; ++f) {
        buffer_free(&w.grid[f]);
        buffer_free(&w.next[f]);
    }
    buffer_free(&array);
    exchange_free(&messages);
}

void app_run(bench *b, int64_t size)
{
    const cube c = {size, 1};
    const double grid = cube_grid_bytes(&c, number_size(b->o->type));
    int dims[3] = {0, 0, 0}, periods[3] = {0, 0, 0}, ranks;
    MPI_Comm cart;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &cart);
    for (int k = 0; k < b->o->fields_count; ++k) {
        const int fields = (int)b->o->fields[k];
        place_need(b->here, 2 * fields * grid, exchange_need(&c, fields, b->o->type) + grid);
        if (!rows_impossible("app", size)) measure(b, cart, &c, fields);
    }
    MPI_Comm_free(&cart);
}
