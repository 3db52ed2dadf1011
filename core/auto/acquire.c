/* SPDX-License-Identifier: BSD-3-Clause */
/** @file acquire.c
 *  Before work is queued: what it reads is made valid on its device, and it is ordered behind the
 * work that its copies wait for. Behind it: which bytes it has changed, and what must wait for it.
 */
#include "auto/auto.h"
#include "auto/link.h"

#include <string.h>

static uint32_t bit(int d)
{
    return UINT32_C(1) << d;
}

/* The device from which the bytes of a slab reach device @p d soonest; -1: none has them. */
static int source(const meta_auto_buffer *b, const meta_auto_slab *slab, int d)
{
    int found = -1;
    double least = 0;
    for (int s = 0; s < meta_auto.devices; ++s) {
        if (!(slab->valid & bit(s)) || !b->copy[s].object || s == d) continue;
        const double time = meta_auto_move_time(s, d, slab->end - slab->begin);
        if (found >= 0 && time >= least) continue;
        found = s;
        least = time;
    }
    return found;
}

/* ------------------------------------------------------------------ fetching */

/* Slabs [first, last) of a buffer, one behind the other, that come from one device. */
typedef struct run {
    size_t first, last;
    int from;
} run;

static meta_err fetch_run(meta_auto_buffer *b, const run *r, int d)
{
    meta_auto_slab *slab = b->slabs->slab;
    const uint32_t failed = meta_auto.failed;
    meta_mark mark = 0;
    META_TRY(meta_auto_move(b, r->from, d, r->first, r->last, &mark));
    for (size_t k = r->first; k < r->last; ++k) {
        if (meta_auto.failed == failed) { /* else it is fetched again */
            slab[k].valid |= bit(d);
            slab[k].rest |= bit(d);
        }
        *meta_slab_writer(b->slabs, &slab[k], d) = mark;
        memset(meta_slab_readers(b->slabs, &slab[k], d), 0,
               (size_t)b->slabs->lanes * sizeof(meta_mark));
        meta_slab_readers(b->slabs, &slab[k], r->from)[meta_mark_lane(mark)] = mark;
    }
    return META_OK;
}

/* Make slabs [first, last) valid on device @p d, as far as the range reads them. */
static meta_err fetch(const meta_auto_range *range, size_t first, size_t last, int d)
{
    meta_auto_buffer *b = range->buffer;
    meta_auto_slab *slab = b->slabs->slab;
    for (size_t k = first; k < last;) {
        if (meta_auto_holds(&slab[k], range, d)) {
            ++k;
            continue;
        }
        run r = {k, k + 1, source(b, &slab[k], d)};
        if (slab[k].valid == 0) return meta_auto_lost(b);
        if (r.from < 0) { /* nothing was ever written there */
            slab[k].valid |= bit(d);
            slab[k++].rest |= bit(d);
            continue;
        }
        while (r.last < last && !meta_auto_holds(&slab[r.last], range, d) &&
               source(b, &slab[r.last], d) == r.from)
            ++r.last;
        META_TRY(fetch_run(b, &r, d));
        k = r.last;
    }
    return META_OK;
}

/* Whether work on device @p d changes nothing of a slab but marks: the device holds what is read,
 * and no other one what is written. */
static bool stays(const meta_auto_slab *slab, const meta_auto_range *range, int d)
{
    if (!range->writes) return slab->valid >> d & 1;
    return slab->valid == bit(d) && (slab->rest == bit(d) || slab->shape == range->shape);
}

/* Whether that holds for slabs [*first, *last), in which the range lies. */
static bool all_stay(const meta_auto_range *range, int d, size_t *first, size_t *last)
{
    const meta_slabs *slabs = range->buffer->slabs;
    size_t k = *first = meta_slabs_find(slabs, range->begin);
    for (; k < slabs->count && slabs->slab[k].begin < range->end; ++k)
        if (!stays(&slabs->slab[k], range, d)) return false;
    *last = k;
    return true;
}

/* Slabs that stay need not be cut for work that is soon complete: see commit_one(). */
static meta_err acquire_one(meta_auto_lane *lane, const meta_auto_range *range)
{
    meta_auto_buffer *b = range->buffer;
    const int d = lane->of->number;
    size_t first, last;
    META_TRY(meta_auto_place(b, d));
    const bool is_whole = all_stay(range, d, &first, &last);
    if (!is_whole && !meta_slabs_cut(b->slabs, range->begin, range->end, &first, &last))
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory to divide a buffer");
    if (range->reads && !is_whole) META_TRY(fetch(range, first, last, d));
    for (size_t k = first; k < last; ++k)
        META_TRY(meta_auto_order_slab(lane, b->slabs, &b->slabs->slab[k], d, range->writes));
    return META_OK;
}

static meta_err acquire_all(meta_auto_lane *lane, const meta_auto_range *ranges, size_t count)
{
    for (size_t k = 0; k < count; ++k) {
        meta_auto.operand = k;
        META_TRY(acquire_one(lane, &ranges[k]));
    }
    return META_OK;
}

