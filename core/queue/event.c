/* SPDX-License-Identifier: BSD-3-Clause */
/** @file event.c
 *  Events: one kind of completion for device work and for messages, with callbacks that run on the
 *  application's threads.
 *
 *  An event is a slot and the generation in which the slot was given out, so that a stale handle is
 *  recognised. A slot is given back when its handle was freed, no thread
 *  waits for it inside the library, and no callback is left to call. */
#include "queue/queue.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef struct callback {
    void (*function)(void *user, meta_err status);
    void *user;
    struct callback *next;
} callback;

typedef struct slot {
    uint32_t generation; /* odd while in use */
    bool complete, external, detached;
    int users; /* threads that wait for it inside the library */
    meta_pending pending;
    meta_err status;
    char *message;
    callback *first, **last;
    uint32_t next; /* of the list that this slot is in while it has callbacks */
} slot;

/* Slots by number, each in one list at most. */
typedef struct list {
    uint32_t first, last;
} list;

enum { CHUNK = 256, CHUNKS = 1 << 14 };
#define NONE UINT32_MAX

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static slot *chunks[CHUNKS]; /* slots never move, so a waiting thread can keep its own */
static uint32_t slots;       /* made so far */
static uint32_t *unused, unused_count, unused_room;
/* Slots with callbacks: those whose event was still pending, and those whose callbacks are due. */
static list waiting = {NONE, NONE}, due = {NONE, NONE};
static _Atomic uint32_t in_lists;

static slot *at(uint32_t number)
{
    return &chunks[number / CHUNK][number % CHUNK];
}

/* ------------------------------------------------------------------ slots; with the lock held */

static meta_err make_slot(uint32_t *number)
{
    if (unused_count > 0) return *number = unused[--unused_count], META_OK;
    if (slots == (uint32_t)CHUNK * CHUNKS)
        return meta_fail(META_ERR_NO_MEMORY, "%u events exist: free those that are complete",
                         slots);
    if (slots == unused_room) { /* room for every slot to be unused at once */
        const uint32_t more = unused_room + CHUNK;
        uint32_t *larger = realloc(unused, more * sizeof *unused);
        slot *chunk = calloc(CHUNK, sizeof *chunk);
        if (larger) unused = larger;
        if (!larger || !chunk) {
            free(chunk);
            return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for another event");
        }
        chunks[slots / CHUNK] = chunk;
        unused_room = more;
    }
    *number = slots++;
    return META_OK;
}

static void reclaim(uint32_t number)
{
    slot *s = at(number);
    if (!s->detached || s->users > 0 || s->first) return;
    meta_pending_release(&s->pending);
    free(s->message);
    s->message = NULL;
    ++s->generation;
    unused[unused_count++] = number;
}

static meta_err find(meta_event event, const char *name, slot **found)
{
    slot *s = event.slot < slots ? at(event.slot) : NULL;
    if (!s || s->generation != event.generation || !(event.generation & 1) || s->detached)
        return meta_fail(META_ERR_HANDLE, "argument '%s' {%u, %u} was freed or never was an event",
                         name, event.slot, event.generation);
    *found = s;
    return META_OK;
}

static void append(list *to, uint32_t number)
{
    at(number)->next = NONE;
    if (to->first == NONE) to->first = number;
    else at(to->last)->next = number;
    to->last = number;
}

static void complete(slot *s, meta_err status, char *message)
{
    /* The ticket stays until the slot is reclaimed: another thread may be waiting for it. */
    s->complete = true;
    s->status = status;
    s->message = message;
}

/* Test whether device work is complete. */
static void poll(slot *s)
{
    int done = 0;
    if (s->complete || s->external) return;
    const meta_err status = meta_pending_test(&s->pending, &done);
    if (done || status != META_OK) complete(s, status, status ? meta_error_copy() : NULL);
}

static meta_err status_of(const slot *s)
{
    if (s->status == META_OK) return META_OK;
    return meta_fail_as(s->status, s->message ? s->message : meta_strerror(s->status));
}

