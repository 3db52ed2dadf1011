/* SPDX-License-Identifier: BSD-3-Clause */
/** @file queue.cpp
 *  In-order queues, which are streams; copies on them; tickets, which are events; timestamps; and
 *  the delivery of reduction results to host memory. */
#include "gpu.h"

#include "kernels.h"

#include "program.h"

#include <cstdlib>
#include <cstring>

/* ------------------------------------------------------------------ events */

static int take(meta_plugin_device *device, gpu_events *unused, gpu_event *event)
{
    int found = 0;
    pthread_mutex_lock(&device->lock);
    if (unused->count > 0) {
        *event = unused->event[--unused->count];
        found = 1;
    }
    pthread_mutex_unlock(&device->lock);
    return found;
}

/* The event may still be pending: recording it again overwrites its state. */
static void keep(meta_plugin_device *device, gpu_events *unused, gpu_event event)
{
    int kept = 1;
    pthread_mutex_lock(&device->lock);
    if (unused->count == unused->room) {
        const size_t room = unused->room ? 2 * unused->room : 64;
        gpu_event *more = (gpu_event *)realloc(unused->event, room * sizeof *more);
        if (more) {
            unused->event = more;
            unused->room = room;
        }
        kept = more != NULL;
    }
    if (kept) unused->event[unused->count++] = event;
    pthread_mutex_unlock(&device->lock);
    if (!kept) GPU_NOTE(EventDestroy, (event));
}

meta_err gpu_event_take(meta_plugin_device *device, gpu_event *event)
{
    if (!take(device, &device->events, event))
        GPU_TRY(EventCreateWithFlags, (event, GPU(EventDisableTiming)));
    return META_OK;
}

void gpu_event_keep(meta_plugin_device *device, gpu_event event)
{
    keep(device, &device->events, event);
}

/* ------------------------------------------------------------------ timestamps */

/* The timing events recorded before and after a launch or a copy. */
struct gpu_stamp {
    meta_plugin_queue *queue;
    gpu_event begin, end;
};

static int record_timed(meta_plugin_queue *queue, gpu_event *event)
{
    if (!take(queue->device, &queue->device->timed, event) &&
        GPU(EventCreate)(event) != GPU(Success))
        return 0;
    if (GPU(EventRecord)(*event, queue->stream) == GPU(Success)) return 1;
    keep(queue->device, &queue->device->timed, *event);
    return 0;
}

/* Work whose time cannot be taken is not an error: its stamp stays zero. */
void gpu_stamp_begin(meta_plugin_queue *queue, meta_stamp *stamp)
{
    gpu_stamp *made = stamp ? (gpu_stamp *)calloc(1, sizeof *made) : NULL;
    if (!made) return;
    made->queue = queue;
    if (record_timed(queue, &made->begin)) {
        stamp->work = made;
        return;
    }
    (void)GPU(GetLastError)();
    free(made);
}

void gpu_stamp_end(meta_plugin_queue *queue, meta_stamp *stamp)
{
    gpu_stamp *made = stamp ? (gpu_stamp *)stamp->work : NULL;
    if (!made || record_timed(queue, &made->end)) return;
    (void)GPU(GetLastError)();
    made->end = NULL;
    gpu_stamp_drop(stamp);
}

void gpu_stamp_drop(meta_stamp *stamp)
{
    if (!stamp || !stamp->work) return;
    gpu_stamp_release(stamp->work);
    stamp->work = NULL;
}

/* Nanoseconds from the clock's base event to @p event. */
static int since_base(const gpu_clock *clock, gpu_event event, double *nanoseconds)
{
    float milliseconds = 0;
    if (GPU(EventElapsedTime)(&milliseconds, clock->base, event) != GPU(Success)) {
        (void)GPU(GetLastError)();
        return 0;
    }
    *nanoseconds = 1e6 * (double)milliseconds;
    return 1;
}

/* The runtime only reports the time between two events, as a float of milliseconds: the base event
 * is advanced every `far` nanoseconds, before the float loses precision. */
