/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sim_work.c
 *  The virtual clock, and work in queues. When work begins and ends on the clock is computed when
 * it is queued. When it really runs is another matter: as late as possible, and nothing runs with
 * it but what it waits for. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a call of the host takes, in ns. */
enum { SUBMIT = 200, TEST = 100 };

/* A launch or a copy. It lives while its queue, its ticket or work that waits for it refers to it.
 */
typedef struct item {
    meta_plugin_device *device;
    meta_plugin_queue *queue;
    struct item *previous; /* in the queue, and not done when this was queued; or NULL */
    struct item **waits;   /* for work of other queues */
    size_t wait_count;
    struct item *dependent; /* while it is being forced: what it is forced for */
    meta_call **calls;      /* of a launch, else NULL */
    size_t count;
    meta_copy copy;
    uint64_t begin, end; /* on the virtual clock */
    int references;
    bool is_done, is_tracked, is_reported, must_fail;
    meta_err error;
} item;

struct meta_plugin_queue {
    meta_plugin_device *device;
    meta_plugin_queue *next; /* of all queues */
    item *last;              /* or NULL */
    item **waits;            /* what the next item waits for */
    size_t wait_count;
    uint64_t ready;     /* when the next item may begin */
    meta_err untracked; /* the first error that no ticket has reported */
};

static meta_plugin_queue *queues;
static uint64_t host_clock;
static uint32_t coin;
static bool is_eager;

void sim_clock_begin(bool eager)
{
    host_clock = 1; /* a stamp of 0 is unknown */
    coin = 2463534242u;
    is_eager = eager;
}

void sim_submit(void)
{
    host_clock += SUBMIT;
}

/* Tests see the time after each call. */
static void show_clock(void)
{
    if (sim_others) sim_others->now = (double)host_clock;
}

uint64_t sim_now(void)
{
    return host_clock;
}

