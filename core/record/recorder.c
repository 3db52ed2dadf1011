/* SPDX-License-Identifier: BSD-3-Clause */
/** @file recorder.c
 *  The recorder of each thread and its table, with a line for each name, label, device and place.
 */
#include "record/recorder.h"

#include <stdlib.h>
#include <time.h>

meta_recorder *_Atomic meta_recorders;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static bool has_key;
static _Thread_local meta_recorder *mine;

static void give_back(void *given)
{
    pthread_mutex_lock(&list_lock);
    ((meta_recorder *)given)->taken = false;
    pthread_mutex_unlock(&list_lock);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, give_back) == 0;
}

void meta_recorders_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
}

meta_recorder *meta_recorder_own(void)
{
    if (mine) return mine;
    pthread_mutex_lock(&list_lock);
    meta_recorder *r = meta_recorders;
    while (r && r->taken) r = r->next;
    if (!r && (r = calloc(1, sizeof *r))) {
        pthread_mutex_init(&r->lock, NULL);
        r->number = meta_recorders ? meta_recorders->number + 1 : 0;
        r->next = meta_recorders;
        meta_recorders = r;
    }
    if (r) r->taken = true;
    pthread_mutex_unlock(&list_lock);
    mine = r;
    if (r && has_key) pthread_setspecific(key, r); /* else it stays with this thread */
    return r;
}

/* Its place in the hash table. With the recorder's lock. */
static meta_tally *place_of(meta_tally *rows, size_t room, const meta_tally *wanted)
{
    const uintptr_t mixed = (uintptr_t)wanted->name / 8 * 31 + (uintptr_t)wanted->label / 8 * 7 +
                            (uintptr_t)wanted->device / 64 + (unsigned)wanted->where;
    for (size_t k = (mixed ^ mixed >> 7) % room;; k = (k + 1) % room) {
        meta_tally *r = &rows[k];
        if (!r->name || (r->name == wanted->name && r->label == wanted->label &&
                         r->device == wanted->device && r->where == wanted->where))
            return r;
    }
}

static bool grow(meta_recorder *r)
{
    const size_t room = r->room ? 2 * r->room : 64;
    meta_tally *larger = calloc(room, sizeof *larger);
    if (!larger) return false;
    for (size_t k = 0; k < r->room; ++k)
        if (r->rows[k].name) *place_of(larger, room, &r->rows[k]) = r->rows[k];
    free(r->rows);
    r->rows = larger;
    r->room = room;
    return true;
}

void meta_recorder_tally(meta_recorder *r, const meta_tally *of, uint64_t bytes, uint64_t begin,
                         uint64_t end)
{
    if (2 * r->used >= r->room && !grow(r)) return;
    meta_tally *line = place_of(r->rows, r->room, of);
    if (!line->name) {
        *line = *of;
        ++r->used;
    }
    ++line->calls;
    line->bytes += bytes;
    if (begin == 0 && end == 0) return;
    ++line->timed;
    line->timed_bytes += bytes;
    line->nanoseconds += end - begin;
}

void meta_recorder_clear(meta_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    free(r->rows);
    r->rows = NULL;
    r->used = r->room = 0;
    pthread_mutex_unlock(&r->lock);
}

uint64_t meta_profile_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
