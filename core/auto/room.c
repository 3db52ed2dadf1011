/* SPDX-License-Identifier: BSD-3-Clause */
/** @file room.c
 *  Memory for copies. Where a device's is short, copies that were used least recently go; what only
 * such a copy holds is carried to another device first. */
#include "auto/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How good a place device @p other is for what only device @p d holds: best one that has a copy
 * already, then the host's; 0: none. */
static int refuge(const meta_auto_buffer *b, int d, int other)
{
    if (other == d || !(meta_auto_usable() >> other & 1)) return 0;
    return b->copy[other].object ? 3 : meta_auto.device[other].is_host ? 2 : 1;
}

static meta_err carry_to(meta_auto_buffer *b, int d, int to)
{
    const meta_auto_why why = meta_auto.why;
    const size_t operand = meta_auto.operand;
    meta_err error = META_OK;
    meta_auto.why = META_AUTO_WHY_ROOM;
    for (size_t k = 0; k < b->slabs->count && error == META_OK; ++k) {
        meta_auto_slab *slab = &b->slabs->slab[k];
        if (slab->valid != UINT32_C(1) << d) continue;
        const meta_auto_range range = {b, slab->begin, slab->end, .reads = true};
        error = meta_auto_acquire(meta_auto_lane_of(to, META_QUEUE_HALO), &range, 1);
    }
    meta_auto.why = why;
    meta_auto.operand = operand;
    return error;
}

static bool holds_alone(const meta_auto_buffer *b, int d)
{
    for (size_t k = 0; k < b->slabs->count; ++k)
        if (b->slabs->slab[k].valid == UINT32_C(1) << d) return true;
    return false;
}

/* Carry bytes that only device @p d holds to another one that has room for them. */
static meta_err carry_away(meta_auto_buffer *b, int d)
{
    if (!holds_alone(b, d)) return META_OK;
    for (int good = 3; good > 0; --good)
        for (int to = 0; to < meta_auto.devices; ++to) {
            if (refuge(b, d, to) != good) continue;
            const meta_err error = carry_to(b, d, to);
            if (error != META_ERR_NO_MEMORY) return error;
        }
    return META_ERR_NO_MEMORY;
}

static meta_err give_up_copy(meta_auto_buffer *b, int d)
{
    META_TRY(carry_away(b, d));
    meta_auto_wait_copy(b, d);
    for (size_t k = 0; k < b->slabs->count; ++k) {
        meta_auto_slab *slab = &b->slabs->slab[k];
        slab->valid &= ~(UINT32_C(1) << d);
        slab->rest &= ~(UINT32_C(1) << d);
        memset(meta_slab_writer(b->slabs, slab, d), 0,
               (size_t)(1 + b->slabs->lanes) * sizeof(meta_mark));
    }
    meta_pool_put(meta_auto.device[d].device, b->copy[d].block);
    b->copy[d] = (meta_auto_copy){0};
    meta_slabs_merge(b->slabs, 0, b->slabs->count, meta_auto.done);
    return META_OK;
}

/* Whether the copy on device @p d must stay: that of a call's operand where the call is to run, and
 * elsewhere what only it holds. */
static bool is_needed(const meta_auto_buffer *b, int d)
{
    if (b->pinned >= 0) return true;
    return b->users > 0 && (b->bound_to < 0 || b->bound_to == d || holds_alone(b, d));
}

/* The copy on device @p d that was used least recently, of those of which others hold the bytes as
 * well, or else of all; NULL: none may go. */
static meta_auto_buffer *least_recent(int d, bool alone)
{
    meta_auto_buffer *found = NULL;
    for (meta_auto_buffer *b = meta_auto.newest; b; b = b->older) {
        if (!b->copy[d].block || is_needed(b, d)) continue;
        if (found && found->copy[d].used <= b->copy[d].used) continue;
        if (holds_alone(b, d) == alone) found = b;
    }
    return found;
}

static bool make_room(int d)
{
    for (int alone = 0; alone <= 1; ++alone) {
        meta_auto_buffer *b = least_recent(d, alone);
        if (!b) continue;
        const int bound_to = b->bound_to;
        ++b->users; /* while its bytes are carried away */
        b->bound_to = -1;
        const meta_err error = give_up_copy(b, d);
        b->bound_to = bound_to;
        --b->users;
        if (error == META_OK) return true;
    }
    return false;
}

/* ------------------------------------------------------------------ copies that come */

/* What each device holds, for an error. */
static meta_err exhausted(const meta_auto_buffer *b, int d)
{
    char text[48], list[512] = "";
    size_t at = 0;
    for (int k = 0; k < meta_auto.devices; ++k) {
        uint64_t bytes = 0, count = 0;
        for (const meta_auto_buffer *o = meta_auto.newest; o; o = o->older)
            if (o->copy[k].block) bytes += o->bytes, ++count;
        const int length =
            snprintf(list + at, sizeof list - at, "%s%s: %" PRIu64 " bytes in %" PRIu64 " buffers",
                     k > 0 ? ", " : "", meta_auto_name(k, text), bytes, count);
        if (length > 0 && at + (size_t)length < sizeof list) at += (size_t)length;
    }
    char name[48];
    return meta_fail(META_ERR_NO_MEMORY,
                     "%s has no memory for a buffer of %" PRIu64
                     " bytes beside those of the same call; copies are on %s",
                     meta_auto_name(d, name), b->bytes, list);
}

meta_err meta_auto_place(meta_auto_buffer *b, int d)
{
    meta_auto_copy *copy = &b->copy[d];
    meta_err error;
    copy->used = meta_auto.calls;
    if (copy->object) return META_OK;
    while ((error = meta_pool_get(meta_auto.device[d].device, b->bytes, &copy->block)) ==
           META_ERR_NO_MEMORY)
        if (!make_room(d)) {
            copy->block = NULL;
            return exhausted(b, d);
        }
    if (error != META_OK) {
        copy->block = NULL;
        return meta_auto_check_device(meta_auto_lane_of(d, META_QUEUE_COMPUTE), error);
    }
    copy->object = meta_block_memory(copy->block)->object;
    return META_OK;
}
