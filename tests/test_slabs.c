/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_slabs.c
 *  The slabs of a coherent buffer, alone: random cuts, changes and merges, against an oracle that
 *  keeps the state of each byte. Linked with --wrap, so that allocations of a cut can fail. */
/* TEST: labels=core smoke=yes */
#include "auto/slabs.h"
#include "test.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BYTES = 300, STEPS = 60 };

/* The oracle. */
typedef struct byte_state {
    uint32_t valid;
    meta_mark writer[META_SLABS_DEVICES], reader[META_SLABS_DEVICES][META_SLABS_LANES];
} byte_state;
static byte_state oracle[BYTES];
static uint64_t bytes, queued[META_SLABS_LANES], done[META_SLABS_LANES];
static meta_slabs *slabs;

/* ------------------------------------------------------------------ allocations that fail */

/* So many allocations succeed, and one fails; below 0: none fails. */
static int succeed = -1;

static bool fails(void)
{
    return succeed >= 0 && succeed-- == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
__attribute__((visibility("default"))) void *__wrap_malloc(size_t size);
__attribute__((visibility("default"))) void *__wrap_calloc(size_t count, size_t size);
__attribute__((visibility("default"))) void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

/* ------------------------------------------------------------------ comparisons */

/* A mark of complete work counts as none. */
static meta_mark pending(meta_mark mark)
{
    return meta_mark_number(mark) > done[meta_mark_lane(mark)] ? mark : 0;
}

/* Slab @p slab has the state of byte @p at. */
static bool has_state(const meta_auto_slab *slab, uint64_t at)
{
    const byte_state *byte = &oracle[at];
    if (slab->valid != byte->valid) return false;
    for (int d = 0; d < slabs->devices; ++d) {
        const meta_mark *reader = meta_slab_readers(slabs, slab, d);
        if (pending(*meta_slab_writer(slabs, slab, d)) != pending(byte->writer[d])) return false;
        for (int lane = 0; lane < slabs->lanes; ++lane)
            if (pending(reader[lane]) != pending(byte->reader[d][lane])) return false;
    }
    return true;
}

static bool slabs_are_sound(void)
{
    uint64_t at = 0;
    for (size_t k = 0; k < slabs->count; ++k) {
        const meta_auto_slab *slab = &slabs->slab[k];
        if (slab->begin != at || slab->end <= at)
            return FAIL("slab %zu is [%" PRIu64 ", %" PRIu64 "), after byte %" PRIu64, k,
                        slab->begin, slab->end, at);
        for (; at < slab->end && at < bytes; ++at) {
            if (!has_state(slab, at)) return FAIL("slab %zu, byte %" PRIu64 ": its state", k, at);
            if (!CHECK_U64(meta_slabs_find(slabs, at), k)) return false;
        }
    }
    return CHECK_U64(at, bytes) && CHECK_U64(slabs->slab[slabs->count - 1].end, bytes);
}

/* None of slabs [first, last) is like its neighbours. */
static bool slabs_differ(size_t first, size_t last)
{
    for (size_t k = first > 0 ? first : 1; k <= last && k < slabs->count; ++k)
        if (has_state(&slabs->slab[k - 1], slabs->slab[k].begin))
            return FAIL("slabs %zu and %zu are alike", k - 1, k);
    return true;
}

/* ------------------------------------------------------------------ steps */

static void start(uint64_t size, int devices)
{
    bytes = size;
    slabs = meta_slabs_new(bytes, devices);
    for (uint64_t at = 0; at < bytes; ++at)
        oracle[at] = (byte_state){.valid = (UINT32_C(1) << devices) - 1};
    for (int lane = 0; lane < META_SLABS_LANES; ++lane) queued[lane] = done[lane] = 0;
}

/* A range that is not empty; its ends are often those of slabs. */
static void random_range(uint64_t *begin, uint64_t *end)
{
    *begin = (uint64_t)test_random_in(0, (int64_t)bytes - 1);
    if (test_random_in(0, 2) == 0) *begin = slabs->slab[meta_slabs_find(slabs, *begin)].begin;
    *end = (uint64_t)test_random_in((int64_t)*begin + 1, (int64_t)bytes);
    if (test_random_in(0, 2) == 0) *end = slabs->slab[meta_slabs_find(slabs, *end - 1)].end;
}

static uint32_t random_valid(int device)
{
    const uint32_t all = (UINT32_C(1) << slabs->devices) - 1;
    const int64_t kind = test_random_in(0, 2);
    return kind == 0 ? all : kind == 1 ? UINT32_C(1) << device : (uint32_t)test_random() & all;
}

/* Change the state of slabs [first, last), bytes [begin, end): their valid copies, or new work that
 * writes or reads one copy. */
static void change(size_t first, size_t last, uint64_t begin, uint64_t end)
{
    const int device = (int)test_random_in(0, slabs->devices - 1);
    const int lane = (int)test_random_in(0, slabs->lanes - 1);
    const int64_t kind = test_random_in(0, 2);
    const uint32_t valid = random_valid(device);
    const meta_mark mark = kind > 0 ? meta_mark_of(lane, ++queued[lane]) : 0;
    for (size_t k = first; k < last; ++k) {
        meta_auto_slab *slab = &slabs->slab[k];
        meta_mark *reader = meta_slab_readers(slabs, slab, device);
        if (kind == 0) slab->valid = valid;
        if (kind == 1) *meta_slab_writer(slabs, slab, device) = mark;
        for (int l = 0; kind == 1 && l < slabs->lanes; ++l) reader[l] = 0;
        if (kind == 2) reader[lane] = mark;
    }
    for (uint64_t at = begin; at < end; ++at) {
        byte_state *byte = &oracle[at];
        if (kind == 0) byte->valid = valid;
        if (kind == 1) byte->writer[device] = mark;
        for (int l = 0; kind == 1 && l < slabs->lanes; ++l) byte->reader[device][l] = 0;
        if (kind == 2) byte->reader[device][lane] = mark;
    }
}

static void complete_some(void)
{
    for (int lane = 0; lane < slabs->lanes; ++lane)
        if (test_random_in(0, 1))
            done[lane] = (uint64_t)test_random_in((int64_t)done[lane], (int64_t)queued[lane]);
}

static bool cut_and_change(void)
{
    uint64_t begin, end;
    size_t first, last;
    random_range(&begin, &end);
    if (!CHECK(meta_slabs_cut(slabs, begin, end, &first, &last)) || !CHECK(first < last) ||
        !CHECK(last <= slabs->count) || !CHECK_U64(slabs->slab[first].begin, begin) ||
        !CHECK_U64(slabs->slab[last - 1].end, end))
        return false;
    if (test_random_in(0, 3) > 0) change(first, last, begin, end);
    return slabs_are_sound();
}

static bool merge(bool everything)
{
    const size_t before = slabs->count;
    const size_t first = everything ? 0 : (size_t)test_random_in(0, (int64_t)slabs->count - 1);
    const size_t last =
        everything ? before : (size_t)test_random_in((int64_t)first + 1, (int64_t)before);
    complete_some();
    meta_slabs_merge(slabs, first, last, done);
    if (!CHECK(slabs->count <= before) || !slabs_are_sound()) return false;
    const size_t merged = before - slabs->count;
    return slabs_differ(first, last > merged ? last - merged : 0);
}

/* A cut whose allocations may fail: if one does, every slab is where and what it was. */
static bool cut_may_fail(void)
{
    static meta_auto_slab before[BYTES];
    uint64_t begin, end;
    size_t first, last;
    const size_t count = slabs->count;
    for (size_t k = 0; k < count; ++k) before[k] = slabs->slab[k];
    random_range(&begin, &end);
    succeed = (int)test_random_in(0, 2);
    const bool is_cut = meta_slabs_cut(slabs, begin, end, &first, &last);
    succeed = -1;
    if (is_cut) return slabs_are_sound();
    if (!CHECK_U64(slabs->count, count)) return false;
    for (size_t k = 0; k < count; ++k) {
        const meta_auto_slab *slab = &slabs->slab[k];
        if (slab->begin != before[k].begin || slab->end != before[k].end ||
            slab->valid != before[k].valid || slab->mark != before[k].mark)
            return FAIL("slab %zu has changed", k);
    }
    return slabs_are_sound();
}

/* ------------------------------------------------------------------ promises */

static void run_sequences(bool may_fail)
{
    const int64_t sequences = test_count(2000, 20000);
    for (int64_t n = 0; n < sequences && test_failures() == 0; ++n) {
        const int devices = (int)test_random_in(1, test_random_in(1, META_SLABS_DEVICES));
        start((uint64_t)test_random_in(1, test_random_in(1, BYTES)), devices);
        if (!CHECK(slabs != NULL)) return;
        bool sound = slabs_are_sound();
        for (int step = 0; step < STEPS && sound; ++step) {
            const int64_t kind = test_random_in(0, 9);
            test_case("sequence %" PRId64 ", step %d: %" PRIu64 " bytes, %d devices", n, step,
                      bytes, devices);
            if (kind < 3) sound = merge(kind == 0);
            else sound = may_fail && kind < 7 ? cut_may_fail() : cut_and_change();
        }
        if (sound) merge(true);
        meta_slabs_free(slabs);
    }
}

static void slabs_have_the_state_of_their_bytes(void)
{
    run_sequences(false);
}

static void a_cut_that_fails_changes_nothing(void)
{
    run_sequences(true);
}

static void completed_work_leaves_one_slab(void)
{
    size_t first, last;
    start(100, 2);
    if (!CHECK(slabs && meta_slabs_cut(slabs, 30, 60, &first, &last))) return;
    CHECK_U64(slabs->count, 3);
    *meta_slab_writer(slabs, &slabs->slab[first], 1) = meta_mark_of(3, 7);
    done[3] = 6;
    meta_slabs_merge(slabs, first, last, done);
    CHECK_U64(slabs->count, 3);
    done[3] = 7;
    meta_slabs_merge(slabs, first, last, done);
    CHECK_U64(slabs->count, 1);
    CHECK_U64(slabs->slab[0].end, 100);
    meta_slabs_free(slabs);
}

static void slabs_are_not_made_without_memory(void)
{
    for (int n = 0; n < 3; ++n) {
        succeed = n;
        CHECK(meta_slabs_new(10, 3) == NULL);
    }
    succeed = -1;
}

TEST_MAIN(PROMISE(slabs_have_the_state_of_their_bytes), PROMISE(a_cut_that_fails_changes_nothing),
          PROMISE(completed_work_leaves_one_slab), PROMISE(slabs_are_not_made_without_memory))
