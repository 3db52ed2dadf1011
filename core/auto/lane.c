/* SPDX-License-Identifier: BSD-3-Clause */
/** @file lane.c
 *  The queues of the devices, and the order of what is queued on different ones: a device waits for
 *  another where their back end lets it, and the CPU's worker for any; otherwise the host waits. */
#include "auto/auto.h"

#include <stdlib.h>

static meta_auto_work *spare; /* free ones */

meta_err meta_auto_queue(meta_auto_lane *lane, meta_plugin_queue **queue)
{
    if (!lane->queue)
        META_TRY(meta_auto_check_device(
            lane, meta_device_queue(lane->of->device, lane->kind, &lane->queue)));
    *queue = lane->queue;
    return META_OK;
}

void meta_auto_drop(meta_auto_work *w)
{
    if (--w->users > 0) return;
    if (w->ticket) w->ops->ticket_release(w->ticket);
    free(w->message);
    w->next = spare;
    spare = w;
}

/* Forget the work that is complete. @return whether there is room for more */
static bool forget_complete(meta_auto_lane *lane)
{
    int left = 0;
    for (int k = 0; k < lane->behinds; ++k)
        if (lane->behind[k].number > meta_auto.done[lane->behind[k].lane])
            lane->behind[left++] = lane->behind[k];
    lane->behinds = left;
    return left < META_AUTO_BEHIND;
}

/* The lanes behind whose work that of lane @p of runs, be it by way of others. */
static uint32_t earlier_lanes(int of)
{
    uint32_t found = 0, before;
    uint32_t look = UINT32_C(1) << of;
    do {
        before = found;
        for (int l = 0; l < 2 * meta_auto.devices; ++l)
            for (int k = 0; look >> l & 1 && k < meta_auto.lane[l].behinds; ++k)
                found |= UINT32_C(1) << meta_auto.lane[l].behind[k].lane;
        look |= found;
    } while (found != before);
    return found;
}

/* Find out what has failed of the work behind which complete work of lane @p of has run. */
static void look_back(int of)
{
    static bool looking;
    if (looking || meta_auto.lane[of].behinds == 0) return;
    forget_complete(&meta_auto.lane[of]);
    if (meta_auto.lane[of].behinds == 0) return;
    looking = true;
    const uint32_t lanes = earlier_lanes(of) & ~(UINT32_C(1) << of);
    for (int l = 0; l < 2 * meta_auto.devices; ++l)
        if (lanes >> l & 1) meta_auto_poll(&meta_auto.lane[l]);
    looking = false;
}

/* @p error is that of its test or wait. */
static void complete(meta_auto_work *w, meta_err error)
{
    const bool fails = error == META_ERR_DEVICE;
    char name[48];
    if (w->complete) return;
    if (error == META_OK) look_back(w->lane);
    if (error == META_OK && w->spoilt_by) {
        const int d = w->spoilt_by - 1;
        error = meta_fail(META_ERR_DEVICE, "it ran behind work of %s, which has failed: %s",
                          meta_auto_name(d, name), meta_auto.device[d].failure);
    }
    w->complete = true;
    w->error = error;
    w->message = error != META_OK ? meta_error_copy() : NULL;
    if (fails) meta_auto_fails(w->lane, w->number);
}

static meta_err error_of(const meta_auto_work *w)
{
    if (w->error == META_OK) return META_OK;
    return meta_fail_as(w->error, w->message ? w->message : meta_strerror(w->error));
}

meta_err meta_auto_test(meta_auto_work *w, int *is_complete)
{
    *is_complete = 1;
    if (!w->complete) {
        const meta_err error = w->ops->ticket_test(w->ticket, is_complete);
        if (*is_complete || error != META_OK) complete(w, error);
    }
    return w->complete ? error_of(w) : META_OK;
}

meta_err meta_auto_wait_work(meta_auto_work *w)
{
    if (!w->complete) complete(w, w->ops->ticket_wait(w->ticket));
    return error_of(w);
}

