/* SPDX-License-Identifier: BSD-3-Clause */
/** @file schedule.c
 *  Group schedule: what META_MODE=auto takes to choose a device. The same calls on buffers of one
 *  device, which chooses nothing, are timed in turn; the difference is the decision. */
#include "config.h"

#include "group.h"

enum { QUEUED = 256, EDGE = 16 };

/** Arrays on a device, which may stand for several. */
typedef struct work {
    meta_mode mode;
    int index;
    void *y, *x;
    meta_type type;
    size_t bytes;
    uint64_t calls;
} work;

static const uint64_t zero;

/* The device of the arrays becomes this thread's. */
static bool use(meta_mode mode, int index)
{
    return note_meta(meta_set_acc(index, mode));
}

static bool flush(void)
{
    return note_meta(meta_flush());
}

static meta_err add(const work *w, int64_t cells, meta_event *done)
{
    const meta_box box = {1, {cells}, {0}, {cells}};
    return meta_axpy(w->y, &zero, w->x, &box, w->type, done);
}

static void run_known(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k) {
        for (int q = 0; q < QUEUED; ++q)
            if (!note_meta(add(with, 1, META_ASYNC))) return;
        if (!flush()) return;
    }
}

static void run_blocking(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k)
        if (!note_meta(add(with, 1, NULL))) return;
}

/* A kernel and a box drawn at random (splitmix64, Steele, Lea and Flood 2014), so that no call
 * follows from those before it. */
static meta_err other_call(work *w)
{
    uint64_t z = w->calls += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    const int64_t cells = 1 + (int64_t)(z >> 40 & (EDGE - 1));
    const int64_t rows = 1 + (int64_t)(z >> 50 & (EDGE - 1));
    const meta_box box = {2, {EDGE, EDGE}, {0, 0}, {cells, rows}};
    if (z >> 63) return meta_fill_box(w->y, &box, &zero, w->type, META_ASYNC);
    return meta_axpy(w->y, &zero, w->x, &box, w->type, META_ASYNC);
}

static void run_new(void *with, int64_t times)
{
    for (int64_t k = 0; k < times; ++k) {
        for (int q = 0; q < QUEUED; ++q)
            if (!note_meta(other_call(with))) return;
        if (!flush()) return;
    }
}

/* The first and only call on a buffer, with what it takes to make and to free the buffer. */
static void run_fresh(void *with, int64_t times)
{
    const work *w = with;
    if (!use(w->mode, w->index)) return;
    for (int64_t k = 0; k < times; ++k) {
        work one = *w;
        if (!note_meta(meta_alloc(&one.y, w->bytes)) ||
            !note_meta(meta_fill(one.y, 1, &zero, w->type, META_ASYNC)) ||
            !note_meta(meta_free(one.y)))
            return;
    }
}

static void measure(bench *b, const char *what, work *automatic, work *fixed,
                    void (*run)(void *, int64_t), int each, int64_t size)
{
    row r;
    row_begin(&r, "schedule", what, b->o->type, size);
    row_add(&r, what, SUBJECT, run, automatic, 0);
    row_add(&r, "fixed", PEER, run, fixed, 0);
    for (int k = 0; k < r.count; ++k) r.list[k].each = each;
    row_end(b, &r);
}

static void create(work *w)
{
    if (!use(w->mode, w->index) || !note_meta(meta_alloc(&w->y, w->bytes)) ||
        !note_meta(meta_alloc(&w->x, w->bytes)))
        return;
    if (note_meta(meta_fill(w->y, EDGE * EDGE, &zero, w->type, NULL)))
        note_meta(meta_fill(w->x, EDGE * EDGE, &zero, w->type, NULL));
}

static void release(work *w)
{
    if (w->y) note_meta(meta_free(w->y));
    if (w->x) note_meta(meta_free(w->x));
}

void schedule_run(bench *b, int64_t size)
{
    const place *here = b->here;
    const bool is_auto = here->mode == META_AUTO;
    work automatic = {.mode = META_AUTO,
                      .type = type_of(b->o->type),
                      .bytes = EDGE * EDGE * number_size(b->o->type)};
    work fixed = automatic;
    fixed.mode = is_auto ? META_OPENMP : here->mode;
    fixed.index = is_auto ? 0 : here->index;
    create(&fixed);
    create(&automatic);
    if (!rows_impossible("schedule", size)) {
        measure(b, "known", &automatic, &fixed, run_known, QUEUED, size);
        measure(b, "blocking", &automatic, &fixed, run_blocking, 1, size);
        measure(b, "new", &automatic, &fixed, run_new, QUEUED, size);
        measure(b, "fresh", &automatic, &fixed, run_fresh, 1, size);
    }
    release(&automatic);
    release(&fixed);
    use(here->mode, here->index);
}
