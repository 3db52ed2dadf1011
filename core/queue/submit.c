/* SPDX-License-Identifier: BSD-3-Clause */
/** @file submit.c
 *  Operations as data on their way to a device's queue, and what tells when they are complete. */
#include "core.h"

/* ------------------------------------------------------------------ building calls */

void meta_call_begin(meta_call *call, meta_kernel_id kernel, meta_type type, const meta_face *face)
{
    meta_space *s = &call->space;
    *call = (meta_call){.kernel = (uint32_t)kernel, .type = (uint32_t)type};
    s->ndim = face->count;
    s->rows = 1;
    for (int d = 0; d < face->count; ++d) {
        s->extent[d] = face->size[d];
        if (d > 0) s->rows *= face->size[d];
    }
}

void meta_call_operand(meta_call *call, int k, const meta_span *span, const meta_face *face)
{
    meta_space *s = &call->space;
    size_t bytes = 1;
    int64_t packed = 1;
    meta_type_check((meta_type)call->type, &bytes);
    call->object[k] = span->object;
    s->base[k] = (int64_t)(span->offset / bytes) + (face ? face->start : 0);
    for (int d = 0; d < s->ndim; ++d) {
        s->stride[k][d] = face ? face->stride[d] : packed;
        packed *= s->extent[d];
    }
}

static bool merges(const meta_space *s, int operands, meta_i64 into, meta_i64 d)
{
    for (int k = 0; k < operands; ++k)
        if (s->stride[k][d] != s->stride[k][into] * s->extent[into]) return false;
    return true;
}

void meta_call_compact(meta_call *call, int operands)
{
    meta_space *s = &call->space;
    meta_i64 last = -1; /* the dimension made last */
    for (meta_i64 d = 0; d < s->ndim; ++d) {
        if (s->extent[d] == 1) continue;
        if (last >= 0 && merges(s, operands, last, d)) {
            s->extent[last] *= s->extent[d];
            continue;
        }
        ++last;
        s->extent[last] = s->extent[d];
        for (int k = 0; k < operands; ++k) s->stride[k][last] = s->stride[k][d];
    }
    if (last < 0) { /* a single element */
        last = 0;
        s->extent[0] = 1;
        for (int k = 0; k < operands; ++k) s->stride[k][0] = 1;
    }
    s->ndim = last + 1;
    s->rows = 1;
    for (meta_i64 d = 1; d <= last; ++d) s->rows *= s->extent[d];
}

/* ------------------------------------------------------------------ following work */

meta_err meta_pending_test(const meta_pending *pending, int *complete)
{
    *complete = 1;
    if (!pending->ticket) return META_OK;
    return pending->device->backend->ops.ticket_test(pending->ticket, complete);
}

meta_err meta_pending_wait(const meta_pending *pending)
{
    if (!pending->ticket) return META_OK;
    return pending->device->backend->ops.ticket_wait(pending->ticket);
}

void meta_pending_release(meta_pending *pending)
{
    if (pending->ticket) pending->device->backend->ops.ticket_release(pending->ticket);
    pending->ticket = NULL;
}

/* Some drivers find memory for a buffer only when it is first used. */
static bool worth_another_try(meta_err error)
{
    return error == META_ERR_NO_MEMORY && meta_kept_release();
}

meta_err meta_launch_at_once(bool comm, meta_device *device, meta_queue_kind queue,
                             const meta_call *calls, size_t count, meta_ticket *wanted)
{
    meta_plugin_queue *to = device->queue[queue];
    if (meta_profiled()) return meta_profile_launch(device, queue, to, calls, count, wanted, comm);
    return device->backend->ops.launch(to, calls, count, wanted);
}

/* Out of the way of the usual one. */
__attribute__((noinline, cold)) static meta_err launch_watched(bool comm, meta_device *device,
                                                               meta_queue_kind queue,
                                                               const meta_call *calls, size_t count,
                                                               meta_ticket *wanted)
{
    if (meta_checked()) return meta_launch_compared(comm, device, queue, calls, count, wanted);
    return meta_launch_at_once(comm, device, queue, calls, count, wanted);
}

static meta_err launch(bool comm, meta_device *device, meta_queue_kind queue,
                       const meta_call *calls, size_t count, meta_ticket *wanted)
{
    if (meta_checked() | meta_profiled())
        return launch_watched(comm, device, queue, calls, count, wanted);
    return device->backend->ops.launch(device->queue[queue], calls, count, wanted);
}

