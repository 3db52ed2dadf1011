/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Addresses are handed out in rising order, so that those of freed memory stay invalid for a
 *  while, and from the beginning again after so many bytes that a process that allocates and frees
 *  stays small. Nothing is unmapped: what still uses freed memory finds a pattern there, or zeros
 *  beyond its first MiB, and no crash hides who it was. */
#include "memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "settings.h"

enum { ALIGNMENT = 512, PAGE = 4096, GAP = 256 };
enum { FRESH = 0xa5, FREED = 0xdd, BEHIND = 0x5e };
/* Bytes of addresses that are handed out before they begin again. */
static const size_t round_bytes = (size_t)32 << 20;
/* Larger memory is not filled to its end: each page of it would need memory of the machine. */
static const size_t most_filled = (size_t)64 << 20;

/* An address space: for device memory without access rights, and its bytes are elsewhere. */
typedef struct space {
    char *address, *bytes;
    size_t size, cursor;
    size_t handed_out; /* since they began again */
} space;
static space device_space = {.size = (size_t)1 << 38}, host_space = {.size = (size_t)1 << 37};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* of all in this file */
static memory_block *blocks;                               /* by address */
static size_t count, room;
static size_t in_use[FAKE_DEVICES];

/* ------------------------------------------------------------------ address spaces */

static char *map(size_t size, int rights)
{
    void *found = mmap(NULL, size, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED) {
        perror("fake CUDA: no addresses for its memory");
        abort();
    }
    madvise(found, size, MADV_DONTDUMP);
    return found;
}

static void open_spaces(void)
{
    host_space.address = host_space.bytes = map(host_space.size, PROT_READ | PROT_WRITE);
    device_space.bytes = map(device_space.size, PROT_READ | PROT_WRITE);
    device_space.address = settings.open ? device_space.bytes : map(device_space.size, PROT_NONE);
}

