/* SPDX-License-Identifier: BSD-3-Clause */
/** @file event.c
 *  Events. What an event has captured is a place in a stream, with the time when the stream was
 *  there. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "call.h"
#include "device.h"
#include "object.h"
#include "stream.h"

/* What one call of cudaEventRecord() captured; kept by the event and by the work that needs it. */
typedef struct capture {
    int references;
    stream_place place;
    double milliseconds; /* set before the place is done */
} capture;

struct CUevent_st {
    int device;
    bool is_timed;
    capture *captured; /* NULL: nothing yet */
};

typedef struct event_work {
    stream_work work;
    capture *captured;
} event_work;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of events and references */

/* ------------------------------------------------------------------ captures */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* What the event has captured, to be released; NULL: nothing. */
static capture *captured_by(cudaEvent_t event)
{
    pthread_mutex_lock(&lock);
    capture *found = event->captured;
    if (found) ++found->references;
    pthread_mutex_unlock(&lock);
    return found;
}

static void release(capture *captured)
{
    if (!captured) return;
    pthread_mutex_lock(&lock);
    const int left = --captured->references;
    pthread_mutex_unlock(&lock);
    if (left > 0) return;
    stream_place_release(captured->place);
    free(captured);
}

/* Let the event capture something else. */
static void replace(cudaEvent_t event, capture *captured)
{
    pthread_mutex_lock(&lock);
    capture *before = event->captured;
    event->captured = captured;
    pthread_mutex_unlock(&lock);
    release(before);
}

static stream_place queue_work(cudaStream_t stream, capture *captured,
                               void (*run)(stream_work *work, int device))
{
    event_work *work = calloc(1, sizeof *work);
    if (!work) abort();
    work->work.run = run;
    work->captured = captured;
    return stream_push(stream, &work->work);
}

static void run_record(stream_work *work, int device)
{
    capture *captured = ((event_work *)work)->captured;
    (void)device;
    captured->milliseconds = now();
    release(captured);
    free(work);
}

static void run_wait(stream_work *work, int device)
{
    capture *captured = ((event_work *)work)->captured;
    (void)device;
    stream_wait(captured->place);
    release(captured);
    free(work);
}

/* ------------------------------------------------------------------ the runtime's functions */

static cudaError_t check(const char *call, cudaEvent_t event)
{
    if (object_is(GPU_FAULT_EVENT, event)) return cudaSuccess;
    call_misuse(call, "there is no such event");
    return cudaErrorInvalidResourceHandle;
}

static cudaError_t create(const char *name, cudaEvent_t *event, bool is_timed)
{
    const fake_call call = call_begin(name);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device_current()));
    cudaEvent_t made = calloc(1, sizeof *made);
    if (!made) abort();
    made->device = device_current();
    made->is_timed = is_timed;
    object_add(GPU_FAULT_EVENT, made);
    *event = made;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return create(__func__, event, true);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    if (flags & ~(unsigned)cudaEventDisableTiming) call_lacks(__func__, "flags %u", flags);
    return create(__func__, event, !(flags & cudaEventDisableTiming));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(check(call.name, event));
    const int device = event->device;
    object_remove(GPU_FAULT_EVENT, event);
    release(event->captured);
    free(event);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device));
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(stream_check(call.name, stream));
    CALL_TRY(check(call.name, event));
    if (event->device != stream_device(stream)) {
        call_misuse(call.name, "the event and the stream belong to two devices");
        return call_end(cudaErrorInvalidResourceHandle);
    }
    CALL_TRY(call.injected);
    CALL_TRY(device_status(event->device));
    capture *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->references = 2;
    made->place = queue_work(stream, made, run_record);
    replace(event, made);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(stream_check(call.name, stream));
    CALL_TRY(check(call.name, event));
    if (flags) call_lacks(call.name, "flags %u", flags);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(stream_device(stream)));
    capture *captured = captured_by(event);
    if (!captured) return cudaSuccess;
    stream_place_release(queue_work(stream, captured, run_wait));
    return cudaSuccess;
}

/* With an injected fault it waits, so that the work has ended. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(check(call.name, event));
    const int device = event->device;
    capture *captured = captured_by(event);
    bool done = true;
    if (captured && call.injected != cudaSuccess) stream_host_wait(captured->place);
    else if (captured) done = stream_is_done(captured->place);
    release(captured);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device));
    if (!done) call_uncount();
    return done ? cudaSuccess : call_end(cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(check(call.name, event));
    const int device = event->device;
    capture *captured = captured_by(event);
    if (captured) stream_host_wait(captured->place);
    release(captured);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device));
    return cudaSuccess;
}

/* The events' captures, of which both must be done. */
static cudaError_t elapsed(const capture *from, const capture *to, float *milliseconds)
{
    if (!from || !to) return cudaErrorInvalidResourceHandle;
    const bool from_done = stream_is_done(from->place), to_done = stream_is_done(to->place);
    if (!from_done || !to_done) return cudaErrorNotReady;
    *milliseconds = (float)(to->milliseconds - from->milliseconds);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(check(call.name, start));
    CALL_TRY(check(call.name, end));
    CALL_TRY(call.injected);
    CALL_TRY(device_status(start->device));
    if (!start->is_timed || !end->is_timed || start->device != end->device) {
        call_misuse(call.name, "events without timing, or of two devices");
        return call_end(cudaErrorInvalidResourceHandle);
    }
    capture *from = captured_by(start), *to = captured_by(end);
    const cudaError_t status = elapsed(from, to, milliseconds);
    release(from);
    release(to);
    if (status == cudaErrorInvalidResourceHandle)
        call_misuse(call.name, "an event was never recorded");
    return call_end(status);
}
