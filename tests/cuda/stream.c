/* SPDX-License-Identifier: BSD-3-Clause */
/** @file stream.c
 *  Streams as threads, made with the first work. A lazy stream sleeps until somebody waits for a
 *  piece of its work, and then does the work up to that piece: another stream that needs it has to
 *  wait for it itself. When a lazy stream is destroyed, it does all its work. */
#include "stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "call.h"
#include "device.h"
#include "object.h"
#include "pool.h"
#include "settings.h"

struct CUstream_st {
    int device;
    int references; /* its handle, its thread and places in it */
    uint64_t pushed, wanted, done, seen;
    stream_work *first, **end;
    bool has_thread, has_ended;
    pthread_t thread;
    unsigned random;
    pthread_cond_t changed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all streams */
static pthread_cond_t progress = PTHREAD_COND_INITIALIZER;
static _Atomic uint64_t last_ticket;
static unsigned streams_made;

uint64_t stream_next_ticket(void)
{
    return atomic_fetch_add(&last_ticket, 1) + 1;
}

/* ------------------------------------------------------------------ a stream's life */

cudaStream_t stream_make(int device)
{
    cudaStream_t made = calloc(1, sizeof *made);
    if (!made) abort();
    made->device = device;
    made->references = 1;
    made->end = &made->first;
    pthread_cond_init(&made->changed, NULL);
    pthread_mutex_lock(&lock);
    made->random = (unsigned)settings.seed + 1000003U * streams_made++;
    pthread_mutex_unlock(&lock);
    object_add(GPU_FAULT_STREAM, made);
    return made;
}

/* With the lock held. */
static void release(cudaStream_t stream)
{
    if (--stream->references > 0) return;
    pthread_cond_destroy(&stream->changed);
    free(stream);
}

void stream_end(cudaStream_t stream)
{
    object_remove(GPU_FAULT_STREAM, stream);
    pthread_mutex_lock(&lock);
    const bool has_thread = stream->has_thread, is_idle = stream->done == stream->pushed;
    const pthread_t thread = stream->thread;
    stream->has_ended = true;
    pthread_cond_signal(&stream->changed);
    release(stream);
    pthread_mutex_unlock(&lock);
    if (!has_thread) return;
    if (is_idle) pthread_join(thread, NULL);
    else pthread_detach(thread);
}

cudaError_t stream_check(const char *call, cudaStream_t stream)
{
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        call_lacks(call, "default streams");
    if (object_is(GPU_FAULT_STREAM, stream)) return cudaSuccess;
    call_misuse(call, "there is no such stream");
    return cudaErrorInvalidResourceHandle;
}

int stream_device(cudaStream_t stream)
{
    return stream->device;
}

/* ------------------------------------------------------------------ its thread */

/* With the lock held. @return the next work that is due; NULL: the stream is at its end */
static stream_work *next_work(cudaStream_t s)
{
    for (;;) {
        if (!s->first && s->has_ended) return NULL;
        if (s->first && (!settings.lazy || s->has_ended || s->wanted >= s->first->number)) break;
        pthread_cond_wait(&s->changed, &lock);
    }
    stream_work *work = s->first;
    s->first = work->next;
    if (!s->first) s->end = &s->first;
    return work;
}

static void *serve(void *argument)
{
    cudaStream_t s = argument;
    pthread_mutex_lock(&lock);
    for (stream_work *work; (work = next_work(s)) != NULL;) {
        const uint64_t number = work->number;
        const unsigned delay =
            settings.delay ? (unsigned)rand_r(&s->random) % (unsigned)settings.delay : 0;
        pthread_mutex_unlock(&lock);
        if (delay) usleep(delay);
        work->run(work, s->device);
        pthread_mutex_lock(&lock);
        s->done = number;
        pthread_cond_broadcast(&progress);
    }
    release(s);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* With the lock held. */
static void start_thread(cudaStream_t s)
{
    if (s->has_thread) return;
    if (pthread_create(&s->thread, NULL, serve, s) != 0) call_lacks("stream", "one more thread");
    s->has_thread = true;
    ++s->references;
}

/* ------------------------------------------------------------------ work and places in it */

stream_place stream_push(cudaStream_t stream, stream_work *work)
{
    pthread_mutex_lock(&lock);
    start_thread(stream);
    work->next = NULL;
    work->number = ++stream->pushed;
    work->ticket = stream_next_ticket();
    *stream->end = work;
    stream->end = &work->next;
    const stream_place place = {stream, work->number};
    ++stream->references;
    pthread_cond_signal(&stream->changed);
    pthread_mutex_unlock(&lock);
    return place;
}

stream_place stream_end_of_queue(cudaStream_t stream)
{
    pthread_mutex_lock(&lock);
    const stream_place place = {stream, stream->pushed};
    ++stream->references;
    pthread_mutex_unlock(&lock);
    return place;
}

stream_place stream_place_keep(stream_place place)
{
    pthread_mutex_lock(&lock);
    ++place.stream->references;
    pthread_mutex_unlock(&lock);
    return place;
}

void stream_place_release(stream_place place)
{
    pthread_mutex_lock(&lock);
    release(place.stream);
    pthread_mutex_unlock(&lock);
}

/* With the lock held: it is due now, with all before it. */
static void want(stream_place place)
{
    if (place.stream->wanted >= place.number) return;
    place.stream->wanted = place.number;
    pthread_cond_signal(&place.stream->changed);
}

static void note_seen(stream_place place)
{
    if (place.stream->seen < place.number) place.stream->seen = place.number;
}

bool stream_is_done(stream_place place)
{
    pthread_mutex_lock(&lock);
    want(place);
    const bool done = place.stream->done >= place.number;
    if (done) note_seen(place);
    pthread_mutex_unlock(&lock);
    return done;
}

void stream_wait(stream_place place)
{
    pthread_mutex_lock(&lock);
    want(place);
    while (place.stream->done < place.number) pthread_cond_wait(&progress, &lock);
    pthread_mutex_unlock(&lock);
}

void stream_host_wait(stream_place place)
{
    stream_wait(place);
    pthread_mutex_lock(&lock);
    note_seen(place);
    pthread_mutex_unlock(&lock);
    pool_synchronised(place.stream->device);
}

bool stream_was_seen(stream_place place)
{
    pthread_mutex_lock(&lock);
    const bool seen = place.stream->seen >= place.number;
    pthread_mutex_unlock(&lock);
    return seen;
}

/* ------------------------------------------------------------------ the runtime's functions */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)priority; /* one out of range counts as the nearest in it */
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    if (flags != cudaStreamNonBlocking) call_lacks(call.name, "streams with flags %u", flags);
    CALL_TRY(device_status(device_current()));
    device_bind();
    *stream = stream_make(device_current());
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(stream_check(call.name, stream));
    const int device = stream->device;
    stream_end(stream);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device));
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(stream_check(call.name, stream));
    const stream_place all = stream_end_of_queue(stream);
    const int device = stream->device;
    stream_host_wait(all);
    stream_place_release(all);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device));
    return cudaSuccess;
}
