/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reuse.c
 *  How long ago a call's operands were used. Counts are hints: threads that call at the same time
 * may lose each other's. */
#include "reuse.h"

#include <stdatomic.h>

/* Where the buffers used last are found by their addresses: sets of four, of which one that is not
 * there replaces the one used longest ago. */
enum { SETS = 256, PLACES = 4 };
typedef struct use {
    _Atomic uintptr_t object;
    _Atomic int64_t at; /* what had been touched before the call that used it last */
} use;
static use uses[SETS][PLACES];
static _Atomic int64_t touched; /* bytes, by all calls */

#define READ(x)     atomic_load_explicit(&(x), memory_order_relaxed)
#define WRITE(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)

static int64_t count(int64_t bytes)
{
    return atomic_fetch_add_explicit(&touched, bytes, memory_order_relaxed);
}

void reuse_copied(meta_i64 bytes)
{
    if (reuse_counts(bytes)) count(bytes);
}

/* The bytes from the last use of @p object to @p now; -1: it is not known. */
static meta_i64 since(const void *object, int64_t now)
{
    const uint64_t hash = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    use *set = uses[hash >> 56], *oldest = set;
    for (int k = 0; k < PLACES; ++k) {
        if (READ(set[k].object) == (uintptr_t)object) {
            const int64_t then = READ(set[k].at);
            WRITE(set[k].at, now);
            return now - then;
        }
        if (READ(set[k].at) < READ(oldest->at)) oldest = &set[k];
    }
    WRITE(oldest->object, (uintptr_t)object);
    WRITE(oldest->at, now);
    return -1;
}

reuse_of_call reuse_count(const meta_call *call, meta_i64 bytes)
{
    reuse_of_call reuse = {.distance = bytes, .known = 1};
    if (!reuse_counts(bytes)) return reuse;
    const int64_t now = count(bytes);
    for (uint32_t k = 0; k < call->desc->operands; ++k) {
        const meta_i64 distance = since(call->object[k], now);
        if (distance < 0) reuse.known = 0;
        if (distance > reuse.distance) reuse.distance = distance;
    }
    return reuse;
}
