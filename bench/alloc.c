/* SPDX-License-Identifier: BSD-3-Clause */
/** @file alloc.c
 *  Group alloc: allocating and freeing a buffer of N³ elements, compared with the driver's own
 *  allocator, which on CPUs is malloc(). */
#include "config.h"

#include "group.h"

typedef struct work {
    const place *here;
    size_t bytes;
} work;

static void run_pairs(void *with, int64_t times)
{
    const work *w = with;
    for (int64_t k = 0; k < times; ++k) {
        void *p;
        if (!note_meta(meta_alloc(&p, w->bytes)) || !note_meta(meta_free(p))) return;
    }
}

static void run_driver(void *with, int64_t times)
{
    const work *w = with;
    const place *p = w->here;
    if (p->table->pairs(p->peer, w->bytes, times) != 0) note("%s", p->table->reason(p->peer));
}

void alloc_run(bench *b, int64_t size)
{
    work w = {b->here, (size_t)(size * size * size) * number_size(b->o->type)};
    row r;
    place_need(b->here, 2 * (double)w.bytes, 0);
    if (rows_impossible("alloc", size)) return;
    row_begin(&r, "alloc", "pair", b->o->type, size);
    row_add(&r, "pair", SUBJECT, run_pairs, &w, 0);
    if (b->here->has_peer) row_add(&r, "driver", PEER, run_driver, &w, 0);
    row_end(b, &r);
}
