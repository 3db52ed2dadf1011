/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pool.c
 *  Each device's pool: memory of freed buffers that is kept for new ones of about the same size,
 *  because a list lookup costs far less than asking the driver, or the system for pages.
 *
 *  meta_free() completes all work on a buffer first, so any queue may use a free block next. Blocks
 *  are never touched here, so pages stay on the NUMA nodes of their first touch: kernels divide
 *  arrays by position, and a thread gets the same pages of the next array of that size.
 *
 *  Size classes, eight to an octave, hold blocks of exactly their size up to SMALL bytes; larger
 *  blocks have the size requested, in whole pages, and serve requests for at most an eighth less.
 *  Beyond the pool's limit the least recently freed block is returned to the driver. */
#include "memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 64, SMALL = 1 << 20, PAGE = 4096, STEPS = 8 };

/* A block of device memory; while it is free, in the list of its class and in the list by age. */
struct meta_block {
    meta_memory memory;
    meta_block *next, *previous; /* in its class, most recently freed first */
    meta_block *older, *younger;
};

typedef struct meta_pool {
    pthread_mutex_t lock;
    meta_pool_desc now;
    meta_block *youngest, *oldest;
    meta_block *class[64 * STEPS];
} meta_pool;

static const uint64_t usual_limit = UINT64_C(1) << 30;
static uint64_t limit_at_start;
static bool disabled; /* memory checkers must see the exact end of each buffer */

/* Defined where the process was built with AddressSanitizer. */
extern void __asan_init(void) __attribute__((weak));

meta_err meta_pool_read(void)
{
    const char *value = meta_variable("META_POOL"), *preloaded = meta_variable("LD_PRELOAD");
    const bool valgrind = preloaded && strstr(preloaded, "vgpreload");
    char *end = NULL;
    limit_at_start = usual_limit;
    disabled = __asan_init || valgrind || meta_checked();
    if (!value) return META_OK;
    if (strcmp(value, "off") == 0) return disabled = true, META_OK;
    errno = 0;
    const unsigned long long bytes = strtoull(value, &end, 10);
    if (errno || *end || *value < '0' || *value > '9')
        return meta_fail(META_ERR_ENVIRONMENT, "META_POOL=%s: give off or a number of bytes",
                         value);
    limit_at_start = bytes;
    return META_OK;
}

meta_err meta_pool_open(meta_device *device)
{
    meta_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a device's pool");
    pthread_mutex_init(&pool->lock, NULL);
    pool->now = (meta_pool_desc)META_POOL_DESC_INIT;
    /* A freed buffer of META_AUTO gives its copies back to the pools of their devices. */
    const bool keeps = !disabled && device->backend->mode != META_AUTO;
    pool->now.limit = keeps ? limit_at_start : 0;
    device->pool = pool;
    return META_OK;
}

/* ------------------------------------------------------------------ lists; with the lock held */

/* The class of blocks of @p bytes: eight classes an octave. */
static int class_of(uint64_t bytes)
{
    const int octave = 63 - __builtin_clzll(bytes < LEAST ? LEAST : bytes);
    const uint64_t step = (bytes < LEAST ? LEAST : bytes) >> (octave - 3);
    return octave * STEPS + (int)(step - STEPS);
}