meta_err meta_event_new(meta_event *event)
{
    uint32_t number = 0;
    pthread_mutex_lock(&lock);
    const meta_err error = make_slot(&number);
    if (error == META_OK) {
        slot *s = at(number);
        *s = (slot){.generation = s->generation + 1, .external = true, .last = &s->first};
        *event = (meta_event){.slot = number, .generation = s->generation};
    }
    pthread_mutex_unlock(&lock);
    return error;
}

void meta_event_follow(meta_event event, const meta_pending *pending)
{
    pthread_mutex_lock(&lock);
    slot *s = at(event.slot);
    s->external = false;
    s->pending = *pending;
    if (!pending->ticket) s->complete = true;
    pthread_mutex_unlock(&lock);
}

void meta_event_complete(meta_event event, meta_err status, const char *message)
{
    if (event.generation == 0) return;
    pthread_mutex_lock(&lock);
    slot *s = event.slot < slots ? at(event.slot) : NULL;
    if (s && s->generation == event.generation && !s->complete) {
        complete(s, status, status && message ? strdup(message) : NULL);
        reclaim(event.slot);
    }
    pthread_mutex_unlock(&lock);
}

void meta_event_take(meta_event event, meta_pending *pending)
{
    *pending = (meta_pending){NULL, NULL};
    if (event.generation == 0) return;
    pthread_mutex_lock(&lock);
    slot *s = at(event.slot);
    *pending = s->pending;
    s->pending = (meta_pending){NULL, NULL};
    s->detached = true;
    reclaim(event.slot);
    pthread_mutex_unlock(&lock);
}

void meta_event_drop(meta_event event)
{
    pthread_mutex_lock(&lock);
    at(event.slot)->detached = true;
    reclaim(event.slot);
    pthread_mutex_unlock(&lock);
}

void meta_events_forget(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t k = 0; k < slots; ++k) {
        slot *s = at(k);
        if (!(s->generation & 1)) continue;
        while (s->first) {
            callback *c = s->first;
            s->first = c->next;
            free(c);
        }
        s->detached = true;
        s->users = 0;
        reclaim(k);
    }
    waiting = due = (list){NONE, NONE};
    in_lists = 0;
    pthread_mutex_unlock(&lock);
}

/* Take one callback that is due. It stays in its list until then, so that a call of the library
 * from another callback, or another thread, finds it too. */