static size_t rounded(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ------------------------------------------------------------------ blocks; with the lock held */

/* The number of the first block that begins behind @p address. */
static size_t first_behind(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (blocks[middle].range.begin <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static memory_block *block_around(uint64_t address, size_t bytes)
{
    const size_t behind = first_behind(address);
    memory_block *found = behind > 0 ? &blocks[behind - 1] : NULL;
    if (!found || address > found->range.end || bytes > found->range.end - address) return NULL;
    return found;
}

static memory_block *block_at(const void *address)
{
    memory_block *found = block_around((uint64_t)address, 0);
    return found && found->range.begin == (uint64_t)address ? found : NULL;
}

static void insert(const memory_block *block)
{
    if (count == room) {
        room = room ? 2 * room : 256;
        blocks = realloc(blocks, room * sizeof *blocks);
        if (!blocks) abort();
    }
    const size_t at = first_behind(block->range.begin);
    memmove(&blocks[at + 1], &blocks[at], (count - at) * sizeof *blocks);
    blocks[at] = *block;
    ++count;
}

/* A free range of @p bytes bytes, its offset in @p s: the first from the cursor on, which is set
 * behind it. */
static bool find_free(space *s, size_t bytes, size_t alignment, size_t *offset)
{
    const uint64_t base = (uint64_t)s->address;
    if (s->handed_out > round_bytes) s->cursor = s->handed_out = 0;
    s->handed_out += bytes;
    size_t at = rounded(s->cursor, alignment);
    for (int pass = 0; pass < 2; ++pass, at = 0) {
        size_t k = first_behind(base + at);
        if (k > 0 && blocks[k - 1].range.end + GAP > base + at) --k;
        for (; at + bytes <= s->size; ++k) {
            if (k == count || blocks[k].range.begin >= base + at + bytes) {
                s->cursor = at + bytes;
                *offset = at;
                return true;
            }
            at = rounded(blocks[k].range.end + GAP - base, alignment);
        }
    }
    return false;
}

/* ------------------------------------------------------------------ allocating and freeing */

static void fill(const memory_block *block, int pattern)
{
    const size_t bytes = block->range.end - block->range.begin;
    memset(block->range.bytes, pattern, bytes < most_filled ? bytes : most_filled);
}

void *memory_take(memory_kind kind, int device, size_t bytes, const void *pool, unsigned access)
{
    space *s = kind == MEMORY_HOST ? &host_space : &device_space;
    memory_block made = {.kind = kind, .device = device, .access = access, .pool = pool};
    size_t offset;
    pthread_rwlock_wrlock(&lock);
    if (!s->address) open_spaces();
    const bool found = bytes <= s->size &&
                       find_free(s, bytes + GAP, kind == MEMORY_HOST ? PAGE : ALIGNMENT, &offset);
    if (found) {
        made.range.begin = (uint64_t)s->address + offset;
        made.range.end = made.range.begin + bytes;
        made.range.bytes = s->bytes + offset;
        made.waiting = pool != NULL;
        insert(&made);
        fill(&made, FRESH);
        memset(made.range.bytes + bytes, BEHIND, GAP);
    }
    pthread_rwlock_unlock(&lock);
    return found ? (void *)made.range.begin : NULL;
}

static bool is_intact_behind(const memory_block *block)
{
    const char *behind = block->range.bytes + (block->range.end - block->range.begin);
    for (int k = 0; k < GAP; ++k)
        if (behind[k] != BEHIND) return false;
    return true;
}

/* Return whole pages of large memory to the machine: they are zero then. */
static void unfill(const memory_block *block)
{
    const size_t bytes = block->range.end - block->range.begin, few = (size_t)1 << 20;
    fill(block, FREED);
    if (bytes <= few) return;
    char *from = (char *)rounded((uintptr_t)block->range.bytes + few, PAGE);
    if (from >= block->range.bytes + bytes) return;
    const size_t whole = (size_t)(block->range.bytes + bytes - from) / PAGE * PAGE;
    if (whole) madvise(from, whole, MADV_DONTNEED);
}

bool memory_drop(const void *address)
{
    bool is_intact = true;
    pthread_rwlock_wrlock(&lock);
    memory_block *block = block_at(address);
    if (block) {
        is_intact = is_intact_behind(block);
        unfill(block);
        const size_t at = (size_t)(block - blocks);
        memmove(block, block + 1, (count - at - 1) * sizeof *blocks);
        --count;
    }
    pthread_rwlock_unlock(&lock);
    return is_intact;
}

/* ------------------------------------------------------------------ who may access it when */

bool memory_find(const void *address, size_t bytes, memory_block *found)
{
    pthread_rwlock_rdlock(&lock);
    const memory_block *block = block_around((uint64_t)address, bytes);
    if (block) *found = *block;
    pthread_rwlock_unlock(&lock);
    return block != NULL;
}

bool memory_is_device_address(const void *address)
{
    pthread_rwlock_rdlock(&lock);
    const uint64_t base = (uint64_t)device_space.address;
    pthread_rwlock_unlock(&lock);
    return base && (uint64_t)address >= base && (uint64_t)address < base + device_space.size;
}

void memory_arrived(const void *address)
{
    pthread_rwlock_wrlock(&lock);
    memory_block *block = block_at(address);
    if (block) block->waiting = false;
    pthread_rwlock_unlock(&lock);
}

void memory_release(const void *address, uint64_t ticket)
{
    pthread_rwlock_wrlock(&lock);
    memory_block *block = block_at(address);
    if (block) block->released = ticket;
    pthread_rwlock_unlock(&lock);
}

void memory_share(const void *pool, unsigned devices)
{
    pthread_rwlock_wrlock(&lock);
    for (size_t k = 0; k < count; ++k)
        if (blocks[k].pool == pool) blocks[k].access |= devices;
    pthread_rwlock_unlock(&lock);
}

bool memory_reserve(int device, size_t bytes)
{
    pthread_rwlock_wrlock(&lock);
    const bool fits = bytes <= (size_t)settings.memory - in_use[device];
    if (fits) in_use[device] += bytes;
    pthread_rwlock_unlock(&lock);
    return fits;
}

void memory_return(int device, size_t bytes)
{
    pthread_rwlock_wrlock(&lock);
    in_use[device] -= bytes;
    pthread_rwlock_unlock(&lock);
}

size_t memory_reserved(int device)
{
    pthread_rwlock_rdlock(&lock);
    const size_t bytes = in_use[device];
    pthread_rwlock_unlock(&lock);
    return bytes;
}

bool memory_usable(int device, uint64_t ticket, const void *address, size_t bytes, ptx_range *found)
{
    memory_block block;
    if (!memory_find(address, bytes, &block) || block.waiting) return false;
    if (device >= 0 && !(block.access & 1U << device)) return false;
    if (block.released && ticket > block.released) return false;
    *found = block.range;
    return true;
}

/* ------------------------------------------------------------------ a kernel's view */

static int find_for_kernel(const ptx_memory *memory, uint64_t address, size_t bytes,
                           ptx_range *found)
{
    const memory_view *view = (const memory_view *)memory;
    return memory_usable(view->device, view->ticket, (const void *)address, bytes, found);
}

static int allocate_for_module(const ptx_memory *memory, size_t bytes, ptx_range *made)
{
    const int device = ((const memory_view *)memory)->device;
    void *address = memory_take(MEMORY_MODULE, device, bytes, NULL, 1U << device);
    memory_block block;
    if (!address || !memory_find(address, bytes, &block)) return 0;
    *made = block.range;
    return 1;
}

static void release_of_module(const ptx_memory *memory, const ptx_range *made)
{
    (void)memory;
    (void)memory_drop((const void *)made->begin);
}

memory_view memory_view_of(int device, uint64_t ticket)
{
    return (memory_view){{find_for_kernel, allocate_for_module, release_of_module}, device, ticket};
}
