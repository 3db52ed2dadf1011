/* SPDX-License-Identifier: BSD-3-Clause */
/** @file slabs.c
 *  Slabs are cut where a call's ranges end, and merged again behind it, so that a buffer which is
 *  used as a whole has one. */
#include "auto/slabs.h"

#include <stdlib.h>
#include <string.h>

static size_t marks(const meta_slabs *slabs)
{
    return (size_t)slabs->devices * (size_t)(1 + slabs->lanes);
}

meta_slabs *meta_slabs_new(uint64_t bytes, int devices)
{
    enum { ROOM = 4 };
    meta_slabs *slabs = calloc(1, sizeof *slabs);
    if (!slabs) return NULL;
    slabs->devices = devices;
    slabs->lanes = 2 * devices;
    slabs->room = ROOM;
    slabs->slab = calloc(ROOM, sizeof *slabs->slab);
    meta_mark *mark = slabs->slab ? calloc(marks(slabs), sizeof *mark) : NULL;
    if (!mark) {
        free(slabs->slab);
        free(slabs);
        return NULL;
    }
    slabs->count = 1;
    slabs->slab[0] = (meta_auto_slab){0, bytes, (UINT32_C(1) << devices) - 1, 0, mark, 0, 0};
    return slabs;
}

void meta_slabs_free(meta_slabs *slabs)
{
    if (!slabs) return;
    for (size_t k = 0; k < slabs->count; ++k) free(slabs->slab[k].mark);
    free(slabs->slab);
    free(slabs);
}

size_t meta_slabs_find(const meta_slabs *slabs, uint64_t at)
{
    size_t low = 0, high = slabs->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (slabs->slab[middle].begin <= at) low = middle;
        else high = middle;
    }
    return low;
}

/* Cut slab @p k at byte @p at inside it; there is room for one more. */
static bool cut_one(meta_slabs *slabs, size_t k, uint64_t at)
{
    meta_auto_slab *slab = &slabs->slab[k];
    meta_mark *mark = malloc(marks(slabs) * sizeof *mark);
    if (!mark) return false;
    memcpy(mark, slab->mark, marks(slabs) * sizeof *mark);
    memmove(slab + 2, slab + 1, (slabs->count - k - 1) * sizeof *slab);
    slab[1] = *slab;
    slab[1].begin = at;
    slab[1].mark = mark;
    slab->end = at;
    ++slabs->count;
    slabs->has_changed = true;
    return true;
}

static bool grow(meta_slabs *slabs, size_t more)
{
    if (slabs->count + more <= slabs->room) return true;
    const size_t room = 2 * slabs->room + more;
    meta_auto_slab *larger = realloc(slabs->slab, room * sizeof *larger);
    if (!larger) return false;
    slabs->slab = larger;
    slabs->room = room;
    return true;
}

bool meta_slabs_cut(meta_slabs *slabs, uint64_t begin, uint64_t end, size_t *first, size_t *last)
{
    size_t k = meta_slabs_find(slabs, begin);
    if (!grow(slabs, 2)) return false;
    const bool begins_inside = slabs->slab[k].begin < begin;
    if (begins_inside && !cut_one(slabs, k, begin)) return false;
    *first = k += begins_inside;
    while (slabs->slab[k].end < end) ++k;
    if (slabs->slab[k].end > end && !cut_one(slabs, k, end)) {
        if (begins_inside) { /* undo the first cut */
            slabs->slab[*first - 1].end = slabs->slab[*first].end;
            free(slabs->slab[*first].mark);
            memmove(&slabs->slab[*first], &slabs->slab[*first + 1],
                    (slabs->count - *first - 1) * sizeof *slabs->slab);
            --slabs->count;
        }
        return false;
    }
    *last = k + 1;
    return true;
}

static bool same(meta_mark x, meta_mark y, const uint64_t *done)
{
    return x == y || (meta_mark_number(x) <= done[meta_mark_lane(x)] &&
                      meta_mark_number(y) <= done[meta_mark_lane(y)]);
}

static bool alike(const meta_slabs *slabs, const meta_auto_slab *a, const meta_auto_slab *b,
                  const uint64_t *done)
{
    if (a->shape != b->shape || (a->shape && a->rest != b->rest)) return false;
    if (a->valid != b->valid || !same(a->written, b->written, done)) return false;
    for (size_t k = 0; k < marks(slabs); ++k)
        if (!same(a->mark[k], b->mark[k], done)) return false;
    return true;
}

void meta_slabs_merge(meta_slabs *slabs, size_t first, size_t last, const uint64_t *done)
{
    size_t to = first > 0 ? first - 1 : 0;
    const size_t end = last < slabs->count ? last + 1 : slabs->count;
    for (size_t k = to + 1; k < end; ++k) {
        meta_auto_slab *slab = &slabs->slab[k];
        if (alike(slabs, &slabs->slab[to], slab, done)) {
            slabs->slab[to].end = slab->end;
            free(slab->mark);
        } else {
            slabs->slab[++to] = *slab;
        }
    }
    if (to + 1 == end) return;
    memmove(&slabs->slab[to + 1], &slabs->slab[end], (slabs->count - end) * sizeof *slabs->slab);
    slabs->count -= end - to - 1;
}
