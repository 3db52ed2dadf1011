/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Work on a device's queues: launches and copies, seen by observers on their way to the back end.
 */
#include "queue/queue.h"

_Atomic int meta_observers_on;
static meta_observer *_Atomic observers[META_OBSERVERS];

void meta_observe(meta_observer_slot slot, meta_observer *observer)
{
    meta_observer *before = atomic_exchange(&observers[slot], observer);
    meta_observers_on += (observer != NULL) - (before != NULL);
}

/* Some drivers find memory for a buffer only when it is first used. */
static bool worth_another_try(meta_err error)
{
    return __builtin_expect(error == META_ERR_NO_MEMORY, 0) && meta_kept_release();
}

/* Here, behind the observers, whose own lack of memory does not make work run twice. */
static meta_err launch(const meta_device *device, meta_plugin_queue *queue, const meta_launch *what)
{
    const meta_err error = device->backend->ops.launch(queue, what);
    /* Of several, some may be queued. */
    if (what->count != 1 || !worth_another_try(error)) return error;
    return device->backend->ops.launch(queue, what);
}

static meta_err copy(const meta_device *device, meta_plugin_queue *queue, const meta_copy *what)
{
    const meta_err error = device->backend->ops.copy(queue, what);
    return worth_another_try(error) ? device->backend->ops.copy(queue, what) : error;
}

meta_err meta_queue_pass(meta_task *w)
{
    meta_plugin_queue *queue = w->device->queue[w->queue];
    while (w->passed < META_OBSERVERS) {
        meta_observer *observer = observers[w->passed++];
        if (observer) return observer(w);
    }
    return w->is_copy ? copy(w->device, queue, &w->copy) : launch(w->device, queue, &w->launch);
}

/* The way past observers, kept out of the usual one. */
__attribute__((noinline, cold)) static meta_err pass(const meta_task *task)
{
    meta_task passing = *task;
    return meta_queue_pass(&passing);
}

meta_err meta_launch_on(meta_origin origin, meta_device *device, meta_queue_kind queue,
                        meta_operation *ops, size_t stride, size_t count, meta_pending *pending)
{
    meta_ticket ticket = NULL;
    const meta_launch what = {.size = sizeof what,
                              .calls = &ops->call,
                              .count = count,
                              .stride = stride,
                              .ticket = pending ? &ticket : META_NO_TICKET};
    meta_plugin_queue *to = device->queue[queue];
    meta_err error;
    if (!to) META_TRY(meta_device_queue(device, queue, &to));
    if (__builtin_expect(meta_observers_on, 0))
        error = pass(&(meta_task){origin, device, queue, .launch = what});
    else error = launch(device, to, &what);
    META_TRY(error);
    if (pending) *pending = (meta_pending){device, ticket};
    return META_OK;
}

meta_err meta_copy_on(meta_origin origin, meta_device *device, meta_queue_kind queue,
                      meta_copy_kind kind, void *host, const meta_span *span, size_t bytes,
                      meta_pending *pending)
{
    meta_ticket ticket = NULL;
    const meta_copy what = {.size = sizeof what,
                            .kind = kind,
                            .object = span->object,
                            .offset = span->offset,
                            .bytes = bytes,
                            .host = host,
                            .ticket = pending ? &ticket : META_NO_TICKET};
    const meta_task task = {origin, device, queue, .is_copy = true, .span = span, .copy = what};
    meta_plugin_queue *to = device->queue[queue];
    if (!to) META_TRY(meta_device_queue(device, queue, &to));
    META_TRY(__builtin_expect(meta_observers_on, 0) ? pass(&task) : copy(device, to, &what));
    if (pending) *pending = (meta_pending){device, ticket};
    return META_OK;
}

meta_err meta_queue_after(meta_device *device, meta_queue_kind queue, meta_queue_kind earlier)
{
    meta_plugin_queue *later, *first;
    META_TRY(meta_device_queue(device, queue, &later));
    META_TRY(meta_device_queue(device, earlier, &first));
    return device->backend->ops.queue_after(later, first);
}
