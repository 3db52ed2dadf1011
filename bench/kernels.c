/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.c
 *  Group kernels: kernels of a program's own against the built-in ones and against plain loops,
 * over the N³ cells of cubes with one ghost cell on every side. */
#include "config.h"

#define META_KERNELS_HERE
#include "bench.kernel.h"
#include "cube.h"
#include "group.h"
#include "limit.h"
#include "plain_loops.h"

enum { ARRAYS = 4 }; /* of Gray-Scott: two species, new and old */

typedef struct work {
    const place *here;
    buffer array[ARRAYS];
    meta_box box;
    meta_type type;
} work;

static void *at(const work *w, int k)
{
    return w->array[k].at;
}

/* The same array for what is not libmeta. */
static void *native(const work *w, int k)
{
    return (char *)w->array[k].native.object + w->array[k].native.offset;
}

static void run_points7(void *with, int64_t times)
{
    const work *w = with;
    double sum;
    float sum_f32;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(w->type == META_F64
                           ? bench_points7_f64(&w->box, at(w, 0), at(w, 1), &sum, NULL)
                           : bench_points7_f32(&w->box, at(w, 0), at(w, 1), &sum_f32, NULL)))
            return;
}

static void run_built_in(void *with, int64_t times)
{
    const work *w = with;
    uint64_t sum;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_stencil(at(w, 0), at(w, 1), &w->box, META_3D7P, w->type, &sum, NULL)))
            return;
}

static void run_gray_scott(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(
                w->type == META_F64
                    ? bench_gray_scott_f64(&w->box, at(w, 0), at(w, 1), at(w, 2), at(w, 3),
                                           PLAIN_DU, PLAIN_DV, PLAIN_F, PLAIN_K, PLAIN_DT, NULL)
                    : bench_gray_scott_f32(&w->box, at(w, 0), at(w, 1), at(w, 2), at(w, 3),
                                           PLAIN_DU, PLAIN_DV, PLAIN_F, PLAIN_K, PLAIN_DT, NULL)))
            return;
}

static void run_plain(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times; ++k)
        plain_gray_scott(native(w, 0), native(w, 1), native(w, 2), native(w, 3), &w->box,
                         w->type == META_F64);
}

static void run_by_hand(void *with, int64_t times)
{
    const work *w = with;
    const meta_box *b = &w->box;
    const meta_peer_gray_scott step = {.type = w->type,
                                       .size = {b->size[0], b->size[1], b->size[2]},
                                       .start = {b->start[0], b->start[1], b->start[2]},
                                       .end = {b->end[0], b->end[1], b->end[2]},
                                       .u1 = w->array[0].native,
                                       .v1 = w->array[1].native,
                                       .u0 = w->array[2].native,
                                       .v0 = w->array[3].native,
                                       .Du = PLAIN_DU,
                                       .Dv = PLAIN_DV,
                                       .F = PLAIN_F,
                                       .k = PLAIN_K,
                                       .dt = PLAIN_DT};
    for (int64_t k = 0; k < times; ++k)
        if (w->here->table->gray_scott(w->here->peer, &step) != 0) {
            note("%s", w->here->table->reason(w->here->peer));
            return;
        }
}

static void run_least(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(w->type == META_F64 ? bench_least_f64(&w->box, at(w, 0), 1, NULL)
                                           : bench_least_f32(&w->box, at(w, 0), 1, NULL)))
            return;
}

static void run_least_built_in(void *with, int64_t times)
{
    const work *w = with;
    const double f64 = 1;
    const float f32 = 1;
    const void *one = w->type == META_F64 ? (const void *)&f64 : (const void *)&f32;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_fill_box(at(w, 0), &w->box, one, w->type, NULL))) return;
}

/* ------------------------------------------------------------------ results of all cells */

