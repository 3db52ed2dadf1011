/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stencil.c
 *  Group stencil: the four stencils, alone and with fused sum, over the N³ cells of a cube with
 *  one ghost cell on every side, in grids from meta_grid_alloc(). */
#include "config.h"

#include <stdio.h>

#include "cube.h"
#include "group.h"
#include "limit.h"

typedef struct work {
    const buffer *to, *from;
    meta_box box;
    meta_stencil_kind kind;
    meta_type type;
    bool summed;
} work;

static void run(void *with, int64_t times)
{
    const work *w = with;
    uint64_t sum;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_stencil(w->to->at, w->from->at, &w->box, w->kind, w->type,
                                    w->summed ? &sum : NULL, NULL)))
            return;
}

static void measure(bench *b, work *w, int64_t size)
{
    static const char *const names[META_STENCIL_COUNT] = {"2d5p", "2d9p", "3d7p", "3d27p"};
    const double bytes = (double)number_size(b->o->type) * (double)(size * size * size);
    char what[32];
    row r;
    copy_limit limit;
    snprintf(what, sizeof what, "%s%s", names[w->kind], w->summed ? "_sum" : "");
    row_begin(&r, "stencil", what, b->o->type, size);
    row_add(&r, what, SUBJECT, run, w, 2 * bytes);
    copy_limit_add(&r, &limit, b->here, w->to, w->from, bytes);
    row_end(b, &r);
}

void stencil_run(bench *b, int64_t size)
{
    const cube c = {size, 1};
    buffer to = {.at = NULL}, from = {.at = NULL};
    work w = {.to = &to, .from = &from, .type = type_of(b->o->type)};
    place_need(b->here, 2 * cube_grid_bytes(&c, number_size(b->o->type)), 0);
    buffer_create_grid(&to, &w.box, c.n, c.ghosts, b->o->type);
    buffer_create_grid(&from, &w.box, c.n, c.ghosts, b->o->type);
    if (!rows_impossible("stencil", size))
        for (int k = 0; k < 2 * META_STENCIL_COUNT; ++k) {
            w.kind = (meta_stencil_kind)(k / 2);
            w.summed = k % 2 == 1;
            measure(b, &w, size);
        }
    buffer_free(&to);
    buffer_free(&from);
}
