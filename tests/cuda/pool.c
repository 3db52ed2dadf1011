/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pool.c
 *  Memory pools. Freed memory stays the pool's, as blocks that serve allocations of at most their
 *  size: of the stream that freed it at once, of others and for release when the host has seen that
 *  the stream has freed it. Its addresses are new ones each time. */
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "call.h"
#include "device.h"
#include "memory.h"
#include "object.h"
#include "settings.h"
#include "stream.h"

/* Memory of the pool: in use, or kept for the next allocation. */
typedef struct pool_block pool_block;
struct pool_block {
    pool_block *next;
    const void *address; /* NULL: it is not in use */
    size_t bytes;
    stream_place freed;
};

struct CUmemPoolHandle_st {
    cudaMemPool_t next;
    int device;
    bool has_ended; /* its handle is gone */
    unsigned access;
    uint64_t threshold, reserved;
    pool_block *blocks;
};

typedef struct pool_work {
    stream_work work;
    const void *address;
} pool_work;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all in this file */
static cudaMemPool_t pools;

/* ------------------------------------------------------------------ blocks; with the lock held */

/* Release kept blocks that can be, but leave the pool @p least bytes. */
static void shrink(cudaMemPool_t pool, uint64_t least)
{
    for (pool_block **at = &pool->blocks; *at;) {
        pool_block *block = *at;
        if (block->address || pool->reserved < least || pool->reserved - least < block->bytes ||
            !stream_was_seen(block->freed)) {
            at = &block->next;
            continue;
        }
        *at = block->next;
        pool->reserved -= block->bytes;
        memory_return(pool->device, block->bytes);
        stream_place_release(block->freed);
        free(block);
    }
}

/* The smallest kept block of @p bytes bytes or more that @p stream may use now. */
static pool_block *kept_block(cudaMemPool_t pool, cudaStream_t stream, size_t bytes)
{
    pool_block *best = NULL;
    for (pool_block *block = pool->blocks; block; block = block->next)
        if (!block->address && block->bytes >= bytes && (!best || block->bytes < best->bytes) &&
            (block->freed.stream == stream || stream_was_seen(block->freed)))
            best = block;
    if (best) stream_place_release(best->freed);
    return best;
}

static pool_block *new_block(cudaMemPool_t pool, size_t bytes)
{
    if (!memory_reserve(pool->device, bytes)) return NULL;
    pool_block *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->bytes = bytes;
    made->next = pool->blocks;
    pool->blocks = made;
    pool->reserved += bytes;
    return made;
}

static pool_block *block_of(cudaMemPool_t pool, const void *address)
{
    for (pool_block *block = pool->blocks; block; block = block->next)
        if (block->address == address) return block;
    return NULL;
}

/* A pool whose handle is gone goes with the last of its memory. */
static void end_if_unused(cudaMemPool_t pool)
{
    if (!pool->has_ended) return;
    shrink(pool, 0);
    if (pool->blocks) return;
    cudaMemPool_t *at = &pools;
    while (*at != pool) at = &(*at)->next;
    *at = pool->next;
    free(pool);
}

void pool_synchronised(int device)
{
    pthread_mutex_lock(&lock);
    for (cudaMemPool_t pool = pools, next; pool; pool = next) {
        next = pool->next;
        if (pool->device != device) continue;
        shrink(pool, pool->threshold);
        end_if_unused(pool);
    }
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ pools */

static cudaError_t check(const char *call, cudaMemPool_t pool)
{
    if (object_is(GPU_FAULT_POOL, pool)) return cudaSuccess;
    call_misuse(call, "there is no such pool");
    return cudaErrorInvalidValue;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *wanted)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device_current()));
    if (wanted->allocType != cudaMemAllocationTypePinned ||
        wanted->location.type != cudaMemLocationTypeDevice || wanted->handleTypes ||
        wanted->maxSize)
        call_lacks(call.name, "pools other than of a device's memory, for this process");
    if (!settings.pools) return call_end(cudaErrorNotSupported);
    if (wanted->location.id < 0 || wanted->location.id >= gpu_fault_control.devices) {
        call_misuse(call.name, "there is no device %d", wanted->location.id);
        return call_end(cudaErrorInvalidValue);
    }
    cudaMemPool_t made = calloc(1, sizeof *made);
    if (!made) abort();
    made->device = wanted->location.id;
    made->access = 1U << made->device;
    pthread_mutex_lock(&lock);
    made->next = pools;
    pools = made;
    pthread_mutex_unlock(&lock);
    object_add(GPU_FAULT_POOL, made);
    *pool = made;
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(check(call.name, pool));
    object_remove(GPU_FAULT_POOL, pool);
    pthread_mutex_lock(&lock);
    pool->has_ended = true;
    pool->threshold = 0;
    end_if_unused(pool);
    pthread_mutex_unlock(&lock);
    CALL_TRY(call.injected);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check(call.name, pool));
    if (attribute != cudaMemPoolAttrReleaseThreshold)
        call_lacks(call.name, "setting attribute %d", (int)attribute);
    pthread_mutex_lock(&lock);
    pool->threshold = *(const uint64_t *)value;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check(call.name, pool));
    if (attribute != cudaMemPoolAttrReservedMemCurrent)
        call_lacks(call.name, "attribute %d", (int)attribute);
    pthread_mutex_lock(&lock);
    *(uint64_t *)value = pool->reserved;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t least)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check(call.name, pool));
    pthread_mutex_lock(&lock);
    shrink(pool, least);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

