/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fetch.c
 *  How long ago a call's operands were used, and whether requesting memory ahead pays. Counts and
 *  times are hints: threads that call at the same time may lose each other's. */
#include "fetch.h"

#include "stream.h"

#include <stdatomic.h>

/* ------------------------------------------------------------------ reuse distance */

/* Calls that touch fewer bytes are not counted: they move little out of a cache. */
enum { WORTH_COUNTING = 1 << 15 };

/* Where the buffers used last are found by their addresses: sets of four, of which one that is not
 * there replaces the one used longest ago. */
enum { SETS = 256, WAYS = 4 };
typedef struct use {
    _Atomic uintptr_t object;
    _Atomic int64_t at; /* what had been touched before the call that used it last */
} use;
static use uses[SETS][WAYS];
static _Atomic int64_t touched; /* bytes, by all calls */

#define READ(x)     atomic_load_explicit(&(x), memory_order_relaxed)
#define WRITE(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

static int64_t count(int64_t bytes)
{
    return atomic_fetch_add_explicit(&touched, bytes, memory_order_relaxed);
}

void fetch_copied(meta_i64 bytes)
{
    if (bytes >= WORTH_COUNTING) count(bytes);
}

/* The bytes from the last use of @p object to @p now; 0: it is not known. */
static meta_i64 since(const void *object, int64_t now)
{
    const uint64_t hash = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    use *set = uses[hash >> 56], *oldest = set;
    for (int k = 0; k < WAYS; ++k) {
        if (READ(set[k].object) == (uintptr_t)object) {
            const int64_t then = READ(set[k].at);
            WRITE(set[k].at, now);
            return now - then;
        }
        if (READ(set[k].at) < READ(oldest->at)) oldest = &set[k];
    }
    WRITE(oldest->object, (uintptr_t)object);
    WRITE(oldest->at, now);
    return 0;
}

meta_i64 fetch_distance(const meta_call *call, meta_i64 bytes)
{
    meta_i64 longest = bytes;
    if (bytes < WORTH_COUNTING) return bytes;
    const int64_t now = count(bytes);
    for (uint32_t k = 0; k < call->desc->operands; ++k) {
        const meta_i64 distance = since(call->object[k], now);
        if (distance > longest) longest = distance;
    }
    return longest;
}

/* ------------------------------------------------------------------ which way is faster */

enum { TRIES = 4, DISTANCES = 24 };
/* Measured times differ by as much without a reason. */
static const double NOISE = 0.02;

/* Of a kernel and a distance: the least nanoseconds for a cell without and with requests, and how
 * often each was tried. */
typedef struct fetch_pace {
    _Atomic double least[2];
    _Atomic int tries[2];
} fetch_pace;
static fetch_pace paces[META_KERNEL_COUNT][META_TYPE_COUNT][DISTANCES];

/* One for each power of two; NULL where a thread's core keeps what it uses. */
static fetch_pace *pace_of(const meta_call *call, meta_i64 distance)
{
    int power = -1;
    for (meta_i64 at = stream_cache(); at < distance && power < DISTANCES - 1; at *= 2) ++power;
    return power < 0 ? NULL : &paces[call->desc->number][call->type][power];
}

static int is_faster(const fetch_pace *pace)
{
    return READ(pace->least[1]) < (1 - NOISE) * READ(pace->least[0]);
}

fetch_trial fetch_begin(const meta_call *call, meta_i64 distance, int threads)
{
    fetch_pace *pace = pace_of(call, distance / threads);
    if (!pace) return (fetch_trial){0};
    const int without = READ(pace->tries[0]), with = READ(pace->tries[1]);
    if (without >= TRIES && with >= TRIES) return (fetch_trial){.fetches = is_faster(pace)};
    return (fetch_trial){
        .fetches = with < without, .of = pace, .call = call, .begin = openmp_now()};
}

void fetch_end(const fetch_trial *trial)
{
    fetch_pace *pace = trial->of;
    if (!pace) return;
    const meta_space *space = trial->call->space;
    const double cells = (double)space->rows * (double)space->extent[0],
                 taken = (double)(openmp_now() - trial->begin) / cells;
    const int way = trial->fetches, tries = READ(pace->tries[way]);
    if (tries == 0 || taken < READ(pace->least[way])) WRITE(pace->least[way], taken);
    WRITE(pace->tries[way], tries + 1);
    if (way == 0 || tries + 1 != TRIES) return;
    openmp_host->log(META_LOG_INFO,
                     "OpenMP: %s of %s takes %.3f ns a cell, %.3f where memory is requested ahead: "
                     "it is %s from now on",
                     trial->call->desc->name, meta_element_name(trial->call->type),
                     READ(pace->least[0]), READ(pace->least[1]), is_faster(pace) ? "so" : "not");
}
