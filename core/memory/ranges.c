/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranges.c
 *  Allocations in the order of their addresses, in chunks: an array has where each chunk begins,
 *  and each chunk where its allocations do. So a search is two bisections in arrays of plain
 *  numbers, and a change moves no more than a chunk; the array of chunks changes once in dozens of
 *  times. What was found lately is remembered: a program that uses a hundred of a million
 *  allocations searches among those. */
#include "memory/ranges.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128, RECORDS = 256 };

typedef struct chunk {
    size_t count;
    uintptr_t base[MOST];
    meta_allocation *of[MOST];
} chunk;

/* An allocation, of no bytes while it is none: no address lies in it then. */
typedef struct record {
    meta_allocation of;
    struct record *next; /* that is none */
} record;

/* Records that were allocated together. */
typedef struct slab {
    struct slab *next;
    record record[RECORDS];
} slab;

static chunk **chunks;
static uintptr_t *first; /* where each chunk's first allocation begins */
static size_t chunk_count, room;
static slab *slabs;
static record *spare;

/* Where addresses were found lately; threads that search side by side may write here. */
enum { FOUND_BITS = 10, FOUND = 1 << FOUND_BITS };
static _Atomic(meta_allocation *) found[FOUND];

/* ------------------------------------------------------------------ records */

static void free_record(meta_allocation *a)
{
    record *r = (record *)(void *)a;
    r->of.memory.bytes = 0;
    r->next = spare;
    spare = r;
}

static meta_allocation *new_record(const meta_allocation *a)
{
    if (!spare) {
        slab *more = malloc(sizeof *more);
        if (!more) return NULL;
        more->next = slabs;
        slabs = more;
        for (int k = RECORDS - 1; k >= 0; --k) free_record(&more->record[k].of);
    }
    record *r = spare;
    spare = r->next;
    r->of = *a;
    return &r->of;
}

/* ------------------------------------------------------------------ search */

static uintptr_t base_of(const meta_allocation *a)
{
    return (uintptr_t)a->memory.address;
}

/* How many of the sorted numbers are at most @p value; without a branch that could be guessed
 * wrongly. */
static size_t at_most(const uintptr_t *sorted, size_t count, uintptr_t value)
{
    const uintptr_t *from = sorted;
    while (count > 1) {
        const size_t half = count / 2;
        from += from[half] <= value ? half : 0;
        count -= half;
    }
    return (size_t)(from - sorted) + (count == 1 && *from <= value);
}

/* The chunk that holds what begins at @p base, or would; there is one. */
static size_t chunk_of(uintptr_t base)
{
    const size_t k = at_most(first, chunk_count, base);
    return k > 0 ? k - 1 : 0;
}

static bool holds(const meta_allocation *a, const void *address)
{
    return a && (uint64_t)((uintptr_t)address - base_of(a)) < a->memory.bytes;
}

