/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reduce.c
 *  Group reduce: sum, minimum, maximum and dot product of N³ cells, of a whole array or of the
 *  box inside its ghost cells; sums and dot products also reproducible, compared with the plain
 *  ones. */
#include "config.h"

#include "cube.h"
#include "group.h"
#include "limit.h"

typedef struct work {
    const place *here;
    meta_box box;
    meta_op op;
    meta_type type;
    const buffer *both; /* both operands contiguous, so that the limit reads them in one pass */
    void *second;
    meta_peer_memory native[2];
    int64_t count; /* number of cells; also for the vendor's library */
} work;

static void run_reduce(void *with, int64_t times)
{
    const work *w = with;
    uint64_t result;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_reduce(&result, w->both->at, &w->box, w->op, w->type, NULL))) return;
}

static void run_dot(void *with, int64_t times)
{
    const work *w = with;
    uint64_t result;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_dot(&result, w->both->at, w->second, &w->box, w->type, NULL))) return;
}

static void run_exactly(void (*run)(void *, int64_t), void *with, int64_t times)
{
    if (!note_meta(meta_set_reproducible(1))) return;
    run(with, times);
    note_meta(meta_set_reproducible(0));
}

static void run_exact_reduce(void *with, int64_t times)
{
    run_exactly(run_reduce, with, times);
}

static void run_exact_dot(void *with, int64_t times)
{
    run_exactly(run_dot, with, times);
}

static void run_vendor_sum(void *with, int64_t times)
{
    const work *w = with;
    const place *p = w->here;
    uint64_t result;
    for (int64_t k = 0; k < times; ++k)
        if (p->table->sum(p->peer, w->type, w->count, w->native[0], &result) != 0) {
            note("%s", p->table->reason(p->peer));
            return;
        }
}

static void run_vendor_dot(void *with, int64_t times)
{
    const work *w = with;
    const place *p = w->here;
    uint64_t result;
    for (int64_t k = 0; k < times; ++k)
        if (p->table->dot(p->peer, w->type, w->count, w->native[0], w->native[1], &result) != 0) {
            note("%s", p->table->reason(p->peer));
            return;
        }
}

static bool is_floating(const bench *b)
{
    return b->o->type == NUMBER_F64 || b->o->type == NUMBER_F32;
}

/* The reproducible reduction, compared with the plain one in the same rounds. */
static void measure_exact(bench *b, const char *what, work *w, bool dot, int64_t size)
{
    const double bytes = (double)number_size(b->o->type) * (double)w->count * (dot ? 2 : 1);
    plain_work read;
    row r;
    if (!is_floating(b)) return;
    row_begin(&r, "reduce", what, b->o->type, size);
    row_add(&r, what, SUBJECT, dot ? run_exact_dot : run_exact_reduce, w, bytes);
    read_limit_add(&r, &read, b->here, w->both, bytes);
    row_add(&r, "plain", PEER, dot ? run_dot : run_reduce, w, bytes);
    row_end(b, &r);
}

static void measure(bench *b, const char *what, work *w, bool dot, int64_t size)
{
    const place *p = b->here;
    const double bytes = (double)number_size(b->o->type) * (double)w->count * (dot ? 2 : 1);
    plain_work read;
    row r;
    row_begin(&r, "reduce", what, b->o->type, size);
    row_add(&r, what, SUBJECT, dot ? run_dot : run_reduce, w, bytes);
    read_limit_add(&r, &read, p, w->both, bytes);
    if (dot && p->has_blas && is_floating(b)) row_add(&r, "vendor", PEER, run_vendor_dot, w, bytes);
    if (!dot && p->has_sum && w->op == META_SUM)
        row_add(&r, "vendor", PEER, run_vendor_sum, w, bytes);
    row_end(b, &r);
}

static void measure_all(bench *b, work *w, int64_t size)
{
    static const char *const names[META_OP_COUNT] = {"sum", "min", "max"};
    const cube whole = {size, 0}, part = {size, 1};
    region own = cube_own(&whole);
    w->box = region_box(&whole, &own);
    for (int k = 0; k < META_OP_COUNT; ++k) {
        w->op = (meta_op)k;
        measure(b, names[k], w, false, size);
    }
    measure(b, "dot", w, true, size);
    w->op = META_SUM;
    measure_exact(b, "exact_sum", w, false, size);
    measure_exact(b, "exact_dot", w, true, size);
    own = cube_own(&part);
    w->box = region_box(&part, &own);
    measure(b, "sum_box", w, false, size);
    measure(b, "dot_box", w, true, size);
    measure_exact(b, "exact_sum_box", w, false, size);
    measure_exact(b, "exact_dot_box", w, true, size);
}

void reduce_run(bench *b, int64_t size)
{
    const cube part = {size, 1};
    const int64_t cells = cube_cells(&part), element = (int64_t)number_size(b->o->type);
    buffer both;
    place_need(b->here, 2.0 * (double)(cells * element), 0);
    buffer_create(&both, 2 * cells, b->o->type);
    work w = {.here = b->here,
              .type = type_of(b->o->type),
              .both = &both,
              .second = number_at(both.at, cells, b->o->type),
              .native = {buffer_native(&both, 0), buffer_native(&both, cells * element)},
              .count = size * size * size};
    if (!rows_impossible("reduce", size)) measure_all(b, &w, size);
    buffer_free(&both);
}