/* Rounded up to the size of a class, or to whole pages. */
static uint64_t rounded(uint64_t bytes)
{
    uint64_t step = PAGE;
    if (bytes <= LEAST) return LEAST;
    if (bytes <= SMALL) step = (UINT64_C(1) << (63 - __builtin_clzll(bytes))) / STEPS;
    return bytes > PTRDIFF_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

static void keep(meta_pool *pool, meta_block *block)
{
    meta_block **list = &pool->class[class_of(block->memory.bytes)];
    block->previous = NULL;
    block->next = *list;
    if (block->next) block->next->previous = block;
    *list = block;
    block->younger = NULL;
    block->older = pool->youngest;
    if (block->older) block->older->younger = block;
    else pool->oldest = block;
    pool->youngest = block;
    pool->now.kept += block->memory.bytes;
    ++pool->now.blocks;
}

static meta_block *take(meta_pool *pool, meta_block *block)
{
    if (block->previous) block->previous->next = block->next;
    else pool->class[class_of(block->memory.bytes)] = block->next;
    if (block->next) block->next->previous = block->previous;
    if (block->younger) block->younger->older = block->older;
    else pool->youngest = block->older;
    if (block->older) block->older->younger = block->younger;
    else pool->oldest = block->younger;
    pool->now.kept -= block->memory.bytes;
    --pool->now.blocks;
    return block;
}

/* A free block for @p asked bytes that wastes at most an eighth of them; NULL where there is none.
 */
static meta_block *fitting(const meta_pool *pool, uint64_t asked)
{
    const uint64_t bytes = rounded(asked);
    const uint64_t most = bytes <= SMALL ? bytes : bytes + bytes / STEPS;
    const int last = class_of(most);
    for (int k = class_of(bytes); k <= last; ++k)
        for (meta_block *b = pool->class[k]; b; b = b->next)
            if (b->memory.bytes >= bytes && b->memory.bytes <= most) return b;
    return NULL;
}

/* Remove a free block from the pool for good and prepend it to @p list. */
static meta_block *evict(meta_pool *pool, meta_block *block, meta_block *list)
{
    take(pool, block);
    pool->now.held -= block->memory.bytes;
    ++pool->now.returned;
    block->next = list;
    return block;
}

/* Evict the least recently freed blocks until at most @p most bytes are kept. */
static meta_block *shrink(meta_pool *pool, uint64_t most)
{
    meta_block *list = NULL;
    while (pool->now.kept > most) list = evict(pool, pool->oldest, list);
    return list;
}

/* ------------------------------------------------------------------ allocating and returning */

static void give_back(meta_device *device, meta_block *list)
{
    while (list) {
        meta_block *block = list;
        list = block->next;
        meta_registry_drop(&block->memory);
        device->backend->ops.free(device->plugin, &block->memory);
        free(block);
    }
}

/* @return whether there was any */
static bool trim(meta_device *device, uint64_t most)
{
    pthread_mutex_lock(&device->pool->lock);
    meta_block *list = shrink(device->pool, most);
    pthread_mutex_unlock(&device->pool->lock);
    const bool any = list != NULL;
    give_back(device, list);
    return any;
}

static meta_err release_kept(meta_device *device, void *context)
{
    bool *any = context;
    *any |= trim(device, 0);
    *any |= meta_staging_trim(device);
    return META_OK;
}

bool meta_kept_release(void)
{
    bool any = meta_buffer_hooks->reclaim(); /* into the pools */
    meta_devices_each(release_kept, &any);
    return any;
}

meta_err meta_device_memory(meta_device *device, uint64_t bytes, meta_memory *memory)
{
    const meta_ops *ops = &device->backend->ops;
    meta_err error = ops->alloc(device->plugin, bytes, memory);
    if (error == META_ERR_NO_MEMORY && meta_kept_release())
        error = ops->alloc(device->plugin, bytes, memory);
    return error;
}

meta_err meta_pool_get(meta_device *device, uint64_t bytes, meta_block **block)
{
    meta_pool *pool = device->pool;
    pthread_mutex_lock(&pool->lock);
    meta_block *found = pool->now.kept > 0 ? fitting(pool, bytes) : NULL;
    if (found) take(pool, found), ++pool->now.reused;
    const bool reusable = pool->now.limit > 0;
    pthread_mutex_unlock(&pool->lock);
    if (found) return *block = found, META_OK;
    if (!(found = malloc(sizeof *found)))
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for another buffer");
    /* Rounded up for reuse where the pool may keep it and the device has room. */
    const uint64_t more = reusable ? rounded(bytes) : bytes;
    if (more == bytes ||
        device->backend->ops.alloc(device->plugin, more, &found->memory) != META_OK) {
        const meta_err error = meta_device_memory(device, bytes, &found->memory);
        if (error != META_OK) return free(found), error;
    }
    pthread_mutex_lock(&pool->lock);
    ++pool->now.made;
    pool->now.held += found->memory.bytes;
    if (pool->now.held > pool->now.held_peak) pool->now.held_peak = pool->now.held;
    pthread_mutex_unlock(&pool->lock);
    *block = found;
    return META_OK;
}

const meta_memory *meta_block_memory(const meta_block *block)
{
    return &block->memory;
}

void meta_pool_put(meta_device *device, meta_block *block)
{
    meta_pool *pool = device->pool;
    meta_block *list = NULL;
    pthread_mutex_lock(&pool->lock);
    keep(pool, block);
    /* A block larger than the limit must not evict all others. */
    if (block->memory.bytes > pool->now.limit) list = evict(pool, block, NULL);
    else list = shrink(pool, pool->now.limit);
    pthread_mutex_unlock(&pool->lock);
    give_back(device, list);
}

void meta_pool_leave(meta_device *device, meta_block *block)
{
    pthread_mutex_lock(&device->pool->lock);
    device->pool->now.held -= block->memory.bytes;
    pthread_mutex_unlock(&device->pool->lock);
    meta_registry_drop(&block->memory);
    free(block);
}

void meta_pool_close(meta_device *device)
{
    if (!device->pool) return;
    /* A device that cannot be opened is closed with its lock held, and has no staging memory yet.
     */
    if (device->staging) meta_staging_trim(device);
    trim(device, 0);
    pthread_mutex_destroy(&device->pool->lock);
    free(device->pool);
    device->pool = NULL;
}

/* ------------------------------------------------------------------ public */

uint64_t meta_pool_held(const meta_device *device)
{
    pthread_mutex_lock(&device->pool->lock);
    const uint64_t bytes = device->pool->now.held;
    pthread_mutex_unlock(&device->pool->lock);
    return bytes;
}

meta_err meta_pool_info(int index, meta_mode mode, meta_pool_desc *desc)
{
    meta_device *device;
    META_ENTER();
    META_NEED_DESC(desc, returned, META_POOL_DESC_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(meta_device_open(device, NULL));
    meta_pool *pool = device->pool;
    pthread_mutex_lock(&pool->lock);
    meta_sized_put(desc, &pool->now, sizeof pool->now);
    pthread_mutex_unlock(&pool->lock);
    return META_OK;
}

meta_err meta_pool_trim(int index, meta_mode mode, size_t bytes)
{
    meta_device *device;
    META_ENTER();
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(meta_device_open(device, NULL));
    trim(device, bytes);
    return META_OK;
}

meta_err meta_pool_limit(int index, meta_mode mode, size_t bytes)
{
    meta_device *device;
    META_ENTER();
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(meta_device_open(device, NULL));
    pthread_mutex_lock(&device->pool->lock);
    device->pool->now.limit = disabled ? 0 : bytes;
    meta_block *list = shrink(device->pool, bytes);
    pthread_mutex_unlock(&device->pool->lock);
    give_back(device, list);
    return META_OK;
}
