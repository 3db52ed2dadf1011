/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pool.c
 *  Device memory that is kept when a buffer is freed, for the next one of about its size: asking a
 *  driver, or the system for pages, costs far more than a look into a list.
 *
 *  What is kept has no work queued on it, since meta_free() completes that first, so any queue may
 *  have it next. Pages stay on the NUMA nodes where they were first touched: the same thread's
 *  share of the next array, where that is as long, as kernels share arrays by position. Nothing is
 *  touched here.
 *
 *  Pieces of up to SMALL bytes are as long as their class, eight to an octave, so that any of a
 *  class serves; longer ones are as long as was asked for, up to whole pages, and serve what is at
 *  most an eighth shorter. Beyond the limit the piece that was kept longest goes back. */
#include "core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 64, SMALL = 1 << 20, PAGE = 4096, STEPS = 8 };

/* A piece of device memory, as long as it is the library's; in its class's list and in that of all
 * while it is kept. */
struct meta_block {
    meta_memory memory;
    meta_block *next, *previous; /* of its class, the one kept last first */
    meta_block *older, *younger;
};

static const uint64_t usual_limit = UINT64_C(1) << 30;
static uint64_t limit_at_start;
static bool without; /* checkers must see each buffer's own end */

/* ------------------------------------------------------------------ settings */

/* Set where the process was built with AddressSanitizer. */
extern void __asan_init(void) __attribute__((weak));

static bool watched(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return __asan_init || (preloaded && strstr(preloaded, "vgpreload"));
}

meta_err meta_pool_read(void)
{
    const char *value = meta_variable("META_POOL");
    char *end = NULL;
    limit_at_start = usual_limit;
    without = watched() || meta_checked();
    if (!value) return META_OK;
    if (strcmp(value, "off") == 0) return without = true, META_OK;
    errno = 0;
    const unsigned long long bytes = strtoull(value, &end, 10);
    if (errno || *end || *value < '0' || *value > '9')
        return meta_fail(META_ERR_ENVIRONMENT, "META_POOL=%s: give off or a number of bytes",
                         value);
    limit_at_start = bytes;
    return META_OK;
}

void meta_pool_open(meta_device *device)
{
    meta_pool *pool = &device->pool;
    memset(pool, 0, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pool->limit = without ? 0 : limit_at_start;
}

/* ------------------------------------------------------------------ lists; with the lock held */

/* The class whose pieces have at least so many bytes each. */
static int class_of(uint64_t bytes)
{
    const int octave = 63 - __builtin_clzll(bytes < LEAST ? LEAST : bytes);
    const uint64_t step = (bytes < LEAST ? LEAST : bytes) >> (octave - 3);
    return octave * STEPS + (int)(step - STEPS);
}

/* Up to the length of a class, or to whole pages. */
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
    pool->kept += block->memory.bytes;
    ++pool->blocks;
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
    pool->kept -= block->memory.bytes;
    --pool->blocks;
    return block;
}

/* A kept piece of at least @p bytes, and of little more. */
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

/* Out of it for good, into @p list. */
static meta_block *let_go(meta_pool *pool, meta_block *block, meta_block *list)
{
    take(pool, block);
    pool->held -= block->memory.bytes;
    ++pool->returned;
    block->next = list;
    return block;
}

/* What was kept longest, until at most @p most bytes are kept. */
static meta_block *excess(meta_pool *pool, uint64_t most)
{
    meta_block *list = NULL;
    while (pool->kept > most) list = let_go(pool, pool->oldest, list);
    return list;
}

/* ------------------------------------------------------------------ from and to the driver */

static void give_back(meta_device *device, meta_block *list)
{
    while (list) {
        meta_block *block = list;
        list = block->next;
        device->backend->ops.free(device->plugin, &block->memory);
        free(block);
    }
}

/* @return whether there was any */
static bool trim(meta_device *device, uint64_t most)
{
    pthread_mutex_lock(&device->pool.lock);
    meta_block *list = excess(&device->pool, most);
    pthread_mutex_unlock(&device->pool.lock);
    const bool any = list != NULL;
    give_back(device, list);
    return any;
}

