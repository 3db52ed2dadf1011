/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.c
 *  Devices, opened on first use, each with its queues and the state that upper rooms keep in it. */
#include "device/device.h"

#include <stdlib.h>

enum { MOST_OPEN = 256 };

/* The open devices in the order of opening. None is removed before the library ends. */
static meta_device *opened[MOST_OPEN];
static _Atomic int open_devices;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

const meta_device_part *meta_device_parts;

meta_device *meta_device_new(meta_backend *backend, int index)
{
    meta_device *device = calloc(1, sizeof *device);
    if (!device) return NULL;
    device->backend = backend;
    device->index = index;
    pthread_mutex_init(&device->lock, NULL);
    return device;
}

/* What open_now() did, in reverse. */
static void close_now(meta_device *device)
{
    const meta_ops *ops = &device->backend->ops;
    const meta_device_part *part = meta_device_parts;
    while (part->open || part->close) ++part;
    while (part-- > meta_device_parts)
        if (part->close) part->close(device);
    for (int k = META_QUEUE_COUNT - 1; k >= 0; --k)
        if (device->queue[k]) ops->queue_destroy(device->queue[k]), device->queue[k] = NULL;
    ops->close(device->plugin);
}

void meta_device_free(meta_device *device)
{
    if (!device) return;
    if (device->open) close_now(device);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

/* With the device's lock held. */
static meta_err open_now(meta_device *device, const meta_state *state)
{
    const meta_ops *ops = &device->backend->ops;
    meta_plugin_queue *queue = NULL;
    meta_computes();
    device->desc = (meta_device_desc)META_DEVICE_DESC_INIT;
    META_TRY(ops->device_info(device->index, &device->desc));
    META_TRY(ops->open(device->index, state, &device->plugin));
    meta_err error = ops->queue_create(device->plugin, META_QUEUE_COMPUTE, &queue);
    if (error == META_OK) device->queue[META_QUEUE_COMPUTE] = queue;
    for (const meta_device_part *p = meta_device_parts; p->open || p->close; ++p)
        if (error == META_OK && p->open) error = p->open(device);
    pthread_mutex_lock(&opening);
    if (error == META_OK && open_devices == MOST_OPEN)
        error = meta_fail(META_ERR_UNSUPPORTED, "%d devices are open, the most there can be",
                          MOST_OPEN);
    if (error == META_OK) opened[open_devices] = device, ++open_devices;
    pthread_mutex_unlock(&opening);
    if (error != META_OK) return close_now(device), error;
    device->open = true;
    meta_log_open(); /* no later call can change the rank */
    meta_log(META_LOG_INFO, "opened %s:%d, %s", device->backend->name, device->index,
             device->desc.name);
    return META_OK;
}

meta_err meta_device_open(meta_device *device, const meta_state *state)
{
    meta_err error = META_OK;
    if (device->open && !state) return META_OK;
    pthread_mutex_lock(&device->lock);
    if (!device->open) error = open_now(device, state);
    else if (state)
        error = meta_fail(META_ERR_STATE,
                          "%s:%d is in use already: set its state before the first "
                          "call that uses the device",
                          device->backend->name, device->index);
    pthread_mutex_unlock(&device->lock);
    return error;
}

meta_err meta_device_describe(const meta_device *device, meta_device_desc *desc)
{
    if (!device->open) return device->backend->ops.device_info(device->index, desc);
    *desc = device->desc;
    return META_OK;
}

meta_err meta_device_queue(meta_device *device, meta_queue_kind kind, meta_plugin_queue **queue)
{
    meta_err error = META_OK;
    pthread_mutex_lock(&device->lock);
    *queue = device->queue[kind];
    if (!*queue) {
        error = device->backend->ops.queue_create(device->plugin, kind, queue);
        if (error == META_OK) device->queue[kind] = *queue;
    }
    pthread_mutex_unlock(&device->lock);
    return error;
}

meta_err meta_device_finish(meta_device *device)
{
    meta_err first = META_OK;
    for (int k = 0; k < META_QUEUE_COUNT; ++k) {
        meta_plugin_queue *queue = device->queue[k];
        if (!queue) continue;
        const meta_err error = device->backend->ops.queue_finish(queue);
        if (first == META_OK && !device->given_up) first = error;
    }
    return first;
}

meta_err meta_devices_each(meta_err (*function)(meta_device *, void *), void *context)
{
    meta_err first = META_OK;
    for (int k = 0; k < open_devices; ++k) {
        const meta_err error = function(opened[k], context);
        if (first == META_OK) first = error;
    }
    return first;
}

static meta_err finish(meta_device *device, void *unused)
{
    (void)unused;
    return meta_device_finish(device);
}

meta_err meta_devices_finish(void)
{
    return meta_devices_each(finish, NULL);
}

bool meta_any_device_open(void)
{
    return open_devices > 0;
}

void meta_devices_forget(void)
{
    open_devices = 0;
}

int meta_device_is_host(const meta_device *device)
{
    return device->desc.is_host;
}