static int read_clock(gpu_clock *clock, gpu_stamp *asked, uint64_t *begin, uint64_t *end)
{
    const double far = 1e9;
    double from, to;
    if (!clock->base) {
        clock->base = asked->begin;
        asked->begin = NULL;
        clock->at = 1e12;
        from = 0;
    } else if (!since_base(clock, asked->begin, &from)) {
        return 0;
    }
    if (!since_base(clock, asked->end, &to)) return 0;
    *begin = (uint64_t)(clock->at + from);
    *end = (uint64_t)(clock->at + (to > from ? to : from));
    if (to > far && asked->begin) {
        const gpu_event old = clock->base;
        clock->base = asked->end;
        clock->at += to;
        asked->end = old;
    }
    return 1;
}

int gpu_stamp_read(void *work, uint64_t *begin, uint64_t *end)
{
    gpu_stamp *asked = (gpu_stamp *)work;
    meta_plugin_device *device = asked->queue->device;
    *begin = *end = 0;
    GPU_NOTE(SetDevice, (device->ordinal));
    const gpu_status status = GPU(EventQuery)(asked->end);
    if (status != GPU(Success)) (void)GPU(GetLastError)();
    if (status == GPU(ErrorNotReady)) return 0;
    if (status != GPU(Success)) return 1;
    pthread_mutex_lock(&device->lock);
    (void)read_clock(&device->clock, asked, begin, end);
    pthread_mutex_unlock(&device->lock);
    return 1;
}

void gpu_stamp_release(void *work)
{
    gpu_stamp *given = (gpu_stamp *)work;
    meta_plugin_device *device = given->queue->device;
    if (given->begin) keep(device, &device->timed, given->begin);
    if (given->end) keep(device, &device->timed, given->end);
    free(given);
}

/* ------------------------------------------------------------------ results; with the lock held */

/* Deliver the results of all launches up to @p sequence, which are complete. */
static void deliver(meta_plugin_queue *queue, uint64_t sequence)
{
    while (queue->count > 0 && queue->results[queue->first].sequence <= sequence) {
        const gpu_result *r = &queue->results[queue->first];
        memcpy(r->host, &queue->slots[queue->first], r->bytes);
        queue->first = (queue->first + 1) % GPU_RESULTS;
        --queue->count;
    }
}

static meta_err deliver_all(meta_plugin_queue *queue)
{
    if (queue->count == 0) return META_OK;
    GPU_TRY(StreamSynchronize, (queue->stream));
    deliver(queue, UINT64_MAX);
    return META_OK;
}

meta_err gpu_result_slot(meta_plugin_queue *queue, void *host, size_t bytes, void **slot)
{
    if (queue->count == GPU_RESULTS) META_TRY(deliver_all(queue));
    const size_t number = (queue->first + queue->count++) % GPU_RESULTS;
    queue->results[number].sequence = queue->sequence;
    queue->results[number].host = host;
    queue->results[number].bytes = bytes;
    *slot = &queue->slots[number];
    return META_OK;
}

void gpu_results_drop(meta_plugin_queue *queue)
{
    while (queue->count > 0) {
        const size_t last = (queue->first + queue->count - 1) % GPU_RESULTS;
        if (queue->results[last].sequence != queue->sequence) return;
        --queue->count;
    }
}

/* Whether a result in flight is bound for this host memory. */
static int overlaps_result(const meta_plugin_queue *queue, const void *host, size_t bytes)
{
    const uintptr_t from = (uintptr_t)host, to = from + bytes;
    for (size_t k = 0; k < queue->count; ++k) {
        const gpu_result *r = &queue->results[(queue->first + k) % GPU_RESULTS];
        const uintptr_t at = (uintptr_t)r->host;
        if (at < to && from < at + r->bytes) return 1;
    }
    return 0;
}

/* ------------------------------------------------------------------ queues */

static meta_err make_queue(meta_plugin_queue *queue, gpu_stream adopted, int urgent)
{
    void *slots = NULL;
    META_TRY(gpu_use(queue->device));
    queue->stream = adopted;
    if (!adopted) {
        META_TRY(gpu_stream_create(urgent, &queue->stream));
        queue->owned = 1;
    }
    GPU_TRY_AS(GPU_PREFIX "Malloc",
               gpu_malloc(&queue->partials, GPU_PARTIALS_BYTES + GPU_PROGRAM_BYTES));
    GPU_TRY_AS(GPU_HOST_MALLOC, gpu_host_malloc(&slots, GPU_RESULTS * sizeof(gpu_slot)));
    queue->slots = (gpu_slot *)slots;
    return META_OK;
}