meta_allocation *meta_ranges_around(const void *address)
{
    /* Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4). */
    _Atomic(meta_allocation *) *last =
        &found[((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - FOUND_BITS)];
    meta_allocation *a = atomic_load_explicit(last, memory_order_relaxed);
    if (holds(a, address)) return a;
    const size_t k = at_most(first, chunk_count, (uintptr_t)address);
    if (k == 0) return NULL;
    const chunk *c = chunks[k - 1];
    a = c->of[at_most(c->base, c->count, (uintptr_t)address) - 1];
    if (!holds(a, address)) return NULL;
    atomic_store_explicit(last, a, memory_order_relaxed);
    return a;
}

meta_allocation *meta_ranges_behind(const void *address)
{
    if (chunk_count == 0) return NULL;
    size_t k = chunk_of((uintptr_t)address);
    const size_t at = at_most(chunks[k]->base, chunks[k]->count, (uintptr_t)address);
    if (at < chunks[k]->count) return chunks[k]->of[at];
    return ++k < chunk_count ? chunks[k]->of[0] : NULL;
}

meta_allocation *meta_ranges_last(void)
{
    if (chunk_count == 0) return NULL;
    const chunk *c = chunks[chunk_count - 1];
    return c->of[c->count - 1];
}

/* ------------------------------------------------------------------ changes */

static bool grow(void)
{
    const size_t more = room ? 2 * room : 16;
    if (chunk_count < room) return true;
    chunk **larger = realloc(chunks, more * sizeof *larger);
    if (larger) chunks = larger;
    uintptr_t *larger_first = larger ? realloc(first, more * sizeof *first) : NULL;
    if (!larger_first) return false;
    first = larger_first;
    room = more;
    return true;
}

/* An empty chunk in place @p k. */
static chunk *insert_chunk(size_t k)
{
    chunk *c = grow() ? malloc(sizeof *c) : NULL;
    if (!c) return NULL;
    memmove(&chunks[k + 1], &chunks[k], (chunk_count - k) * sizeof *chunks);
    memmove(&first[k + 1], &first[k], (chunk_count - k) * sizeof *first);
    c->count = 0;
    chunks[k] = c;
    first[k] = 0;
    ++chunk_count;
    return c;
}

static void remove_chunk(size_t k)
{
    free(chunks[k]);
    --chunk_count;
    memmove(&chunks[k], &chunks[k + 1], (chunk_count - k) * sizeof *chunks);
    memmove(&first[k], &first[k + 1], (chunk_count - k) * sizeof *first);
}

/* Append those of @p from from place @p at on to @p to. */
static void move(chunk *to, chunk *from, size_t at)
{
    const size_t moved = from->count - at;
    memcpy(&to->base[to->count], &from->base[at], moved * sizeof *to->base);
    memcpy(&to->of[to->count], &from->of[at], moved * sizeof(meta_allocation *));
    to->count += moved;
    from->count = at;
}

/* Chunk @p k gets room for one more that begins at @p base; NULL: no memory. What comes behind all
 * others begins a chunk of its own, so that full ones stay full. */
static chunk *with_room(size_t k, uintptr_t base)
{
    chunk *full = chunks[k];
    if (full->count < MOST) return full;
    chunk *upper = insert_chunk(k + 1);
    if (!upper) return NULL;
    const bool is_last = base > full->base[MOST - 1];
    if (!is_last) move(upper, full, MOST / 2);
    first[k + 1] = is_last ? base : upper->base[0];
    return base >= first[k + 1] ? upper : full;
}

meta_allocation *meta_ranges_add(const meta_allocation *a)
{
    const uintptr_t base = base_of(a);
    if (chunk_count == 0 && !insert_chunk(0)) return NULL;
    size_t k = chunk_of(base);
    meta_allocation *added = new_record(a);
    chunk *c = added ? with_room(k, base) : NULL;
    if (!c) {
        if (added) free_record(added);
        if (chunks[k]->count == 0) remove_chunk(k);
        return NULL;
    }
    if (c != chunks[k]) ++k;
    const size_t at = at_most(c->base, c->count, base);
    memmove(&c->base[at + 1], &c->base[at], (c->count - at) * sizeof *c->base);
    memmove(&c->of[at + 1], &c->of[at], (c->count - at) * sizeof(meta_allocation *));
    c->base[at] = base;
    c->of[at] = added;
    ++c->count;
    first[k] = c->base[0];
    return added;
}

/* Two neighbours that are hardly filled become one. */
static void join(size_t k)
{
    if (k + 1 >= chunk_count || chunks[k]->count + chunks[k + 1]->count > MOST / 2) return;
    move(chunks[k], chunks[k + 1], 0);
    remove_chunk(k + 1);
}

void meta_ranges_remove(meta_allocation *a)
{
    const size_t k = chunk_of(base_of(a));
    chunk *c = chunks[k];
    const size_t at = at_most(c->base, c->count, base_of(a)) - 1;
    --c->count;
    memmove(&c->base[at], &c->base[at + 1], (c->count - at) * sizeof *c->base);
    memmove(&c->of[at], &c->of[at + 1], (c->count - at) * sizeof(meta_allocation *));
    free_record(a);
    if (c->count == 0) {
        remove_chunk(k);
        return;
    }
    first[k] = c->base[0];
    join(k);
    if (k > 0) join(k - 1);
}

void meta_ranges_forget(void)
{
    while (chunk_count > 0) remove_chunk(chunk_count - 1);
    free(chunks);
    free(first);
    chunks = NULL;
    first = NULL;
    room = 0;
    while (slabs) {
        slab *s = slabs;
        slabs = s->next;
        free(s);
    }
    spare = NULL;
    for (int k = 0; k < FOUND; ++k) atomic_store_explicit(&found[k], NULL, memory_order_relaxed);
}