meta_err meta_auto_wait_apart(meta_auto_work *w)
{
    if (!w->complete) {
        ++w->users;
        pthread_mutex_unlock(&meta_auto.lock);
        const meta_err error = w->ops->ticket_wait(w->ticket);
        pthread_mutex_lock(&meta_auto.lock);
        complete(w, error);
        meta_auto_drop(w);
    }
    return error_of(w);
}

/* An error that no ticket reports stays. */
static void keep_error(meta_auto_lane *lane, meta_auto_work *w)
{
    if (w->error == META_OK || lane->error != META_OK) return;
    lane->error = w->error;
    lane->message = w->message;
    w->message = NULL;
}

/* Work leaves its lane. */
static void leave(meta_auto_lane *lane, meta_auto_work *w)
{
    lane->first = w->next;
    --lane->pending;
    lane->queued -= w->expected;
    meta_auto.done[meta_auto_lane_number(lane)] = w->number;
    if (w->users == 1) keep_error(lane, w);
    meta_auto_drop(w);
}

void meta_auto_poll(meta_auto_lane *lane)
{
    int is_complete = 1;
    while (lane->first) {
        meta_auto_test(lane->first, &is_complete);
        if (!lane->first->complete) return;
        leave(lane, lane->first);
    }
}

/* In order: what is queued before the work is complete with it. */
static void wait_up_to(meta_auto_lane *lane, uint64_t number)
{
    while (lane->first && lane->first->number <= number) {
        meta_auto_wait_work(lane->first);
        leave(lane, lane->first);
    }
}

void meta_auto_wait(meta_mark mark)
{
    wait_up_to(&meta_auto.lane[meta_mark_lane(mark)], meta_mark_number(mark));
}

void meta_auto_note_results(meta_auto_lane *lane, meta_auto_host_range range)
{
    if (lane->first && lane->end->number == lane->last) lane->end->results = range;
}

void meta_auto_await_results(const meta_auto_lane *lane, meta_mark mark, meta_auto_host_range range)
{
    meta_auto_lane *other = &meta_auto.lane[meta_mark_lane(mark)];
    uint64_t last = 0;
    if (other == lane) return;
    for (const meta_auto_work *w = other->first; w && w->number <= meta_mark_number(mark);
         w = w->next)
        if (w->results.begin < range.end && range.begin < w->results.end) last = w->number;
    wait_up_to(other, last);
}

static meta_auto_work *new_work(void)
{
    meta_auto_work *w = spare;
    if (w) spare = w->next;
    else w = malloc(sizeof *w);
    return w;
}

meta_mark meta_auto_queued(meta_auto_lane *lane, meta_ticket ticket, meta_auto_work **share)
{
    enum { WORTH_A_LOOK = 16 };
    const int number = meta_auto_lane_number(lane);
    const meta_mark mark = meta_mark_of(number, ++lane->last);
    if (!lane->of->is_cpu) meta_auto.elsewhere = meta_auto.calls;
    if (share) *share = NULL;
    if (!ticket && !lane->first) {
        meta_auto.done[number] = lane->last;
        return mark;
    }
    meta_auto_work *w = new_work();
    const meta_ops *ops = lane->of->ops;
    if (!w) { /* nothing can follow it: wait */
        meta_auto_work now = {.lane = number, .number = lane->last, .ops = ops, .ticket = ticket};
        wait_up_to(lane, lane->last);
        if (ticket) {
            complete(&now, ops->ticket_wait(ticket));
            ops->ticket_release(ticket);
        }
        keep_error(lane, &now);
        free(now.message);
        meta_auto.done[number] = lane->last;
        return mark;
    }
    *w = (meta_auto_work){.users = share ? 2 : 1,
                          .lane = number,
                          .number = lane->last,
                          .ops = ops,
                          .ticket = ticket,
                          .complete = !ticket,
                          .expected = meta_auto.expected};
    meta_auto.expected = 0;
    lane->queued += w->expected;
    if (lane->first) lane->end->next = w;
    else lane->first = w;
    lane->end = w;
    if (share) *share = w;
    if (++lane->pending >= WORTH_A_LOOK) meta_auto_poll(lane);
    return mark;
}