meta_err gpu_queue_create(meta_plugin_device *device, meta_queue_kind kind,
                          meta_plugin_queue **queue)
{
    meta_plugin_queue *made = (meta_plugin_queue *)calloc(1, sizeof *made);
    if (!made) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    made->device = device;
    pthread_mutex_init(&made->lock, NULL);
    const meta_err error = make_queue(made, kind == META_QUEUE_COMPUTE ? device->adopted : NULL,
                                      kind == META_QUEUE_HALO);
    if (error != META_OK) return gpu_queue_destroy(made), error;
    *queue = made;
    return META_OK;
}

void gpu_queue_destroy(meta_plugin_queue *queue)
{
    GPU_NOTE(SetDevice, (queue->device->ordinal));
    if (queue->stream) GPU_NOTE(StreamSynchronize, (queue->stream));
    if (queue->partials) GPU_NOTE(Free, (queue->partials));
    if (queue->slots) {
        const gpu_status status = gpu_host_free(queue->slots);
        if (status != GPU(Success)) gpu_warn(status, "freeing page-locked host memory");
    }
    if (queue->owned) GPU_NOTE(StreamDestroy, (queue->stream));
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* Functions that wait do so even where the device cannot be made current, which waiting does not
 * need: the caller frees memory whatever they return. */
meta_err gpu_queue_finish(meta_plugin_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const uint64_t sequence = queue->sequence;
    const int idle = sequence == queue->finished && queue->owned && !queue->given;
    pthread_mutex_unlock(&queue->lock);
    /* Synchronising an idle stream still costs a driver call, and every meta_free() asks. */
    if (idle) return META_OK;
    GPU_NOTE(SetDevice, (queue->device->ordinal));
    const gpu_status status = GPU(StreamSynchronize)(queue->stream);
    pthread_mutex_lock(&queue->lock);
    if (status == GPU(Success)) {
        deliver(queue, sequence);
        if (queue->finished < sequence) queue->finished = sequence;
    } else {
        queue->count = 0; /* the device failed: no result of it is delivered */
    }
    pthread_mutex_unlock(&queue->lock);
    GPU_TRY_AS(GPU_PREFIX "StreamSynchronize", status);
    return META_OK;
}

/* The wait counts as queued work, so that gpu_queue_finish() does not take the queue for idle. */
static gpu_status wait_for(meta_plugin_queue *queue, gpu_event event)
{
    const gpu_status status = gpu_stream_wait(queue->stream, event);
    pthread_mutex_lock(&queue->lock);
    if (status == GPU(Success)) ++queue->sequence;
    pthread_mutex_unlock(&queue->lock);
    return status;
}

meta_err gpu_queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    gpu_event event;
    META_TRY(gpu_use(queue->device));
    META_TRY(gpu_event_take(queue->device, &event));
    gpu_status status = GPU(EventRecord)(event, earlier->stream);
    const char *call = GPU_PREFIX "EventRecord";
    if (status == GPU(Success)) {
        status = wait_for(queue, event);
        call = GPU_PREFIX "StreamWaitEvent";
    }
    gpu_event_keep(queue->device, event);
    GPU_TRY_AS(call, status);
    return META_OK;
}

/* A stream can wait for an event of any device. */
meta_err gpu_queue_wait(meta_plugin_queue *queue, meta_ticket ticket)
{
    const gpu_ticket *awaited = (const gpu_ticket *)ticket;
    if (!awaited) return META_OK;
    META_TRY(gpu_use(queue->device));
    GPU_TRY_AS(GPU_PREFIX "StreamWaitEvent", wait_for(queue, awaited->event));
    return META_OK;
}

/* ------------------------------------------------------------------ copies and tickets */