/* By G. Marsaglia, Xorshift RNGs, 2003. */
static bool toss(void)
{
    enum { ONE_IN = 8 };
    coin ^= coin << 13;
    coin ^= coin >> 17;
    coin ^= coin << 5;
    return coin % ONE_IN == 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static meta_err no_memory(void)
{
    return sim_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
}

static meta_err state_of(const item *work)
{
    if (!work->error) return META_OK;
    return sim_host->fail(work->error, "device %s: simulated failure", work->device->name);
}

/* ------------------------------------------------------------------ items */

static void forget_calls(item *work)
{
    for (size_t k = 0; k < work->count; ++k) free(work->calls[k]);
    free(work->calls);
    work->calls = NULL;
    work->count = 0;
}

static void release(item *work)
{
    if (!work || --work->references > 0) return;
    forget_calls(work);
    free(work->waits);
    free(work);
}

static void run_copy(const meta_copy *copy)
{
    char *mine = (char *)copy->object + copy->offset;
    if (copy->kind == META_COPY_H2D) memmove(mine, copy->host, copy->bytes);
    else if (copy->kind == META_COPY_D2H) memmove(copy->host, mine, copy->bytes);
    else memmove(mine, (char *)copy->peer_object + copy->peer_offset, copy->bytes);
}

/* An error that no ticket will report is the queue's, if that still exists. */
static void keep_error(item *work)
{
    for (meta_plugin_queue *q = queues; q; q = q->next)
        if (q == work->queue && q->untracked == META_OK) q->untracked = work->error;
    work->is_reported = true;
}

static void run(item *work)
{
    item *previous = work->previous;
    if (work->must_fail) work->error = META_ERR_DEVICE;
    else if (!work->calls) run_copy(&work->copy);
    for (size_t k = 0; k < work->count && work->error == META_OK; ++k)
        work->error = sim_call_run(work->calls[k]);
    work->is_done = true;
    if (work->error != META_OK && !work->is_tracked) keep_error(work);
    forget_calls(work);
    work->previous = NULL;
    release(previous);
    for (size_t k = 0; k < work->wait_count; ++k) release(work->waits[k]);
    work->wait_count = 0;
}

/* Something that must be done before @p work; NULL: nothing. */
static item *obstacle(const item *work)
{
    if (work->previous && !work->previous->is_done) return work->previous;
    for (size_t k = 0; k < work->wait_count; ++k)
        if (!work->waits[k]->is_done) return work->waits[k];
    return NULL;
}

/* Run @p work, and before it what it waits for, but nothing else. */
static void force(item *work)
{
    item *now = work;
    if (!work || work->is_done) return;
    work->dependent = NULL;
    while (now) {
        item *first = obstacle(now);
        if (first) {
            first->dependent = now;
            now = first;
        } else {
            item *done = now;
            now = now->dependent;
            run(done); /* what waits for it, or the caller, still refers to it */
        }
    }
}

static bool uses_object(const item *work, const void *object)
{
    if (!work->calls) return work->copy.object == object || work->copy.peer_object == object;
    for (size_t k = 0; k < work->count; ++k) {
        const meta_call *call = work->calls[k];
        for (uint32_t n = 0; n < call->desc->operands; ++n)
            if (call->object[n] == object) return true;
        for (uint32_t n = 0; n < sim_call_results(call); ++n)
            if (!call->result[n].host && call->result[n].object == object) return true;
    }
    return false;
}

static bool uses_kernel(const item *work, const void *kernel)
{
    for (size_t k = 0; k < work->count; ++k)
        if ((const void *)work->calls[k]->kernel == kernel) return true;
    return false;
}

static bool is_used(bool (*uses)(const item *, const void *), const void *what)
{
    for (const meta_plugin_queue *q = queues; q; q = q->next)
        for (const item *work = q->last; work && !work->is_done; work = work->previous)
            if (uses(work, what)) return true;
    return false;
}

bool sim_is_object_used(const void *object)
{
    return is_used(uses_object, object);
}

bool sim_is_kernel_used(const meta_plugin_kernel *kernel)
{
    return is_used(uses_kernel, kernel);
}

/* ------------------------------------------------------------------ queues */

meta_err sim_queue_create(meta_plugin_device *device, meta_queue_kind kind,
                          meta_plugin_queue **queue)
{
    meta_plugin_queue *made = calloc(1, sizeof *made);
    (void)kind;
    if (!made) return no_memory();
    made->device = device;
    pthread_mutex_lock(&sim_lock);
    made->next = queues;
    queues = made;
    pthread_mutex_unlock(&sim_lock);
    *queue = made;
    return META_OK;
}

void sim_queue_destroy(meta_plugin_queue *queue)
{
    meta_plugin_queue **link = &queues;
    pthread_mutex_lock(&sim_lock);
    force(queue->last);
    release(queue->last);
    for (size_t k = 0; k < queue->wait_count; ++k) release(queue->waits[k]);
    while (*link != queue) link = &(*link)->next;
    *link = queue->next;
    pthread_mutex_unlock(&sim_lock);
    free(queue->waits);
    free(queue);
}

meta_err sim_queue_finish(meta_plugin_queue *queue)
{
    meta_err error;
    pthread_mutex_lock(&sim_lock);
    force(queue->last);
    if (queue->last) host_clock = later(host_clock, queue->last->end);
    show_clock();
    error = queue->untracked;
    queue->untracked = META_OK;
    pthread_mutex_unlock(&sim_lock);
    if (error == META_OK) return META_OK;
    return sim_host->fail(error, "device %s: simulated failure", queue->device->name);
}

/* The queue's next item waits for @p work. With the lock held. */
static meta_err wait_for(meta_plugin_queue *queue, item *work)
{
    if (!work) return META_OK;
    queue->ready = later(queue->ready, work->end);
    if (work->is_done) return META_OK;
    item **more = realloc(queue->waits, (queue->wait_count + 1) * sizeof(item *));
    if (!more) return no_memory();
    queue->waits = more;
    queue->waits[queue->wait_count++] = work;
    ++work->references;
    return META_OK;
}

meta_err sim_queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    pthread_mutex_lock(&sim_lock);
    const meta_err error = wait_for(queue, earlier->last);
    pthread_mutex_unlock(&sim_lock);
    return error;
}

meta_err sim_queue_wait(meta_plugin_queue *queue, meta_ticket ticket)
{
    pthread_mutex_lock(&sim_lock);
    const meta_err error = wait_for(queue, ticket);
    pthread_mutex_unlock(&sim_lock);
    return error;
}

/* ------------------------------------------------------------------ the virtual clock */

static uint64_t *engine_of(meta_plugin_device *device, sim_engine engine)
{
    meta_plugin_device *owner = device->owner;
    return &owner->engine_end[owner->is_shared ? SIM_COMPUTE : engine];
}

static void take(item *work, double time, uint64_t *engine)
{
    work->end = work->begin + (uint64_t)time;
    *engine = work->end;
}

static void schedule_launch(item *work)
{
    meta_plugin_device *device = work->device;
    uint64_t *cores = engine_of(device, SIM_COMPUTE);
    double time = 0;
    work->begin = later(work->begin, *cores);
    for (size_t k = 0; k < work->count; ++k)
        time += sim_call_time(device, work->calls[k], k == 0 ? device->launch : 0, work->begin);
    take(work, time, cores);
    device->busy += work->end - work->begin;
    if (sim_others && device->index < SIM_CROWD)
        sim_others->busy[device->index] = (double)device->busy;
    ++device->launches;
}

