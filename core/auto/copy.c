/* SPDX-License-Identifier: BSD-3-Clause */
/** @file copy.c
 *  Copies between the host and coherent buffers. */
#include "auto/auto.h"
#include "auto/worker.h"

/* Before the time of a part on @p device is added: what @p stamp has is of another clock if earlier
 * parts ran on another device. A copy then has the time of its last parts, on the device for which
 * it is counted. */
static void keep_one_clock(meta_stamp *stamp, const meta_device *device)
{
    const meta_device *earlier = meta_ran_on;
    if (!stamp || !earlier || earlier == device) return;
    const bool is_virtual = device->backend->ops.now != NULL;
    if (is_virtual && earlier->backend->ops.now == device->backend->ops.now) return;
    if (stamp->work) meta_auto_stamp_drop(stamp->work);
    *stamp = (meta_stamp){0};
}

/* A part of a copy, on one device. */
static meta_err copy_part(meta_plugin_queue *queue, const meta_copy *all,
                          const meta_auto_range *range, int d, meta_auto_ticket **t)
{
    meta_auto_lane *lane = meta_auto_lane_of(d, queue->kind);
    const meta_ops *ops = lane->of->ops;
    meta_plugin_queue *real;
    meta_ticket own = NULL;
    meta_stamp stamp = {0};
    meta_auto_work *work = NULL;
    meta_auto.why = queue->kind == META_QUEUE_HALO ? META_AUTO_WHY_HALO : META_AUTO_WHY_HOST;
    meta_worker_decide(lane->of, 0);
    META_TRY(meta_auto_acquire(lane, range, 1));
    char *const host = (char *)all->host + (range->begin - all->offset);
    const uint64_t bytes = range->end - range->begin;
    META_TRY(meta_auto_order_host(queue, lane, (meta_auto_host_range){host, host + bytes}));
    META_TRY(meta_auto_queue(lane, &real));
    const meta_copy part = {.size = sizeof part,
                            .kind = all->kind,
                            .object = range->buffer->copy[d].object,
                            .offset = range->begin,
                            .bytes = bytes,
                            .host = host,
                            .ticket = &own,
                            .stamp = all->stamp ? &stamp : NULL};
    META_TRY(meta_auto_check_device(lane, ops->copy(real, &part)));
    const meta_mark mark = meta_auto_queued(lane, own, all->ticket ? &work : NULL);
    queue->host[meta_auto_lane_number(lane)] = meta_mark_number(mark);
    meta_auto_commit(range, 1, d, mark);
    keep_one_clock(all->stamp, lane->of->device);
    meta_auto_hand_stamp(ops, &stamp, all->stamp, NULL);
    meta_ran_on = lane->of->device;
    return meta_auto_ticket_add(t, work);
}

/* A copy on device @p d, or on another one if it has no memory for the buffer or fails. */
static meta_err copy_anywhere(meta_plugin_queue *queue, const meta_copy *copy,
                              const meta_auto_range *range, int d, meta_auto_ticket **t)
{
    uint32_t among = meta_auto_allowed(range->buffer);
    for (;;) {
        const meta_err error = copy_part(queue, copy, range, d, t);
        const bool fails = error == META_ERR_DEVICE && meta_auto.failed >> d & 1;
        among &= ~(UINT32_C(1) << d);
        if ((error != META_ERR_NO_MEMORY && !fails) || !among) return error;
        d = meta_auto_choose_copy(range, among);
    }
}

/* From where the bytes are: if they are on several devices, as many parts. */
static meta_err copy_out(meta_plugin_queue *queue, const meta_copy *copy, meta_auto_ticket **t)
{
    meta_auto_buffer *b = copy->object;
    const uint64_t end = copy->offset + copy->bytes;
    meta_auto_plan_copy(&(meta_auto_range){b, copy->offset, end, .reads = true}, false);
    for (uint64_t at = copy->offset; at < end;) {
        const meta_auto_slab *slab = &b->slabs->slab[meta_slabs_find(b->slabs, at)];
        meta_auto_range range = {b, at, slab->end < end ? slab->end : end, .reads = true};
        const int d = meta_auto_choose_copy(&range, meta_auto_allowed(b));
        /* The next slabs as well, as far as they are there. */
        size_t k = (size_t)(slab - b->slabs->slab) + 1;
        while (range.end < end && b->slabs->slab[k].valid >> d & 1) {
            range.end = b->slabs->slab[k].end < end ? b->slabs->slab[k].end : end;
            ++k;
        }
        at = range.end;
        META_TRY(copy_anywhere(queue, copy, &range, d, t));
    }
    return META_OK;
}

static meta_err copy_in(meta_plugin_queue *queue, const meta_copy *copy, meta_auto_ticket **t)
{
    meta_auto_buffer *b = copy->object;
    const meta_auto_range range = {b, copy->offset, copy->offset + copy->bytes, .writes = true};
    int d = meta_auto_plan_copy(&range, true);
    if (d < 0) d = meta_auto_choose_copy(&range, meta_auto_allowed(b));
    return copy_anywhere(queue, copy, &range, d, t);
}

meta_err meta_auto_copy_on(meta_plugin_queue *queue, const meta_copy *c)
{
    meta_auto_ticket *t = NULL;
    if (c->ticket) *c->ticket = NULL;
    if (c->stamp) *c->stamp = (meta_stamp){0};
    if (c->bytes == 0) return META_OK;
    META_TRY(meta_auto_any_left());
    ++meta_auto.calls;
    const meta_err error =
        c->kind == META_COPY_H2D ? copy_in(queue, c, &t) : copy_out(queue, c, &t);
    if (error != META_OK) {
        if (c->stamp && c->stamp->work) {
            meta_auto_stamp_drop(c->stamp->work);
            *c->stamp = (meta_stamp){0};
        }
        meta_auto_ticket_abandon(t, error);
    } else if (c->ticket) {
        *c->ticket = t;
    }
    return error;
}
