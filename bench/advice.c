/* SPDX-License-Identifier: BSD-3-Clause */
/** @file advice.c
 *  Group advice: pairs of kernels of a program's own that do the same, the slow form as the fast
 * one's peer. Each row is the figure behind a piece of advice in doc/fast-kernels.md. */
#include "config.h"

#define META_KERNELS_HERE
#include "advice.kernel.h"
#include "cube.h"
#include "group.h"

#include <string.h>

enum { GHOSTS = 2, ARRAYS = 5, MOST_EDGE = 1024 /* whose elements have numbers of 32 bits */ };

typedef struct work {
    meta_type type;
    buffer array[ARRAYS], single[2]; /* of the type, of f32 */
    buffer ordered, mixed;           /* numbers of elements */
    meta_box box, wall;              /* the own cells, and the first row of them */
    meta_box line;                   /* as many elements in a row */
} work;

static void *at(const work *w, int k)
{
    return w->array[k].at;
}

/* ------------------------------------------------------------------ the calls */

#define BY_TYPE(kernel, ...)                                                                       \
    (w->type == META_F64 ? advice_##kernel##_f64(__VA_ARGS__) : advice_##kernel##_f32(__VA_ARGS__))
#define RUN(name, call)                                                                            \
    static void run_##name(void *with, int64_t times)                                              \
    {                                                                                              \
        const work *w = with;                                                                      \
        for (int64_t k = 0; k < times; ++k)                                                        \
            if (!note_meta(call)) return;                                                          \
    }

static int64_t row_of(const work *w)
{
    return w->box.size[0];
}
static int64_t plane_of(const work *w)
{
    return w->box.size[0] * w->box.size[1];
}

RUN(choose_slow, BY_TYPE(choose_slow, &w->box, at(w, 0), at(w, 1), at(w, 2), NULL))
RUN(choose_fast, BY_TYPE(choose_fast, &w->box, at(w, 0), at(w, 1), at(w, 2), NULL))
RUN(store_slow, BY_TYPE(store_slow, &w->box, at(w, 0), at(w, 1), NULL))
RUN(store_fast, BY_TYPE(store_fast, &w->box, at(w, 0), at(w, 1), NULL))
RUN(loop_slow, BY_TYPE(loop_slow, &w->box, at(w, 0), at(w, 1), NULL))
RUN(loop_fast, BY_TYPE(loop_fast, &w->box, at(w, 0), at(w, 1), NULL))
RUN(divide_slow, BY_TYPE(divide_slow, &w->box, at(w, 0), at(w, 1), 4, 4, 4, NULL))
RUN(divide_fast, BY_TYPE(divide_fast, &w->box, at(w, 0), at(w, 1), 0.25, 0.25, 0.25, NULL))
RUN(gather_slow, BY_TYPE(gather, &w->line, at(w, 0), at(w, 1), w->mixed.at, NULL))
RUN(gather_fast, BY_TYPE(gather, &w->line, at(w, 0), at(w, 1), w->ordered.at, NULL))
RUN(add_slow, BY_TYPE(add_slow, &w->box, at(w, 0), at(w, 1), row_of(w), plane_of(w), NULL))
RUN(add_fast, BY_TYPE(add_fast, &w->box, at(w, 0), at(w, 1), NULL))
RUN(pull, BY_TYPE(pull, &w->box, at(w, 0), at(w, 1), NULL))
RUN(step, BY_TYPE(step, &w->box, at(w, 0), at(w, 1), 0.125, NULL))
RUN(step_f32, advice_step_f32(&w->box, w->single[0].at, w->single[1].at, 0.125f, NULL))
RUN(walls, BY_TYPE(walls, &w->wall, at(w, 0), at(w, 1), at(w, 2), at(w, 3), NULL))

static meta_err wall_by_wall(const work *w)
{
    for (int k = 0; k < 4; ++k) {
        const meta_err error = BY_TYPE(wall, &w->wall, at(w, k), NULL);
        if (error) return error;
    }
    return META_OK;
}
RUN(wall_by_wall, wall_by_wall(w))

static meta_err bend_and_advance(const work *w)
{
    const meta_err error = BY_TYPE(bend, &w->box, at(w, 2), at(w, 1), NULL);
    return error ? error : BY_TYPE(advance, &w->box, at(w, 0), at(w, 1), at(w, 2), 0.125, NULL);
}
RUN(bend_and_advance, bend_and_advance(w))

/* Room for a result of either type. */
static meta_extreme_f64 room;
static void *const result = &room;

static meta_err step_and_reduce(const work *w)
{
    const meta_err error = BY_TYPE(step, &w->box, at(w, 0), at(w, 1), 0.125, NULL);
    return error ? error : meta_reduce(result, at(w, 0), &w->box, META_SUM, w->type, NULL);
}
RUN(step_and_reduce, step_and_reduce(w))

RUN(step_sum, BY_TYPE(step_sum, &w->box, at(w, 0), at(w, 1), 0.125, result, NULL))
RUN(least_at, BY_TYPE(least_at, &w->box, at(w, 1), result, NULL))
RUN(least, BY_TYPE(least, &w->box, at(w, 1), result, NULL))

/* ------------------------------------------------------------------ the rows */

static const struct pair {
    const char *name;
    void (*fast)(void *with, int64_t times), (*slow)(void *with, int64_t times);
} pairs[] = {
    {"choose", run_choose_fast, run_choose_slow},
    {"store", run_store_fast, run_store_slow},
    {"loop", run_loop_fast, run_loop_slow},
    {"divide", run_divide_fast, run_divide_slow},
    {"gather", run_gather_fast, run_gather_slow},
    {"add", run_add_fast, run_add_slow},
    {"pull", run_pull, run_add_fast},
    {"fuse", run_step, run_bend_and_advance},
    {"sum", run_step_sum, run_step_and_reduce},
    {"least", run_least, run_least_at},
    {"walls", run_walls, run_wall_by_wall},
    {"f32", run_step_f32, run_step},
};

static void mix(work *w, void *array, const meta_box *box, int seed)
{
    if (!note_seen()) note_meta(BY_TYPE(mix, box, array, seed, NULL));
}

static void number_elements(const work *w, void *array, int32_t by, int64_t count)
{
    if (!note_seen()) note_meta(advice_number_f64(&w->line, array, by, (int32_t)count, NULL));
}

static void create(work *w, const bench *b, int64_t n)
{
    meta_box own = {.ndim = 0};
    for (int k = 0; k < ARRAYS; ++k) {
        buffer_create_grid(&w->array[k], &w->box, n, GHOSTS, b->o->type);
        meta_box all = w->box;
        for (int d = 0; d < all.ndim; ++d) all.start[d] = 0, all.end[d] = all.size[d];
        mix(w, at(w, k), &all, k);
    }
    for (int k = 0; k < 2; ++k) buffer_create_grid(&w->single[k], &own, n, GHOSTS, NUMBER_F32);
    const int64_t count = n * n * n;
    w->line = (meta_box){.ndim = 1, .size = {count}, .end = {count}};
    buffer_create(&w->ordered, count, NUMBER_I32);
    buffer_create(&w->mixed, count, NUMBER_I32);
    number_elements(w, w->ordered.at, 1, count);
    number_elements(w, w->mixed.at, 1000003, count); /* a prime */
    w->wall = w->box;
    for (int d = 1; d < 3; ++d) w->wall.end[d] = w->wall.start[d] + 1;
}

static void give_back(work *w)
{
    for (int k = 0; k < ARRAYS; ++k) buffer_free(&w->array[k]);
    for (int k = 0; k < 2; ++k) buffer_free(&w->single[k]);
    buffer_free(&w->ordered);
    buffer_free(&w->mixed);
}

void advice_run(bench *b, int64_t size)
{
    const cube c = {size, GHOSTS};
    work w = {.type = type_of(b->o->type)};
    if (w.type != META_F64 && w.type != META_F32) {
        note("the kernels are compiled for f64 and f32");
    } else if (size > MOST_EDGE) {
        note("choose a size of up to %d", MOST_EDGE);
    } else {
        place_need(b->here, (ARRAYS + 3) * cube_grid_bytes(&c, number_size(b->o->type)), 0);
        if (!note_seen()) create(&w, b, size);
    }
    if (!rows_impossible("advice", size))
        for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
            row r;
            if (strcmp(pairs[k].name, "f32") == 0 && w.type == META_F32) continue;
            row_begin(&r, "advice", pairs[k].name, b->o->type, size);
            row_add(&r, pairs[k].name, SUBJECT, pairs[k].fast, &w, 0);
            row_add(&r, "slow", PEER, pairs[k].slow, &w, 0);
            r.times_peer = true;
            row_end(b, &r);
        }
    give_back(&w);
}
