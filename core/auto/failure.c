/* SPDX-License-Identifier: BSD-3-Clause */
/** @file failure.c
 *  A device that fails while the program runs: what others hold is used from there, and what only
 * it holds is lost. */
#include "auto/auto.h"

#include <stdio.h>
#include <stdlib.h>

/* Of each lane the number from which on work has failed or is spoilt; UINT64_MAX: none. */
typedef struct spoilt_work {
    uint64_t from[META_SLABS_LANES];
} spoilt_work;

static bool is_spoilt(const spoilt_work *spoilt, meta_mark mark)
{
    return mark != 0 && meta_mark_number(mark) >= spoilt->from[meta_mark_lane(mark)];
}

/* Make what the device holds, and what has come from it since it failed, invalid.
 * @return whether bytes of the buffer are lost that were not before */
static bool give_up(meta_auto_buffer *b, int d, const spoilt_work *spoilt)
{
    bool is_lost = false;
    for (size_t k = 0; k < b->slabs->count; ++k) {
        meta_auto_slab *slab = &b->slabs->slab[k];
        const bool was_valid = slab->valid != 0;
        slab->valid &= is_spoilt(spoilt, slab->written) ? 0 : ~(UINT32_C(1) << d);
        for (int e = 0; e < meta_auto.devices; ++e)
            if (is_spoilt(spoilt, *meta_slab_writer(b->slabs, slab, e)))
                slab->valid &= ~(UINT32_C(1) << e), slab->rest &= ~(UINT32_C(1) << e);
        slab->rest &= ~(UINT32_C(1) << d);
        is_lost |= was_valid && slab->valid == 0;
    }
    return is_lost;
}

/* Add the work that runs behind it, and mark it as spoilt by device @p d. */
static void spoil_behind(spoilt_work *spoilt, int d)
{
    bool more = true;
    while (more) {
        more = false;
        for (int l = 0; l < 2 * meta_auto.devices; ++l)
            for (int k = 0; k < meta_auto.lane[l].behinds; ++k) {
                const meta_auto_behind *b = &meta_auto.lane[l].behind[k];
                if (b->number < spoilt->from[b->lane] || b->from >= spoilt->from[l]) continue;
                spoilt->from[l] = b->from;
                more = true;
            }
    }
    for (int l = 0; l < 2 * meta_auto.devices; ++l)
        for (meta_auto_work *w = meta_auto.lane[l].first; w; w = w->next)
            if (w->number >= spoilt->from[l] && !w->spoilt_by) w->spoilt_by = 1 + d;
}

/* The device's own work that has failed, and what runs behind it. That may be found in any order:
 * a copy fails as it is queued, and an earlier one is then seen to have failed as well. */
static void find_spoilt(spoilt_work *spoilt, int lane, uint64_t number)
{
    const int other = lane ^ 1;
    for (int l = 0; l < META_SLABS_LANES; ++l) spoilt->from[l] = UINT64_MAX;
    spoilt->from[lane] = number;
    spoilt->from[other] = meta_auto.done[other] + 1;
    spoil_behind(spoilt, lane / 2);
}

void meta_auto_fails(int lane, uint64_t number)
{
    const int d = lane / 2;
    const bool is_first = !(meta_auto.failed >> d & 1);
    char *const why = meta_auto.device[d].failure;
    char name[48], note[META_NOTE_ROOM];
    spoilt_work spoilt;
    meta_auto.failed |= UINT32_C(1) << d;
    meta_auto.device[d].device->given_up = true;
    if (is_first) {
        snprintf(why, sizeof meta_auto.device[d].failure, "%s", meta_last_error());
        meta_log(META_LOG_WARN, "META_MODE=auto goes on without %s, which has failed: %s",
                 meta_auto_name(d, name), why);
    }
    find_spoilt(&spoilt, lane, number);
    for (meta_auto_buffer *b = meta_auto.newest; b; b = b->older)
        if (give_up(b, d, &spoilt))
            meta_log(META_LOG_WARN, "with %s the contents of the buffer at %p%s are lost",
                     meta_auto_name(d, name), b->address, meta_registry_note(b->address, note));
}

meta_err meta_auto_check_device(const meta_auto_lane *lane, meta_err error)
{
    if (error == META_ERR_DEVICE) meta_auto_fails(meta_auto_lane_number(lane), lane->last + 1);
    return error;
}

meta_err meta_auto_lost(const meta_auto_buffer *b)
{
    char names[256] = "", name[48], note[META_NOTE_ROOM];
    size_t at = 0;
    for (int d = 0; d < meta_auto.devices; ++d)
        if (meta_auto.failed >> d & 1 && at < sizeof names)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at > 0 ? " or " : "",
                                   meta_auto_name(d, name));
    return meta_fail(META_ERR_DEVICE,
                     "bytes of the buffer at %p%s were only on %s, which has failed: write them "
                     "again before they are read",
                     b->address, meta_registry_note(b->address, note), names);
}

meta_err meta_auto_has_failed(int d)
{
    char name[48];
    return meta_fail(META_ERR_DEVICE, "%s has failed", meta_auto_name(d, name));
}

meta_err meta_auto_kept_on_failed(const meta_auto_buffer *b)
{
    char name[48], note[META_NOTE_ROOM];
    return meta_fail(META_ERR_DEVICE, "the buffer at %p%s is kept on %s, which has failed: %s",
                     b->address, meta_registry_note(b->address, note),
                     meta_auto_name(b->pinned, name),
                     b->wrapped.object ? "unwrap it" : "call meta_native_end() and write it again");
}

meta_err meta_auto_any_left(void)
{
    if (meta_auto_usable()) return META_OK;
    return meta_fail(META_ERR_DEVICE, "all devices of META_MODE=auto have failed");
}