static callback *take_due(meta_err *status)
{
    callback *taken = NULL;
    pthread_mutex_lock(&lock);
    const uint32_t number = due.first;
    if (number != NONE) {
        slot *s = at(number);
        taken = s->first;
        s->first = taken->next;
        *status = status_of(s);
        if (!s->first) {
            s->last = &s->first;
            due.first = s->next;
            --in_lists;
            reclaim(number);
        }
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void meta_progress(void)
{
    callback *c;
    meta_err status;
    int moved;
    const meta_hooks *comm = meta_hooks_get();
    if (comm) comm->progress(NULL, &moved);
    if (in_lists == 0) return;
    pthread_mutex_lock(&lock);
    uint32_t number = waiting.first;
    waiting = (list){NONE, NONE};
    while (number != NONE) {
        slot *s = at(number);
        const uint32_t next = s->next;
        poll(s);
        append(s->complete ? &due : &waiting, number);
        number = next;
    }
    pthread_mutex_unlock(&lock);
    while ((c = take_due(&status)) != NULL) {
        c->function(c->user, status);
        free(c);
    }
}

/* Let libmeta_comm progress the message that the event stands for. */
static meta_err progress_for(const char *name, meta_wait_clock *wait)
{
    const meta_hooks *comm = meta_hooks_get();
    int moved = 0;
    if (!comm && meta_is_ending())
        return meta_fail(META_ERR_INIT, "the library is being finalised");
    if (!comm)
        return meta_fail(
            META_ERR_STATE,
            "argument '%s' waits for a message, but libmeta_comm has ended or was never started",
            name);
    META_TRY(comm->allowed());
    comm->progress(wait, &moved);
    if (!moved) sched_yield();
    return META_OK;
}

/* Wait outside the lock; the slot stays because this thread is counted as its user. */
static meta_err wait_for(meta_event event, const char *name)
{
    slot *s;
    meta_wait_clock wait = {0};
    pthread_mutex_lock(&lock);
    meta_err error = find(event, name, &s);
    if (error != META_OK) return pthread_mutex_unlock(&lock), error;
    ++s->users;
    while (!s->complete && error == META_OK) {
        const bool external = s->external;
        const meta_pending pending = s->pending;
        pthread_mutex_unlock(&lock);
        error = external ? progress_for(name, &wait) : meta_pending_wait(&pending);
        pthread_mutex_lock(&lock);
        if (!external && !s->complete) complete(s, error, error ? meta_error_copy() : NULL);
    }
    if (s->complete) error = status_of(s);
    --s->users;
    reclaim(event.slot);
    pthread_mutex_unlock(&lock);
    return error;
}

static bool is_null(meta_event event)
{
    return event.generation == 0 && event.slot == 0;
}

/* ------------------------------------------------------------------ public */

meta_err meta_event_test(meta_event event, int *complete)
{
    slot *s;
    META_ENTER();
    META_NEED(complete);
    meta_progress();
    meta_call_name(__func__); /* callbacks may have made other calls */
    if (is_null(event)) return *complete = 1, META_OK;
    pthread_mutex_lock(&lock);
    meta_err error = find(event, "event", &s);
    if (error == META_OK) {
        poll(s);
        *complete = s->complete;
        if (s->complete) error = status_of(s);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static meta_err wait_for_all(size_t count, const meta_event *events, const char *name)
{
    meta_err first = META_OK;
    char *message = NULL;
    for (size_t k = 0; k < count; ++k) {
        const meta_err error = is_null(events[k]) ? META_OK : wait_for(events[k], name);
        if (first != META_OK || error == META_OK) continue;
        first = error;
        message = meta_error_copy();
    }
    meta_progress();
    if (first != META_OK) meta_fail_as(first, message ? message : meta_strerror(first));
    free(message);
    return first;
}

meta_err meta_event_wait(meta_event event)
{
    META_ENTER();
    return wait_for_all(1, &event, "event");
}

meta_err meta_event_waitall(size_t count, const meta_event *events)
{
    META_ENTER();
    if (count > 0) META_NEED(events);
    return wait_for_all(count, events, "events");
}

meta_err meta_event_then(meta_event event, void (*function)(void *user, meta_err status),
                         void *user)
{
    slot *s;
    META_ENTER();
    META_NEED(function);
    callback *c = malloc(sizeof *c);
    if (!c) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a callback");
    *c = (callback){function, user, NULL};
    /* A null event is complete: a new one, given to nobody, carries the callback. */
    const bool carrier = is_null(event);
    meta_err error = carrier ? meta_event_new(&event) : META_OK;
    pthread_mutex_lock(&lock);
    if (error == META_OK) error = find(event, "event", &s);
    if (error == META_OK) {
        if (!s->first) append(&waiting, event.slot), ++in_lists;
        *s->last = c;
        s->last = &c->next;
        if (carrier) s->complete = s->detached = true;
    }
    pthread_mutex_unlock(&lock);
    if (error != META_OK) free(c);
    return error;
}

meta_err meta_event_free(meta_event *event)
{
    slot *s;
    META_ENTER();
    if (!event || event == META_ASYNC)
        return meta_fail(META_ERR_ARGUMENT, "argument 'event' is %s",
                         event ? "META_ASYNC" : "NULL");
    if (is_null(*event)) return META_OK;
    pthread_mutex_lock(&lock);
    const meta_err error = find(*event, "event", &s);
    if (error == META_OK) {
        s->detached = true;
        reclaim(event->slot);
        *event = (meta_event)META_EVENT_NULL;
    }
    pthread_mutex_unlock(&lock);
    return error;
}
