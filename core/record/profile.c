/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile.c
 *  Recording device work and messages. The thread that queues work keeps a record of it until its
 *  time stamps can be read, and then adds it to its own table. */
#include "record/recorder.h"

#include <stdlib.h>

enum { READS = 2 }; /* pending records that are polled whenever work is queued */

static pthread_mutex_t clock_lock = PTHREAD_MUTEX_INITIALIZER; /* of all devices' clocks */
static _Atomic bool overlaps_full;
static _Thread_local bool measuring;

meta_err meta_record_open(meta_device *device)
{
    device->record = calloc(1, sizeof *device->record);
    if (!device->record) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a clock");
    return META_OK;
}

void meta_record_close(meta_device *device)
{
    free(device->record);
    device->record = NULL;
}

/* Convert a stamp to host time. A device's clock has its own origin and drifts; but work begins
 * after it was queued and ends before the host sees that, which bounds the offset between the
 * clocks and allows 0 where they are the same. */
static void align(meta_record *r)
{
    meta_device_record *c = r->device->record;
    meta_stamp *s = &r->stamp;
    const uint64_t seen = meta_profile_now();
    pthread_mutex_lock(&clock_lock);
    const int64_t least = (int64_t)(r->queued - s->begin), most = (int64_t)(seen - s->end);
    if (!c->aligned) c->offset = least <= 0 && most >= 0 ? 0 : least;
    c->aligned = true;
    if (c->offset > most) c->offset = most;
    if (c->offset < least) c->offset = least;
    s->begin += (uint64_t)c->offset;
    s->end += (uint64_t)c->offset;
    /* A queue runs its work in order, however the offset was just adjusted. */
    if (s->begin < c->end[r->queue]) s->begin = c->end[r->queue];
    if (s->end < s->begin) s->end = s->begin;
    c->end[r->queue] = s->end;
    pthread_mutex_unlock(&clock_lock);
}

/* Add a record that is finished, with its times or without, to the trace and the table. With the
 * recorder's lock. */
static void complete(meta_recorder *r, const meta_record *done)
{
    const uint64_t begin = done->stamp.begin, end = done->stamp.end;
    const char *const *label = done->label;
    const bool is_move = done->where == META_WHERE_MOVE;
    if (done->where == META_WHERE_WORK && done->activity == META_ACTIVITY_KERNEL &&
        meta_hooks_get() && meta_overlap_work(begin, end))
        overlaps_full = true;
    const meta_trace_event event = {.name = done->name,
                                    .kind = is_move ? META_TRACE_MOVE : META_TRACE_WORK,
                                    .activity = done->activity,
                                    .device = done->device,
                                    .queue = done->queue,
                                    .begin = begin,
                                    .end = end,
                                    .bytes = done->bytes,
                                    .label = {label[0], label[1]}};
    if (meta_traced() && (begin != 0 || end != 0)) meta_trace_add(&r->trace, &event);
    const meta_tally line = {.name = done->name,
                             .label = label[META_LABEL_WRITTEN] ? label[META_LABEL_WRITTEN]
                                                                : label[META_LABEL_READ],
                             .device = is_move ? NULL : done->device,
                             .where = done->where};
    meta_recorder_tally(r, &line, done->bytes, begin, end);
    if (done->given != done->device) meta_profile_auto_count(r, done);
}

/* Fold the overlap of the time before the oldest pending record. */
static void fold_overlaps(void)
{
    uint64_t until = meta_profile_now();
    overlaps_full = false;
    for (meta_recorder *r = meta_recorders; r; r = r->next) {
        pthread_mutex_lock(&r->lock);
        if (r->count > 0 && r->pending[r->first].queued < until)
            until = r->pending[r->first].queued;
        pthread_mutex_unlock(&r->lock);
    }
    meta_overlap_fold(until);
}

