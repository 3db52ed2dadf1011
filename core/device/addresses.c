/* SPDX-License-Identifier: BSD-3-Clause */
/** @file addresses.c
 *  Addresses for buffers whose memory has none, as cl_mem objects: reserved, so that nothing else
 * gets them, and a host access faults. They are cut from large reservations, because the system
 * allows a process some ten thousand (vm.max_map_count), and given out again by their size: eight
 * sizes to an octave. With the last one given back, so are the reservations. */
#include "device/device.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LEAST = 256, STEPS = 8, CLASSES = 64 * STEPS };
static const size_t arena_bytes = (size_t)1 << 28;
static const size_t largest = (size_t)1 << 25; /* of what is cut; more has a reservation alone */

/* Addresses of one size that were given back. */
typedef struct stack {
    void **address;
    size_t count, room;
} stack;

typedef struct arena {
    struct arena *next;
    char *at;
    size_t used;
} arena;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static arena *arenas; /* the first one is cut */
static stack given_back[CLASSES];
static size_t live;
/* No reservation has a byte before the one or from the other on. */
static _Atomic uintptr_t extent_from = UINTPTR_MAX, extent_to;

/* @p bytes and a gap behind them, rounded up to the size of a class: the address one past a buffer's end is of
 * no buffer. */
static size_t with_gap(size_t bytes)
{
    bytes += LEAST;
    const size_t octave = (size_t)1 << (63 - __builtin_clzll(bytes));
    const size_t step = octave / STEPS > LEAST ? octave / STEPS : LEAST;
    return (bytes + step - 1) / step * step;
}

static stack *class_of(size_t size)
{
    const int octave = 63 - __builtin_clzll(size);
    return &given_back[octave * STEPS + (int)((size >> (octave - 3)) - STEPS)];
}

static void *reserve(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* With the lock held. */
static void *cut(size_t size)
{
    if (!arenas || arenas->used + size > arena_bytes) {
        arena *more = malloc(sizeof *more);
        void *at = more ? reserve(arena_bytes) : NULL;
        if (!at) return free(more), NULL;
        *more = (arena){arenas, at, 0};
        arenas = more;
        if ((uintptr_t)at < extent_from) extent_from = (uintptr_t)at;
        if ((uintptr_t)at + arena_bytes > extent_to) extent_to = (uintptr_t)at + arena_bytes;
    }
    arenas->used += size;
    return arenas->at + arenas->used - size;
}

static void give_all_back(void)
{
    extent_from = UINTPTR_MAX;
    extent_to = 0;
    while (arenas) {
        arena *a = arenas;
        arenas = a->next;
        munmap(a->at, arena_bytes);
        free(a);
    }
    for (int k = 0; k < CLASSES; ++k) {
        free(given_back[k].address);
        given_back[k] = (stack){0};
    }
}

meta_err meta_addresses_take(size_t bytes, void **address)
{
    const size_t size = bytes < SIZE_MAX / 2 ? with_gap(bytes) : SIZE_MAX;
    if (size > largest) {
        *address = reserve(size);
    } else {
        pthread_mutex_lock(&lock);
        stack *s = class_of(size);
        *address = s->count > 0 ? s->address[--s->count] : cut(size);
        if (*address) ++live;
        pthread_mutex_unlock(&lock);
    }
    if (*address) return META_OK;
    return meta_fail(META_ERR_NO_MEMORY, "the process has no room for %zu more bytes of addresses",
                     bytes);
}

/* Without memory to remember it, nobody gets the address again. */
static void remember(stack *s, void *address)
{
    if (s->count == s->room) {
        const size_t more = s->room ? 2 * s->room : 16;
        void **larger = realloc(s->address, more * sizeof *larger);
        if (!larger) return;
        s->address = larger;
        s->room = more;
    }
    s->address[s->count++] = address;
}

void meta_addresses_give(void *address, size_t bytes)
{
    const size_t size = with_gap(bytes);
    if (size > largest) {
        munmap(address, size);
        return;
    }
    pthread_mutex_lock(&lock);
    remember(class_of(size), address);
    if (--live == 0) give_all_back();
    pthread_mutex_unlock(&lock);
}

bool meta_addresses_reserved(const void *address, uint64_t bytes)
{
    const uintptr_t from = (uintptr_t)address;
    bool found = false;
    if (from >= extent_to || (from < extent_from && bytes <= extent_from - from)) return false;
    pthread_mutex_lock(&lock);
    for (const arena *a = arenas; a && !found; a = a->next)
        found = from < (uintptr_t)a->at ? bytes > (uintptr_t)a->at - from
                                        : from - (uintptr_t)a->at < arena_bytes;
    pthread_mutex_unlock(&lock);
    return found;
}