static void schedule_copy(item *work)
{
    meta_plugin_device *device = work->device, *peer = work->copy.peer;
    const bool is_out = work->copy.kind == META_COPY_D2H;
    uint64_t *link = engine_of(device, is_out ? SIM_OUT : SIM_IN);
    double latency = device->latency, rate = device->bandwidth;
    ++device->copies;
    if (work->copy.kind == META_COPY_PEER) {
        uint64_t *other = engine_of(peer, SIM_OUT);
        latency = latency > peer->latency ? latency : peer->latency;
        rate = device->peer < peer->peer ? device->peer : peer->peer;
        work->begin = later(work->begin, *other);
        work->begin = later(work->begin, *link);
        take(work, latency + (double)work->copy.bytes / rate, other);
        device->bytes_peer += work->copy.bytes;
    } else {
        work->begin = later(work->begin, *link);
        *(is_out ? &device->bytes_out : &device->bytes_in) += work->copy.bytes;
    }
    take(work, latency + (double)work->copy.bytes / rate, link);
}

/* ------------------------------------------------------------------ queueing */

static void append(meta_plugin_queue *queue, item *work)
{
    meta_plugin_device *device = queue->device;
    item *last = queue->last;
    sim_submit();
    show_clock();
    work->begin = later(host_clock, queue->ready);
    if (work->calls) schedule_launch(work);
    else schedule_copy(work);
    work->must_fail =
        device->fails > 0 && (double)(device->launches + device->copies) >= device->fails;
    queue->ready = work->end;
    work->waits = queue->waits;
    work->wait_count = queue->wait_count;
    queue->waits = NULL;
    queue->wait_count = 0;
    queue->last = work;
    if (last && !last->is_done) work->previous = last;
    else release(last);
}

/* Queue @p what, a launch whose calls it takes over, or a copy. */
static meta_err queue_item(meta_plugin_queue *queue, const item *what, meta_ticket *ticket,
                           meta_stamp *stamp)
{
    const bool is_sync = queue->device->is_sync;
    meta_err error = META_OK;
    item *work = malloc(sizeof *work);
    if (!work) return no_memory();
    *work = *what;
    work->device = queue->device;
    work->queue = queue;
    work->is_tracked = is_sync || ticket;
    work->references = 1 + (ticket && !is_sync);
    pthread_mutex_lock(&sim_lock);
    append(queue, work);
    if (is_sync || is_eager) force(work);
    if (is_sync) {
        host_clock = later(host_clock, work->end);
        error = state_of(work);
    }
    if (stamp) *stamp = (meta_stamp){NULL, work->begin, work->end};
    if (ticket) *ticket = is_sync ? NULL : work;
    pthread_mutex_unlock(&sim_lock);
    return error;
}

meta_err sim_copy(meta_plugin_queue *queue, const meta_copy *copy)
{
    item what = {.copy = *copy};
    if (copy->kind != META_COPY_PEER) what.copy.peer = NULL, what.copy.peer_object = NULL;
    return queue_item(queue, &what, copy->ticket, copy->stamp);
}

meta_err sim_launch(meta_plugin_queue *queue, const meta_launch *launch)
{
    item what = {.calls = calloc(launch->count + 1, sizeof(meta_call *)), .count = launch->count};
    bool is_whole = what.calls != NULL;
    sim_log(queue->device, launch);
    if (!is_whole) what.count = 0;
    for (size_t k = 0; k < what.count; ++k) {
        what.calls[k] = sim_call_copy(meta_launch_call(launch, k));
        is_whole = is_whole && what.calls[k];
    }
    const meta_err error =
        is_whole ? queue_item(queue, &what, launch->ticket, launch->stamp) : no_memory();
    if (!is_whole) forget_calls(&what);
    return error;
}

/* ------------------------------------------------------------------ tickets */

/* The ticket reports the work's error. With the lock held. */
static meta_err tell(item *work)
{
    if (work->error != META_OK) work->is_reported = true;
    return state_of(work);
}

/* Work is complete when the clock has reached its end. The coin decides whether it runs before. */
meta_err sim_ticket_test(meta_ticket ticket, int *complete)
{
    item *work = ticket;
    meta_err error = META_OK;
    *complete = 1;
    if (!work) return META_OK;
    pthread_mutex_lock(&sim_lock);
    host_clock += TEST;
    *complete = work->end <= host_clock;
    if (*complete || toss()) force(work);
    if (*complete) error = tell(work);
    pthread_mutex_unlock(&sim_lock);
    return error;
}

meta_err sim_ticket_wait(meta_ticket ticket)
{
    item *work = ticket;
    if (!work) return META_OK;
    pthread_mutex_lock(&sim_lock);
    force(work);
    host_clock = later(host_clock, work->end);
    show_clock();
    const meta_err error = tell(work);
    pthread_mutex_unlock(&sim_lock);
    return error;
}

void sim_ticket_release(meta_ticket ticket)
{
    item *work = ticket;
    if (!work) return;
    pthread_mutex_lock(&sim_lock);
    work->is_tracked = false;
    if (work->is_done && work->error != META_OK && !work->is_reported) keep_error(work);
    release(work);
    pthread_mutex_unlock(&sim_lock);
}