uint64_t meta_auto_backlog(int d)
{
    uint64_t sum = 0;
    for (int kind = 0; kind < 2; ++kind) {
        meta_auto_lane *lane = meta_auto_lane_of(d, (meta_queue_kind)kind);
        meta_auto_poll(lane);
        sum += lane->queued;
    }
    return sum;
}

static meta_auto_work *find(const meta_auto_lane *lane, uint64_t number)
{
    meta_auto_work *w = lane->first;
    while (w && w->number < number) w = w->next;
    return w;
}

/* What is queued on the lane next is to run behind @p w.
 * @return META_ERR_UNSUPPORTED: the host must wait */
static meta_err order_behind(meta_auto_lane *lane, meta_auto_work *w)
{
    meta_plugin_queue *queue;
    META_TRY(meta_auto_queue(lane, &queue));
    if (!forget_complete(lane)) return META_ERR_UNSUPPORTED;
    if (lane->of->run_behind) return lane->of->run_behind(w);
    if (meta_auto.lane[w->lane].of->device->backend != lane->of->device->backend)
        return META_ERR_UNSUPPORTED;
    return w->ops->queue_wait(queue, w->ticket);
}

meta_err meta_auto_order(meta_auto_lane *lane, meta_mark mark)
{
    const int earlier = meta_mark_lane(mark);
    const uint64_t number = meta_mark_number(mark);
    meta_auto_lane *other = &meta_auto.lane[earlier];
    if (other == lane || number <= meta_auto.done[earlier] || number <= lane->waited[earlier])
        return META_OK;
    meta_auto_work *w = find(other, number);
    meta_err error = w && w->ticket ? order_behind(lane, w) : META_ERR_UNSUPPORTED;
    /* Of a device that has failed, it waits only for the end of what reads the bytes it writes. */
    if (error == META_OK && !(meta_auto.failed >> earlier / 2 & 1))
        lane->behind[lane->behinds++] = (meta_auto_behind){earlier, number, lane->last + 1};
    /* Where a device has failed, which one it is shows in its work. */
    if (error == META_ERR_UNSUPPORTED || error == META_ERR_DEVICE) {
        wait_up_to(other, number);
        error = META_OK;
    }
    META_TRY(error);
    lane->waited[earlier] = number;
    return META_OK;
}

meta_err meta_auto_finish(void)
{
    meta_err first = META_OK;
    for (int k = 0; k < 2 * meta_auto.devices; ++k) {
        meta_auto_lane *lane = &meta_auto.lane[k];
        wait_up_to(lane, lane->last);
        if (lane->error == META_OK) continue;
        if (first == META_OK)
            first = meta_fail_as(lane->error,
                                 lane->message ? lane->message : meta_strerror(lane->error));
        free(lane->message);
        lane->message = NULL;
        lane->error = META_OK;
    }
    return first;
}

void meta_auto_finish_apart(void)
{
    for (int k = 0; k < 2 * meta_auto.devices; ++k) {
        meta_auto_lane *lane = &meta_auto.lane[k];
        if (!lane->first) continue;
        meta_auto_work *w = lane->end;
        ++w->users;
        meta_auto_wait_apart(w);
        /* Another thread may have made it leave the lane, as work of which a ticket tells. */
        if (w->number <= meta_auto.done[k] && w->users == 1) keep_error(lane, w);
        meta_auto_drop(w);
    }
}

void meta_auto_lanes_close(void)
{
    meta_auto_finish();
    while (spare) {
        meta_auto_work *w = spare;
        spare = w->next;
        free(w);
    }
}
