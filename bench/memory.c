/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Group memory: bandwidth of plain copy, triad and read of N³ doubles, and of libmeta's own
 *  copy. */
#include "config.h"

#include "group.h"
#include "limit.h"

enum { OUT, A, B, BUFFERS };

static void measure(bench *b, const char *what, plain_work *work, double bytes, int64_t size)
{
    row r;
    row_begin(&r, "memory", what, NUMBER_F64, size);
    row_add(&r, what, SUBJECT, plain_work_run, work, bytes);
    row_end(b, &r);
}

static void run_copy(void *with, int64_t times)
{
    const plain_work *w = with;
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(meta_copy_d2d(w->out->at, w->a->at, (size_t)w->count * 8, NULL))) return;
}

static void measure_own_copy(bench *b, plain_work *work, double bytes, int64_t size)
{
    row r;
    copy_limit limit;
    row_begin(&r, "memory", "meta_copy", NUMBER_F64, size);
    row_add(&r, "meta_copy", SUBJECT, run_copy, work, bytes);
    if (b->here->has_peer) copy_limit_add(&r, &limit, b->here, work->out, work->a, bytes / 2);
    row_end(b, &r);
}

static void measure_all(bench *b, const buffer *all, int64_t count, int64_t size)
{
    const buffer *out = &all[OUT], *x = &all[A], *y = &all[B];
    const double n = (double)count;
    plain_work copy = {b->here, META_PEER_COPY, count, out, x, NULL, 1};
    plain_work copy_nt = {b->here, META_PEER_COPY_NT, count, out, x, NULL, 1};
    plain_work triad = {b->here, META_PEER_TRIAD, count, out, x, y, 1};
    plain_work read = {b->here, META_PEER_READ, count, NULL, x, NULL, 1};
    if (b->here->has_peer) {
        measure(b, "copy", &copy, 16 * n, size);
        measure(b, "copy_nt", &copy_nt, 16 * n, size);
        measure(b, "triad", &triad, 24 * n, size);
        measure(b, "read", &read, 8 * n, size);
    }
    measure_own_copy(b, &copy, 16 * n, size);
}

void memory_run(bench *b, int64_t size)
{
    const int64_t count = size * size * size;
    buffer all[BUFFERS] = {{.at = NULL}};
    place_need(b->here, BUFFERS * 8.0 * (double)count, 0);
    /* Copied as integers, which devices without double precision support, too. */
    for (int k = 0; k < BUFFERS; ++k) buffer_create(&all[k], count, NUMBER_F64);
    if (!rows_impossible("memory", size)) measure_all(b, all, count, size);
    for (int k = 0; k < BUFFERS; ++k) buffer_free(&all[k]);
}