/* Again where a device has failed meanwhile: others may have what came from it. */
meta_err meta_auto_acquire(meta_auto_lane *lane, const meta_auto_range *ranges, size_t count)
{
    const int d = lane->of->number;
    uint32_t failed;
    meta_err error;
    /* Room for one operand must not be that of another. */
    for (size_t k = 0; k < count; ++k)
        if (ranges[k].buffer->users++ == 0) ranges[k].buffer->bound_to = d;
    do {
        failed = meta_auto.failed;
        error = acquire_all(lane, ranges, count);
    } while (meta_auto.failed != failed && !(meta_auto.failed & bit(d)));
    for (size_t k = 0; k < count; ++k) --ranges[k].buffer->users;
    if (error == META_OK && meta_auto.failed & bit(d)) return meta_auto_has_failed(d);
    return error;
}

/* ------------------------------------------------------------------ behind the work */

/* Whether nothing is to be noted: nothing changes, and nobody waits for work that is complete. */
static bool is_noted(const meta_auto_range *range, int d, meta_mark mark)
{
    size_t first, last;
    return meta_mark_number(mark) <= meta_auto.done[meta_mark_lane(mark)] &&
           !(meta_auto.failed & bit(d)) && /* it may have failed just now */
           all_stay(range, d, &first, &last);
}

static void commit_one(const meta_auto_range *range, int d, meta_mark mark)
{
    meta_slabs *slabs = range->buffer->slabs;
    size_t first, last;
    /* Slabs that stayed are whole until here. If there is no memory to cut one, its other bytes
     * wait for this work as well. */
    if (!meta_slabs_cut(slabs, range->begin, range->end, &first, &last)) {
        first = meta_slabs_find(slabs, range->begin);
        last = meta_slabs_find(slabs, range->end - 1) + 1;
    }
    slabs->has_changed = true;
    for (size_t k = first; k < last; ++k) {
        meta_auto_slab *slab = &slabs->slab[k];
        if (!range->writes) {
            meta_slab_readers(slabs, slab, d)[meta_mark_lane(mark)] = mark;
            continue;
        }
        /* Others that held all bytes, or the rest of those of the same shape, hold its rest. */
        slab->rest = (slab->shape == range->shape ? slab->rest : slab->valid) | bit(d);
        slab->shape = range->shape;
        slab->valid = bit(d) & ~meta_auto.failed;
        slab->written = mark;
        *meta_slab_writer(slabs, slab, d) = mark;
        memset(meta_slab_readers(slabs, slab, d), 0, (size_t)slabs->lanes * sizeof(meta_mark));
    }
}

/* First what is read: a write ends the wait for what read before it. */
void meta_auto_commit(const meta_auto_range *ranges, size_t count, int d, meta_mark mark)
{
    for (int writes = 0; writes < 2; ++writes)
        for (size_t k = 0; k < count; ++k)
            if (ranges[k].writes == writes && !is_noted(&ranges[k], d, mark))
                commit_one(&ranges[k], d, mark);
    for (size_t k = 0; k < count; ++k) {
        meta_slabs *slabs = ranges[k].buffer->slabs;
        if (!slabs->has_changed) continue;
        meta_slabs_merge(slabs, meta_slabs_find(slabs, ranges[k].begin),
                         meta_slabs_find(slabs, ranges[k].end - 1) + 1, meta_auto.done);
    }
    for (size_t k = 0; k < count; ++k) ranges[k].buffer->slabs->has_changed = false;
}

/* ------------------------------------------------------------------ for decisions */

uint64_t meta_auto_missing(const meta_auto_range *ranges, size_t count, int d, double *time)
{
    uint64_t bytes = 0;
    *time = 0;
    for (size_t k = 0; k < count; ++k) {
        const meta_auto_range *r = &ranges[k];
        const meta_slabs *slabs = r->buffer->slabs;
        if (!r->reads) continue;
        for (size_t n = meta_slabs_find(slabs, r->begin);
             n < slabs->count && slabs->slab[n].begin < r->end; ++n) {
            const meta_auto_slab *slab = &slabs->slab[n];
            if (meta_auto_holds(slab, r, d)) continue;
            const int from = source(r->buffer, slab, d);
            if (from < 0) continue;
            const uint64_t begin = slab->begin > r->begin ? slab->begin : r->begin;
            const uint64_t end = slab->end < r->end ? slab->end : r->end;
            bytes += end - begin;
            *time += meta_auto_move_time(from, d, end - begin);
        }
    }
    return bytes;
}

int meta_auto_holder(const meta_auto_range *range, uint32_t among)
{
    const meta_slabs *slabs = range->buffer->slabs;
    uint64_t held[META_SLABS_DEVICES] = {0};
    int best = -1;
    for (size_t n = meta_slabs_find(slabs, range->begin);
         n < slabs->count && slabs->slab[n].begin < range->end; ++n) {
        const meta_auto_slab *slab = &slabs->slab[n];
        const uint64_t begin = slab->begin > range->begin ? slab->begin : range->begin;
        const uint64_t end = slab->end < range->end ? slab->end : range->end;
        for (int d = 0; d < meta_auto.devices; ++d)
            if (slab->valid & bit(d) && range->buffer->copy[d].object) held[d] += end - begin;
    }
    for (int d = 0; d < meta_auto.devices; ++d) {
        if (!(among & bit(d)) || held[d] == 0) continue;
        if (best < 0 || held[d] > held[best]) best = d;
    }
    return best;
}
