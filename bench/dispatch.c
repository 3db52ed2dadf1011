/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dispatch.c
 *  Group dispatch: the overhead of a nearly empty call, compared with an empty launch. */
#include "config.h"

#include "group.h"

enum { QUEUED = 256 };

typedef struct work {
    const place *here;
    const buffer *one;
    meta_type type;
    int launches;
} work;

static const uint64_t zero;

static meta_err call(const work *w, meta_event *done)
{
    return meta_fill(w->one->at, 1, &zero, w->type, done);
}

static void run_blocking(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(call(with, NULL))) return;
}

static void run_with_event(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k) {
        meta_event event;
        if (!note_meta(call(with, &event)) || !note_meta(meta_event_wait(event)) ||
            !note_meta(meta_event_free(&event)))
            return;
    }
}

static void run_queued(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k) {
        for (int q = 0; q < QUEUED; ++q)
            if (!note_meta(call(with, META_ASYNC))) return;
        if (!note_meta(meta_flush())) return;
    }
}

static void run_raw(void *with, int64_t times)
{
    const work *w = with;
    const place *p = w->here;
    for (int64_t k = 0; k < times; ++k)
        if (p->table->empty(p->peer, w->launches) != 0) {
            note("%s", p->table->reason(p->peer));
            return;
        }
}

static void measure(bench *b, const char *what, work *w, void (*run)(void *, int64_t), int64_t size)
{
    row r;
    row_begin(&r, "dispatch", what, b->o->type, size);
    row_add(&r, what, SUBJECT, run, w, 0);
    if (b->here->has_peer) row_add(&r, "raw", PEER, run_raw, w, 0);
    for (int k = 0; k < r.count; ++k) r.list[k].each = w->launches;
    row_end(b, &r);
}

void dispatch_run(bench *b, int64_t size)
{
    buffer one;
    buffer_create(&one, size, b->o->type);
    work w = {.here = b->here, .one = &one, .type = type_of(b->o->type), .launches = 1};
    if (!rows_impossible("dispatch", size)) {
        measure(b, "blocking", &w, run_blocking, size);
        measure(b, "event", &w, run_with_event, size);
        w.launches = QUEUED;
        measure(b, "queued", &w, run_queued, size);
    }
    buffer_free(&one);
}
