/* SPDX-License-Identifier: BSD-3-Clause */
/** @file staging.c
 *  Host memory for copies: allocated as the device likes it best, and a pool of blocks for messages
 *  on their way, so that a time loop allocates nothing. */
#include "core.h"

#include <stdlib.h>

/* Kept blocks of a device beyond this are given back at once. */
#define MOST_KEPT ((uint64_t)256 << 20)
enum { SMALLEST = 4096, ALIGNMENT = 4096 };

/* A block: this header in a page of its own, then the memory that is handed out. */
typedef struct meta_staging {
    size_t bytes; /* handed out */
    struct meta_staging *next;
} meta_staging;

static meta_err host_memory(meta_device *device, size_t bytes, void **host)
{
    if (bytes > PTRDIFF_MAX - ALIGNMENT)
        return meta_fail(META_ERR_OVERFLOW, "%zu bytes are more than the host can have", bytes);
    if (device->backend->ops.host_alloc)
        return device->backend->ops.host_alloc(device->plugin, bytes, host);
    *host = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!*host) return meta_fail(META_ERR_NO_MEMORY, "the host has no %zu bytes", bytes);
    return META_OK;
}

meta_err meta_host_memory(meta_device *device, size_t bytes, void **host)
{
    meta_err error = host_memory(device, bytes, host);
    if (error == META_ERR_NO_MEMORY && meta_kept_release())
        error = host_memory(device, bytes, host);
    return error;
}

void meta_host_memory_free(meta_device *device, void *host, size_t bytes)
{
    if (device->backend->ops.host_alloc)
        device->backend->ops.host_free(device->plugin, host, bytes);
    else free(host);
}

static size_t rounded(size_t bytes)
{
    size_t size = SMALLEST;
    while (size < bytes && size <= SIZE_MAX / 4) size *= 2;
    return size < bytes ? bytes : size;
}

meta_err meta_staging_get(meta_device *device, size_t bytes, void **host)
{
    const size_t size = rounded(bytes);
    meta_staging *block = NULL;
    void *memory;
    pthread_mutex_lock(&device->lock);
    for (meta_staging **at = &device->staging; *at; at = &(*at)->next)
        if ((*at)->bytes == size) {
            block = *at;
            *at = block->next;
            device->staging_kept -= size;
            break;
        }
    pthread_mutex_unlock(&device->lock);
    if (!block) {
        if (size > PTRDIFF_MAX - 2 * ALIGNMENT)
            return meta_fail(META_ERR_OVERFLOW, "a message of %zu bytes does not fit the host",
                             bytes);
        META_TRY(meta_host_memory(device, size + ALIGNMENT, &memory));
        block = memory;
        block->bytes = size;
    }
    *host = (char *)block + ALIGNMENT;
    return META_OK;
}

void meta_staging_put(meta_device *device, void *host)
{
    meta_staging *block;
    if (!host) return;
    block = (meta_staging *)(void *)((char *)host - ALIGNMENT);
    pthread_mutex_lock(&device->lock);
    if (device->staging_kept + block->bytes <= MOST_KEPT) {
        device->staging_kept += block->bytes;
        block->next = device->staging;
        device->staging = block;
        block = NULL;
    }
    pthread_mutex_unlock(&device->lock);
    if (block) meta_host_memory_free(device, block, block->bytes + ALIGNMENT);
}

bool meta_staging_trim(meta_device *device)
{
    pthread_mutex_lock(&device->lock);
    meta_staging *list = device->staging;
    device->staging = NULL;
    device->staging_kept = 0;
    pthread_mutex_unlock(&device->lock);
    const bool any = list != NULL;
    while (list) {
        meta_staging *block = list;
        list = block->next;
        meta_host_memory_free(device, block, block->bytes + ALIGNMENT);
    }
    return any;
}