meta_err gpu_ticket_put(meta_plugin_queue *queue, meta_ticket *ticket)
{
    gpu_ticket *made = (gpu_ticket *)malloc(sizeof *made);
    if (!made) return gpu_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    meta_err error = gpu_event_take(queue->device, &made->event);
    if (error != META_OK) return free(made), error;
    const gpu_status status = GPU(EventRecord)(made->event, queue->stream);
    if (status != GPU(Success)) {
        error = gpu_fail(status, GPU_PREFIX "EventRecord");
        gpu_event_keep(queue->device, made->event);
        return free(made), error;
    }
    made->queue = queue;
    made->sequence = queue->sequence;
    *ticket = made;
    return META_OK;
}

static meta_err queue_copy(meta_plugin_queue *queue, const meta_copy *copy)
{
    char *mine = (char *)copy->object + copy->offset;
    if (copy->kind == META_COPY_PEER) {
        GPU_TRY_AS(GPU_PREFIX "MemcpyPeerAsync",
                   gpu_memcpy_peer(mine, queue->device->ordinal,
                                   (const char *)copy->peer_object + copy->peer_offset,
                                   copy->peer->ordinal, copy->bytes, queue->stream));
    } else {
        const int upload = copy->kind == META_COPY_H2D;
        /* A result that was queued earlier must be in host memory before the copy uses it. */
        if (overlaps_result(queue, copy->host, copy->bytes)) META_TRY(deliver_all(queue));
        GPU_TRY(MemcpyAsync,
                (upload ? mine : copy->host, upload ? copy->host : mine, copy->bytes,
                 upload ? GPU(MemcpyHostToDevice) : GPU(MemcpyDeviceToHost), queue->stream));
    }
    ++queue->sequence;
    return META_OK;
}

meta_err gpu_copy(meta_plugin_queue *queue, const meta_copy *copy)
{
    META_TRY(gpu_use(queue->device));
    pthread_mutex_lock(&queue->lock);
    gpu_stamp_begin(queue, copy->stamp);
    meta_err error = queue_copy(queue, copy);
    if (error == META_OK) {
        gpu_stamp_end(queue, copy->stamp);
        if (copy->ticket) error = gpu_ticket_put(queue, copy->ticket);
        if (error != META_OK) (void)GPU(StreamSynchronize)(queue->stream);
    }
    if (error != META_OK) gpu_stamp_drop(copy->stamp);
    pthread_mutex_unlock(&queue->lock);
    return error;
}

/* The runtime copies between any two of its devices: directly where they have access to each
 * other's memory, else it stages the copy through host memory. */
int gpu_copy_peer(meta_plugin_device *device, meta_plugin_device *peer)
{
    if (device != peer) gpu_pool_share(peer, device);
    return 1;
}

/* The ticket is complete, and so are the results up to it. */
static void deliver_up_to(const gpu_ticket *ticket)
{
    meta_plugin_queue *queue = ticket->queue;
    pthread_mutex_lock(&queue->lock);
    deliver(queue, ticket->sequence);
    pthread_mutex_unlock(&queue->lock);
}

meta_err gpu_ticket_test(meta_ticket ticket, int *complete)
{
    const gpu_ticket *asked = (const gpu_ticket *)ticket;
    *complete = 1;
    if (!asked) return META_OK;
    GPU_NOTE(SetDevice, (asked->queue->device->ordinal));
    const gpu_status status = GPU(EventQuery)(asked->event);
    if (status == GPU(ErrorNotReady)) {
        (void)GPU(GetLastError)();
        *complete = 0;
        return META_OK;
    }
    GPU_TRY_AS(GPU_PREFIX "EventQuery", status);
    deliver_up_to(asked);
    return META_OK;
}

meta_err gpu_ticket_wait(meta_ticket ticket)
{
    const gpu_ticket *asked = (const gpu_ticket *)ticket;
    if (!asked) return META_OK;
    GPU_NOTE(SetDevice, (asked->queue->device->ordinal));
    GPU_TRY(EventSynchronize, (asked->event));
    deliver_up_to(asked);
    return META_OK;
}

void gpu_ticket_release(meta_ticket ticket)
{
    gpu_ticket *given = (gpu_ticket *)ticket;
    if (!given) return;
    gpu_event_keep(given->queue->device, given->event);
    free(given);
}