/* Complete the oldest pending record if its work has ended, or with @p ended in any case. */
static bool take_oldest(meta_recorder *r, bool ended, meta_record *taken)
{
    bool found = false;
    pthread_mutex_lock(&r->lock);
    if (r->count > 0) {
        meta_record *oldest = &r->pending[r->first];
        const meta_ops *ops = &oldest->given->backend->ops;
        meta_stamp *s = &oldest->stamp;
        const bool read = ops->stamp_read(s->work, &s->begin, &s->end);
        found = read || ended;
        if (found) {
            ops->stamp_release(s->work);
            s->work = NULL;
            if (!read) s->begin = s->end = 0;
            if (s->begin != 0 || s->end != 0) align(oldest);
            *taken = *oldest;
            r->first = (r->first + 1) % r->ring;
            --r->count;
            complete(r, taken);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}

/* Tools are notified without the lock. */
void meta_recorder_read(meta_recorder *r, size_t most, bool ended)
{
    meta_record taken;
    while (most-- > 0 && take_oldest(r, ended, &taken))
        meta_tool_end(taken.activity, taken.id, taken.stamp.begin, taken.stamp.end);
}

/* Room for one more pending record. */
static bool make_room(meta_recorder *r)
{
    if (r->count < r->ring) return true;
    const size_t ring = r->ring ? 2 * r->ring : 64;
    meta_record *larger = malloc(ring * sizeof *larger);
    if (!larger) return false;
    for (size_t k = 0; k < r->count; ++k) larger[k] = r->pending[(r->first + k) % r->ring];
    free(r->pending);
    r->pending = larger;
    r->ring = ring;
    r->first = 0;
    return true;
}

/* Stamps of a clock that is not the host's, known when the work is queued: both clocks are read
 * once, and what lies between them stays. */
static void align_virtual(meta_record *r)
{
    meta_device_record *c = r->device->record;
    pthread_mutex_lock(&clock_lock);
    if (!c->aligned) c->offset = (int64_t)(r->queued - r->device->backend->ops.now());
    c->aligned = true;
    r->stamp.begin += (uint64_t)c->offset;
    r->stamp.end += (uint64_t)c->offset;
    pthread_mutex_unlock(&clock_lock);
}

/* Store the record of work that was queued. */
static void keep(meta_record *queued)
{
    meta_recorder *r = meta_recorder_own();
    bool completed = true, waiting = false;
    if (!queued->stamp.work && queued->stamp.end != 0 && queued->device->backend->ops.now)
        align_virtual(queued);
    if (r) {
        pthread_mutex_lock(&r->lock);
        if (!queued->stamp.work) complete(r, queued);
        else if (make_room(r)) {
            r->pending[(r->first + r->count++) % r->ring] = *queued;
            completed = false;
        }
        waiting = r->count > 0;
        pthread_mutex_unlock(&r->lock);
    }
    if (completed && queued->stamp.work) { /* no memory to keep it */
        queued->given->backend->ops.stamp_release(queued->stamp.work);
        queued->stamp = (meta_stamp){0};
    }
    if (completed)
        meta_tool_end(queued->activity, queued->id, queued->stamp.begin, queued->stamp.end);
    if (waiting) meta_recorder_read(r, READS, false);
    if (overlaps_full) fold_overlaps();
}

void meta_record_auto(void)
{
    meta_record move;
    while (meta_profile_auto_take(&move)) {
        meta_tool_begin(move.activity, move.name, move.bytes, &move.id);
        keep(&move);
    }
}

void meta_profile_measuring(bool on)
{
    measuring = on;
}

/* What is counted of a launch by META_MODE=auto. */
static void describe(const meta_task *w, meta_record *r)
{
    for (size_t k = 0; k < w->launch.count; ++k) {
        const meta_call *call = meta_launch_call(&w->launch, k);
        r->cells += (uint64_t)(call->space->rows * call->space->extent[0]);
    }
    if (w->launch.count != 1) return;
    r->plain = meta_profile_name(w->launch.calls->desc->name);
    r->type = w->launch.calls->type;
}

meta_err meta_profile_work(meta_task *w)
{
    static const char *const copies[] = {
        [META_COPY_H2D] = "copy h2d", [META_COPY_D2H] = "copy d2h", [META_COPY_PEER] = "copy peer"};
    meta_record r = {.device = w->device,
                     .given = w->device,
                     .queue = w->queue,
                     .where = measuring                        ? META_WHERE_MEASURE
                              : w->origin == META_FROM_PROGRAM ? META_WHERE_WORK
                              : w->queue == META_QUEUE_HALO    ? META_WHERE_HALO
                                                               : META_WHERE_MESSAGE};
    if (!w->is_copy && w->launch.count == 0) return meta_queue_pass(w);
    r.activity = w->is_copy ? META_ACTIVITY_COPY : META_ACTIVITY_KERNEL;
    r.name = w->is_copy ? copies[w->copy.kind] : meta_profile_kernel(w->launch.calls);
    r.bytes = w->copy.bytes;
    for (size_t k = 0; k < w->launch.count; ++k)
        r.bytes += meta_call_bytes(meta_launch_call(&w->launch, k));
    meta_profile_labels(w, r.label);
    meta_tool_begin(r.activity, r.name, r.bytes, &r.id);
    r.queued = meta_profile_now();
    *(w->is_copy ? &w->copy.stamp : &w->launch.stamp) = &r.stamp;
    meta_ticket *const ticket = w->is_copy ? w->copy.ticket : w->launch.ticket;
    meta_ran_on = NULL;
    const meta_err error = meta_queue_pass(w);
    if (meta_ran_on) r.device = meta_ran_on;
    meta_record_auto();
    if (error != META_OK) {
        meta_tool_end(r.activity, r.id, 0, 0);
        return error;
    }
    /* A back end without time stamps may still have completed the work at once. */
    if (!r.stamp.work && r.stamp.end == 0 && ticket && !*ticket) {
        r.stamp.begin = r.queued;
        r.stamp.end = meta_profile_now();
    }
    if (r.given != r.device) describe(w, &r);
    keep(&r);
    return META_OK;
}

void meta_profile_message(const meta_profile_passage *p)
{
    uint64_t id = 0;
    meta_recorder *r = meta_recorder_own();
    if (r) {
        pthread_mutex_lock(&r->lock);
        const meta_tally line = {.name = p->name, .where = META_WHERE_WIRE};
        meta_recorder_tally(r, &line, p->bytes, p->begin, p->end);
        const meta_trace_event event = {.name = p->name,
                                        .activity = META_ACTIVITY_MESSAGE,
                                        .begin = p->begin,
                                        .end = p->end,
                                        .bytes = p->bytes,
                                        .message = {.out = p->out,
                                                    .flows = p->flows,
                                                    .peer = p->peer,
                                                    .channel = p->channel,
                                                    .number = p->number,
                                                    .given = p->given}};
        if (meta_traced()) meta_trace_add(&r->trace, &event);
        pthread_mutex_unlock(&r->lock);
    }
    meta_tool_begin(META_ACTIVITY_MESSAGE, p->name, p->bytes, &id);
    meta_tool_end(META_ACTIVITY_MESSAGE, id, p->begin, p->end);
}
