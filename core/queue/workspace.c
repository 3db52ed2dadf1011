/* SPDX-License-Identifier: BSD-3-Clause */
/** @file workspace.c
 *  Device memory for what a launch needs between its steps. A block belongs to the launch from
 *  meta_workspace_take() until the last step is queued; whatever is queued behind that on the same
 * queue may have it next. Another queue may not: it gets a block of its own. */
#include "queue/queue.h"

#include <stdlib.h>

struct meta_workspace {
    meta_memory memory;
    meta_queue_kind queue; /* the only one that ever uses it */
    bool taken;
    meta_workspace *next;
};

meta_err meta_workspace_take(meta_device *device, meta_queue_kind queue, uint64_t bytes,
                             meta_workspace **block, meta_span *span)
{
    meta_workspace *b;
    pthread_mutex_lock(&device->lock);
    for (b = device->workspaces; b; b = b->next)
        if (!b->taken && b->queue == queue && b->memory.bytes >= bytes) break;
    if (b) b->taken = true;
    pthread_mutex_unlock(&device->lock);
    if (!b) {
        b = calloc(1, sizeof *b);
        if (!b) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a launch");
        const meta_err error = meta_device_memory(device, bytes, &b->memory);
        if (error != META_OK) return free(b), error;
        b->queue = queue;
        b->taken = true;
        pthread_mutex_lock(&device->lock);
        b->next = device->workspaces;
        device->workspaces = b;
        pthread_mutex_unlock(&device->lock);
    }
    *block = b;
    *span = (meta_span){.device = device, .object = b->memory.object, .room = b->memory.bytes};
    return META_OK;
}

void meta_workspace_give(meta_device *device, meta_workspace *block)
{
    pthread_mutex_lock(&device->lock);
    block->taken = false;
    pthread_mutex_unlock(&device->lock);
}

void meta_workspace_close(meta_device *device)
{
    while (device->workspaces) {
        meta_workspace *block = device->workspaces;
        device->workspaces = block->next;
        device->backend->ops.free(device->plugin, &block->memory);
        free(block);
    }
}