/* By this thread, just now. */
static _Thread_local bool some_went;

static meta_err release_all(meta_device *device)
{
    const bool pooled = trim(device, 0), staged = meta_staging_trim(device);
    if (pooled || staged) some_went = true;
    return META_OK;
}

bool meta_kept_release(void)
{
    some_went = meta_quarantine_some();
    meta_devices_each(release_all);
    return some_went;
}

meta_err meta_device_memory(meta_device *device, uint64_t bytes, meta_memory *memory)
{
    const meta_ops *ops = &device->backend->ops;
    meta_err error = ops->alloc(device->plugin, bytes, memory);
    if (error == META_ERR_NO_MEMORY && meta_kept_release())
        error = ops->alloc(device->plugin, bytes, memory);
    return error;
}

/* Rounded up where it may be @p kept, or where there is not that much, exactly. */
static meta_err make(meta_device *device, uint64_t bytes, bool kept, meta_memory *memory)
{
    const meta_ops *ops = &device->backend->ops;
    const uint64_t more = kept ? rounded(bytes) : bytes;
    if (more > bytes && ops->alloc(device->plugin, more, memory) == META_OK) return META_OK;
    return meta_device_memory(device, bytes, memory);
}

/* ------------------------------------------------------------------ for the core */

meta_err meta_pool_get(meta_device *device, uint64_t bytes, meta_block **block)
{
    meta_pool *pool = &device->pool;
    meta_block *found;
    pthread_mutex_lock(&pool->lock);
    found = pool->kept > 0 ? fitting(pool, bytes) : NULL;
    if (found) take(pool, found), ++pool->reused;
    const bool kept = pool->limit > 0;
    pthread_mutex_unlock(&pool->lock);
    if (found) return *block = found, META_OK;
    if (!(found = malloc(sizeof *found)))
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for another buffer");
    const meta_err error = make(device, bytes, kept, &found->memory);
    if (error != META_OK) return free(found), error;
    pthread_mutex_lock(&pool->lock);
    ++pool->made;
    pool->held += found->memory.bytes;
    if (pool->held > pool->held_peak) pool->held_peak = pool->held;
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
    meta_pool *pool = &device->pool;
    meta_block *list = NULL;
    pthread_mutex_lock(&pool->lock);
    keep(pool, block);
    /* What is longer than all that may be kept must not drive the rest out. */
    if (block->memory.bytes > pool->limit) list = let_go(pool, block, NULL);
    else list = excess(pool, pool->limit);
    pthread_mutex_unlock(&pool->lock);
    give_back(device, list);
}

void meta_pool_leave(meta_device *device, meta_block *block)
{
    pthread_mutex_lock(&device->pool.lock);
    device->pool.held -= block->memory.bytes;
    pthread_mutex_unlock(&device->pool.lock);
    free(block);
}

void meta_pool_close(meta_device *device)
{
    trim(device, 0);
    pthread_mutex_destroy(&device->pool.lock);
}

/* ------------------------------------------------------------------ public */

meta_err meta_pool_info(int index, meta_mode mode, meta_pool_desc *desc)
{
    meta_device *device;
    META_ENTER();
    META_NEED_DESC(desc, META_POOL_DESC_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(meta_device_open(device, NULL));
    meta_pool *pool = &device->pool;
    pthread_mutex_lock(&pool->lock);
    desc->limit = pool->limit;
    desc->kept = pool->kept;
    desc->blocks = pool->blocks;
    desc->held = pool->held;
    desc->held_peak = pool->held_peak;
    desc->reused = pool->reused;
    desc->made = pool->made;
    desc->returned = pool->returned;
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
    pthread_mutex_lock(&device->pool.lock);
    device->pool.limit = without ? 0 : bytes;
    meta_block *list = excess(&device->pool, bytes);
    pthread_mutex_unlock(&device->pool.lock);
    give_back(device, list);
    return META_OK;
}