/* Runs the kernel of that name, whose result is of those variables. */
#define RUN_RESULT(name, variables)                                                                \
    static void run_##name(void *with, int64_t times)                                              \
    {                                                                                              \
        const work *w = with;                                                                      \
        variables;                                                                                 \
        for (int64_t k = 0; k < times; ++k)                                                        \
            if (!note_meta(w->type == META_F64                                                     \
                               ? bench_##name##_f64(&w->box, at(w, 0), &f64, NULL)                 \
                               : bench_##name##_f32(&w->box, at(w, 0), &f32, NULL)))               \
                return;                                                                            \
    }
RUN_RESULT(sum, double f64; float f32)
RUN_RESULT(min, double f64; float f32)
RUN_RESULT(max, double f64; float f32)
RUN_RESULT(min_at, meta_extreme_f64 f64; meta_extreme_f32 f32)

static volatile double kept; /* so that the loops are not left out */

static void run_plain_result(const work *w, meta_op op, int64_t times)
{
    for (int64_t k = 0; k < times; ++k)
        kept = plain_result(native(w, 0), &w->box, op, w->type == META_F64);
}

static void run_plain_sum(void *with, int64_t times)
{
    run_plain_result(with, META_SUM, times);
}

static void run_plain_min(void *with, int64_t times)
{
    run_plain_result(with, META_MIN, times);
}

static void run_plain_max(void *with, int64_t times)
{
    run_plain_result(with, META_MAX, times);
}

static void measure_results(bench *b, work *w, int64_t size)
{
    static const struct {
        const char *name;
        void (*run)(void *with, int64_t times), (*plain)(void *with, int64_t times);
    } result[] = {{"sum", run_sum, run_plain_sum},
                  {"min", run_min, run_plain_min},
                  {"max", run_max, run_plain_max},
                  {"min_at", run_min_at, run_plain_min}};
    const double bytes = (double)number_size(b->o->type) * (double)(size * size * size);
    for (size_t k = 0; k < sizeof result / sizeof *result; ++k) {
        row r;
        row_begin(&r, "kernels", result[k].name, b->o->type, size);
        row_add(&r, result[k].name, SUBJECT, result[k].run, w, bytes);
        if (b->here->all_host) row_add(&r, "openmp", PEER, result[k].plain, w, bytes);
        row_end(b, &r);
    }
}

static void measure_grids(bench *b, work *w, int64_t size)
{
    const double bytes = (double)number_size(b->o->type) * (double)(size * size * size);
    row r;
    copy_limit limit;
    row_begin(&r, "kernels", "3d7p_sum", b->o->type, size);
    row_add(&r, "3d7p_sum", SUBJECT, run_points7, w, 2 * bytes);
    row_add(&r, "builtin", PEER, run_built_in, w, 2 * bytes);
    copy_limit_add(&r, &limit, b->here, &w->array[0], &w->array[1], bytes);
    row_end(b, &r);
    row_begin(&r, "kernels", "gray_scott", b->o->type, size);
    row_add(&r, "gray_scott", SUBJECT, run_gray_scott, w, 4 * bytes);
    if (b->here->all_host) row_add(&r, "openmp", PEER, run_plain, w, 4 * bytes);
    if (b->here->has_gray_scott) row_add(&r, b->here->backends, PEER, run_by_hand, w, 4 * bytes);
    copy_limit_add(&r, &limit, b->here, &w->array[0], &w->array[2], bytes);
    row_end(b, &r);
}

static void measure_least(bench *b, work *w, int64_t size)
{
    row r;
    w->box = (meta_box){.ndim = 1, .size = {size}, .end = {size}};
    row_begin(&r, "kernels", "least", b->o->type, size);
    row_add(&r, "least", SUBJECT, run_least, w, 0);
    row_add(&r, "builtin", PEER, run_least_built_in, w, 0);
    row_end(b, &r);
}

void kernels_run(bench *b, int64_t size)
{
    const cube c = {size, 1};
    work w = {.here = b->here, .type = type_of(b->o->type)};
    if (b->here->threads > 0) plain_threads(b->here->threads);
    if (w.type != META_F64 && w.type != META_F32) {
        note("the kernels are compiled for f64 and f32");
    } else if (size == 1) {
        buffer_create(&w.array[0], 1, b->o->type);
    } else {
        place_need(b->here, ARRAYS * cube_grid_bytes(&c, number_size(b->o->type)), 0);
        for (int k = 0; k < ARRAYS; ++k)
            buffer_create_grid(&w.array[k], &w.box, c.n, c.ghosts, b->o->type);
    }
    if (!rows_impossible("kernels", size)) {
        if (size == 1) {
            measure_least(b, &w, size);
        } else {
            measure_grids(b, &w, size);
            measure_results(b, &w, size);
        }
    }
    for (int k = 0; k < ARRAYS; ++k)
        if (w.array[k].at) buffer_free(&w.array[k]);
#ifdef BENCH_WITH_MPI
    if (size > 1 && (w.type == META_F64 || w.type == META_F32)) cg_run(b, size);
#endif
}
