/* SPDX-License-Identifier: BSD-3-Clause */
/** @file overlap.c
 *  Row halo.overlap: how much of an exchange is hidden behind a stencil computed meanwhile. */
#include "config.h"

#include "cube.h"
#include "overlap.h"
#include "plan.h"

typedef struct work {
    buffer grid, next;
    meta_halo plan;
    meta_box own;
    meta_type type;
} work;

static meta_err stencil(const meta_box *box, void *with)
{
    const work *w = with;
    return meta_stencil(w->next.at, w->grid.at, box, META_3D7P, w->type, NULL, META_ASYNC);
}

/* The interior during the exchange, then the boundary cells. */
static meta_err step(work *w)
{
    return meta_halo_overlap(w->plan, &w->grid.at, stencil, stencil, w, META_ASYNC);
}

static void run_both(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(step(with)) || !note_meta(meta_flush())) return;
}

static void run_exchange(void *with, int64_t times)
{
    work *w = with;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_halo_exchange(w->plan, &w->grid.at, META_ASYNC)) ||
            !note_meta(meta_flush()))
            return;
}

static void run_stencil(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(stencil(&w->own, with)) || !note_meta(meta_flush())) return;
}

static void measure(bench *b, MPI_Comm cart, work *w, int64_t size)
{
    const double bytes = 2 * (double)number_size(b->o->type) * (double)(size * size * size);
    row r;
    plan_create(&w->plan, cart, &w->own, 1, 1, w->type, false);
    if (!rows_impossible("halo", size)) {
        row_begin(&r, "halo", "overlap", b->o->type, size);
        r.hides = true;
        row_add(&r, "overlap", SUBJECT, run_both, w, bytes);
        row_add(&r, "exchange", 0, run_exchange, w, 0);
        row_add(&r, "stencil", LIMIT, run_stencil, w, bytes);
        row_end(b, &r);
    }
    plan_free(&w->plan);
}

void overlap_run(bench *b, MPI_Comm cart, int64_t size)
{
    const cube c = {size, 1};
    work w = {.type = type_of(b->o->type)};
    place_need(b->here, 2 * cube_grid_bytes(&c, number_size(b->o->type)), 0);
    if (rows_impossible("halo", size)) return;
    buffer_create_grid(&w.grid, &w.own, c.n, c.ghosts, b->o->type);
    buffer_create_grid(&w.next, &w.own, c.n, c.ghosts, b->o->type);
    if (!rows_impossible("halo", size)) measure(b, cart, &w, size);
    buffer_free(&w.grid);
    buffer_free(&w.next);
}
