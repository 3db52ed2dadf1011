/* SPDX-License-Identifier: BSD-3-Clause */
/** @file staging.c
 *  Host memory for copies: allocated by the back end, which may pin it, and for messages in flight
 * a pool of blocks, so that a time loop allocates nothing. */
#include "memory/memory.h"

#include <stdlib.h>

/* Bytes of free blocks that a device keeps at most. */
#define MOST_KEPT ((uint64_t)256 << 20)
enum { SMALLEST = 4096, ALIGNMENT = 4096 };

/* A block: this header in a page of its own, then its memory. */
typedef struct meta_staging {
    size_t bytes; /* without the header's page */
    struct meta_staging *next;
} block;

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

meta_err meta_staging_get(meta_device *device, size_t bytes, void **host)
{
    size_t size = SMALLEST;
    block *found = NULL;
    while (size < bytes && size <= SIZE_MAX / 4) size *= 2;
    if (size < bytes) size = bytes;
    pthread_mutex_lock(&device->lock);
    for (block **at = &device->staging; *at; at = &(*at)->next) {
        if ((*at)->bytes != size) continue;
        found = *at;
        *at = found->next;
        device->staging_kept -= size;
        break;
    }
    pthread_mutex_unlock(&device->lock);
    if (!found) {
        void *memory;
        if (size > PTRDIFF_MAX - 2 * ALIGNMENT)
            return meta_fail(META_ERR_OVERFLOW, "a message of %zu bytes does not fit the host",
                             bytes);
        META_TRY(meta_host_memory(device, size + ALIGNMENT, &memory));
        found = memory;
        found->bytes = size;
    }
    *host = (char *)found + ALIGNMENT;
    return META_OK;
}

void meta_staging_put(meta_device *device, void *host)
{
    if (!host) return;
    block *b = (block *)(void *)((char *)host - ALIGNMENT);
    pthread_mutex_lock(&device->lock);
    const bool keep = device->staging_kept + b->bytes <= MOST_KEPT;
    if (keep) {
        device->staging_kept += b->bytes;
        b->next = device->staging;
        device->staging = b;
    }
    pthread_mutex_unlock(&device->lock);
    if (!keep) meta_host_memory_free(device, b, b->bytes + ALIGNMENT);
}

bool meta_staging_trim(meta_device *device)
{
    pthread_mutex_lock(&device->lock);
    block *list = device->staging;
    device->staging = NULL;
    device->staging_kept = 0;
    pthread_mutex_unlock(&device->lock);
    const bool any = list != NULL;
    while (list) {
        block *b = list;
        list = b->next;
        meta_host_memory_free(device, b, b->bytes + ALIGNMENT);
    }
    return any;
}