static cudaError_t check_access(const char *call, cudaMemPool_t pool,
                                const struct cudaMemAccessDesc *access)
{
    const int device = access->location.id;
    if (access->location.type != cudaMemLocationTypeDevice ||
        access->flags != cudaMemAccessFlagsProtReadWrite)
        call_lacks(call, "access other than to read and write, for a device");
    if (device < 0 || device >= gpu_fault_control.devices) {
        call_misuse(call, "there is no device %d", device);
        return cudaErrorInvalidDevice;
    }
    if (device == pool->device || device_reaches(device, pool->device)) return cudaSuccess;
    call_misuse(call, "device %d cannot be granted access to memory of device %d", device,
                pool->device);
    return cudaErrorInvalidDevice;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
                                 size_t count)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check(call.name, pool));
    for (size_t k = 0; k < count; ++k) CALL_TRY(check_access(call.name, pool, &access[k]));
    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < count; ++k) pool->access |= 1U << access[k].location.id;
    memory_share(pool, pool->access);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* ------------------------------------------------------------------ stream-ordered memory */

static stream_place queue_work(cudaStream_t stream, const void *address,
                               void (*run)(stream_work *work, int device))
{
    pool_work *work = calloc(1, sizeof *work);
    if (!work) abort();
    work->work.run = run;
    work->address = address;
    return stream_push(stream, &work->work);
}

static void run_allocation(stream_work *work, int device)
{
    (void)device;
    memory_arrived(((const pool_work *)work)->address);
    free(work);
}

static void run_release(stream_work *work, int device)
{
    (void)device;
    if (!memory_drop(((const pool_work *)work)->address))
        call_misuse("cudaFreeAsync", "something was written behind the end of the memory");
    free(work);
}

/* With the lock held. NULL: there is no memory left. */
static void *take(cudaMemPool_t pool, size_t bytes, cudaStream_t stream)
{
    pool_block *block = kept_block(pool, stream, bytes);
    if (!block) block = new_block(pool, bytes);
    if (!block) return NULL;
    void *address = memory_take(MEMORY_DEVICE, pool->device, bytes, pool, pool->access);
    if (!address) call_lacks("cudaMallocFromPoolAsync", "addresses for %zu bytes", bytes);
    block->address = address;
    return address;
}

cudaError_t cudaMallocFromPoolAsync(void **memory, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(stream_check(call.name, stream));
    CALL_TRY(check(call.name, pool));
    CALL_TRY(device_status(stream_device(stream)));
    if (bytes == 0) call_lacks(call.name, "memory of no bytes");
    if (pool->device != stream_device(stream))
        call_lacks(call.name, "memory of a pool in the stream of another device");
    pthread_mutex_lock(&lock);
    void *address = take(pool, bytes, stream);
    pthread_mutex_unlock(&lock);
    if (!address) return call_end(cudaErrorMemoryAllocation);
    stream_place_release(queue_work(stream, address, run_allocation));
    object_count(GPU_FAULT_MEMORY, 1);
    *memory = address;
    return cudaSuccess;
}

/* The memory that begins at @p address, of a pool and not yet released. */
static bool find_in_use(const void *address, memory_block *found)
{
    return memory_find(address, 1, found) && found->range.begin == (uint64_t)address &&
           found->pool && !found->released;
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
    const fake_call call = call_begin(__func__);
    memory_block found;
    CALL_TRY(stream_check(call.name, stream));
    if (!find_in_use(memory, &found)) {
        call_misuse(call.name, "no memory of a pool begins there");
        return call_end(cudaErrorInvalidValue);
    }
    pthread_mutex_lock(&lock);
    pool_block *block = block_of((cudaMemPool_t)(uintptr_t)found.pool, memory);
    memory_release(memory, stream_next_ticket());
    block->freed = queue_work(stream, memory, run_release);
    block->address = NULL;
    pthread_mutex_unlock(&lock);
    object_count(GPU_FAULT_MEMORY, -1);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(stream_device(stream)));
    return cudaSuccess;
}