meta_err meta_launch_of(bool comm, meta_device *device, meta_queue_kind queue,
                        const meta_call *calls, size_t count, meta_pending *pending)
{
    meta_plugin_queue *to = device->queue[queue];
    meta_ticket ticket = NULL, *const wanted = pending ? &ticket : META_NO_TICKET;
    if (!to) META_TRY(meta_device_queue(device, queue, &to));
    meta_err error = launch(comm, device, queue, calls, count, wanted);
    /* Of several, some may be queued. */
    if (count == 1 && worth_another_try(error))
        error = launch(comm, device, queue, calls, count, wanted);
    META_TRY(error);
    if (pending) *pending = (meta_pending){device, ticket};
    return META_OK;
}

meta_err meta_launch(meta_device *device, meta_queue_kind queue, const meta_call *calls,
                     size_t count, meta_pending *pending)
{
    return meta_launch_of(false, device, queue, calls, count, pending);
}

static meta_err copy(bool comm, meta_device *device, meta_queue_kind queue, meta_copy_kind kind,
                     void *host, const meta_span *span, size_t bytes, meta_ticket *wanted)
{
    meta_plugin_queue *to = device->queue[queue];
    if (meta_profiled())
        return meta_profile_copy(device, queue, to, kind, host, span, bytes, wanted, comm);
    return device->backend->ops.copy(to, kind, host, span->object, span->offset, bytes, wanted);
}

meta_err meta_copy_of(bool comm, meta_device *device, meta_queue_kind queue, meta_copy_kind kind,
                      void *host, const meta_span *span, size_t bytes, meta_pending *pending)
{
    meta_plugin_queue *to = device->queue[queue];
    meta_ticket ticket = NULL, *const wanted = pending ? &ticket : META_NO_TICKET;
    if (!to) META_TRY(meta_device_queue(device, queue, &to));
    meta_err error = copy(comm, device, queue, kind, host, span, bytes, wanted);
    if (worth_another_try(error))
        error = copy(comm, device, queue, kind, host, span, bytes, wanted);
    META_TRY(error);
    if (pending) *pending = (meta_pending){device, ticket};
    return META_OK;
}

meta_err meta_copy_on(meta_device *device, meta_queue_kind queue, meta_copy_kind kind, void *host,
                      const meta_span *span, size_t bytes, meta_pending *pending)
{
    return meta_copy_of(false, device, queue, kind, host, span, bytes, pending);
}

meta_err meta_queue_after(meta_device *device, meta_queue_kind queue, meta_queue_kind earlier)
{
    meta_plugin_queue *later, *first;
    META_TRY(meta_device_queue(device, queue, &later));
    META_TRY(meta_device_queue(device, earlier, &first));
    return device->backend->ops.queue_after(later, first);
}

/* ------------------------------------------------------------------ submitting for a caller */

/* One of the three kinds of work. */
typedef struct work {
    const meta_call *calls;
    size_t count;
    const void *exact;     /* of an exact sum: the result's address */
    const meta_span *span; /* of a copy, NULL for a launch */
    meta_copy_kind kind;
    void *host;
    size_t bytes;
} work;

static meta_err queue_work(meta_device *device, const work *w, meta_pending *pending)
{
    if (w->exact) return meta_exact_queue(device, w->calls, w->count, w->exact, pending);
    if (!w->span) return meta_launch(device, META_QUEUE_COMPUTE, w->calls, w->count, pending);
    return meta_copy_on(device, META_QUEUE_COMPUTE, w->kind, w->host, w->span, w->bytes, pending);
}

static meta_err submit(meta_device *device, const work *w, meta_event *done)
{
    meta_pending pending = {device, NULL};
    meta_event event;
    meta_err error;
    const meta_hooks *comm = meta_hooks_get();
    if (comm) comm->settle(device);
    if (done == META_ASYNC) return queue_work(device, w, NULL);
    if (!done) {
        META_TRY(queue_work(device, w, &pending));
        error = meta_pending_wait(&pending);
        meta_pending_release(&pending);
        return error;
    }
    META_TRY(meta_event_new(&event));
    error = queue_work(device, w, &pending);
    if (error != META_OK) return meta_event_drop(event), error;
    meta_event_follow(event, &pending);
    *done = event;
    return META_OK;
}

meta_err meta_submit(meta_device *device, const meta_call *calls, size_t count, meta_event *done)
{
    const work w = {.calls = calls, .count = count};
    return submit(device, &w, done);
}

meta_err meta_submit_exact(meta_device *device, const meta_call *calls, size_t count,
                           const void *address, meta_event *done)
{
    const work w = {.calls = calls, .count = count, .exact = address};
    return submit(device, &w, done);
}

meta_err meta_submit_copy(meta_device *device, meta_copy_kind kind, void *host,
                          const meta_span *span, size_t bytes, meta_event *done)
{
    const work w = {.span = span, .kind = kind, .host = host, .bytes = bytes};
    return submit(device, &w, done);
}

meta_err meta_submit_nothing(meta_event *done)
{
    if (done && done != META_ASYNC) *done = (meta_event)META_EVENT_NULL;
    return META_OK;
}
