/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.c
 *  Devices: opened on first use, each with its queues and the state that upper rooms keep for it;
 * the device of each thread; the native objects shared with the application. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_OPEN = 256 };

/* The open devices in the order of opening. None is removed before the library ends. */
static meta_device *opened[MOST_OPEN];
static _Atomic int open_devices;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

/* A thread's choice holds for one life of the library; the next starts from the default again. */
static _Thread_local meta_device *chosen;
static _Thread_local unsigned chosen_in_life;

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

static meta_err list_open(meta_device *device)
{
    meta_err error = META_OK;
    pthread_mutex_lock(&opening);
    if (open_devices < MOST_OPEN) opened[open_devices] = device, ++open_devices;
    else
        error = meta_fail(META_ERR_UNSUPPORTED, "%d devices are open, the most there can be",
                          MOST_OPEN);
    pthread_mutex_unlock(&opening);
    return error;
}

/* With the device's lock held. */
static meta_err open_now(meta_device *device, const meta_state *state)
{
    const meta_ops *ops = &device->backend->ops;
    meta_plugin_queue *queue = NULL;
    device->desc = (meta_device_desc)META_DEVICE_DESC_INIT;
    META_TRY(ops->device_info(device->index, &device->desc));
    META_TRY(ops->open(device->index, state, &device->plugin));
    meta_err error = ops->queue_create(device->plugin, META_QUEUE_COMPUTE, &queue);
    if (error == META_OK) device->queue[META_QUEUE_COMPUTE] = queue;
    for (const meta_device_part *p = meta_device_parts; p->open || p->close; ++p)
        if (error == META_OK && p->open) error = p->open(device);
    if (error == META_OK) error = list_open(device);
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
        if (first == META_OK) first = error;
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

/* Fill in what a plugin does not know of its device. */
static void name_device(const meta_backend *backend, int index, meta_device_desc *desc)
{
    desc->mode = backend->mode;
    desc->index = index;
    snprintf(desc->backend, sizeof desc->backend, "%s", backend->name);
}

meta_err meta_device_desc_of(const meta_device *device, meta_device_desc *desc)
{
    *desc = device->desc;
    name_device(device->backend, device->index, desc);
    return META_OK;
}

meta_err meta_device_find(int index, meta_mode mode, meta_device **device)
{
    const meta_backend *backend;
    if (mode == META_AUTO)
        return meta_fail(META_ERR_UNSUPPORTED,
                         "argument 'mode' is META_AUTO, which is reserved for "
                         "scheduling by the library: choose a back end");
    backend = meta_backend_of(mode);
    if (!backend)
        return meta_fail(META_ERR_ARGUMENT, "argument 'mode' is %d, which is no back end's", mode);
    if (!backend->usable)
        return meta_fail(backend->error, "the back end %s is not usable: %s", backend->name,
                         backend->reason);
    if (index < 0 || index >= backend->devices)
        return meta_fail(META_ERR_NO_DEVICE, "argument 'index' is %d, but %s has %d device%s",
                         index, backend->name, backend->devices, backend->devices == 1 ? "" : "s");
    *device = backend->device[index];
    return META_OK;
}

meta_err meta_device_current(meta_device **device)
{
    if (chosen && chosen_in_life == meta_life()) return *device = chosen, META_OK;
    META_TRY(meta_job_device(device));
    return meta_device_open(*device, NULL);
}

/* ------------------------------------------------------------------ public */

meta_err meta_device_count(meta_mode mode, int *count)
{
    META_ENTER();
    META_NEED(count);
    if (mode == META_SPREAD) {
        int sum = 0;
        for (int k = meta_backends() - 1; k >= 0; --k) sum += meta_backend_at(k)->devices;
        *count = sum;
    } else {
        const meta_backend *backend = meta_backend_of(mode);
        if (!backend)
            return meta_fail(META_ERR_ARGUMENT, "argument 'mode' is %d, which is no back end's",
                             mode);
        *count = backend->devices;
    }
    return META_OK;
}

meta_err meta_device_info(int index, meta_mode mode, meta_device_desc *desc)
{
    meta_device *device;
    meta_device_desc found = META_DEVICE_DESC_INIT;
    META_ENTER();
    META_NEED_DESC(desc, META_DEVICE_DESC_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(device->backend->ops.device_info(index, &found));
    name_device(device->backend, index, &found);
    *desc = found;
    return META_OK;
}

meta_err meta_set_acc(int index, meta_mode mode)
{
    meta_device *device;
    META_ENTER();
    if (mode == META_SPREAD) {
        if (index != 0)
            return meta_fail(META_ERR_ARGUMENT,
                             "argument 'index' is %d: with META_SPREAD it is 0, "
                             "the library chooses",
                             index);
        META_TRY(meta_job_device(&device));
    } else {
        META_TRY(meta_device_find(index, mode, &device));
    }
    META_TRY(meta_device_open(device, NULL));
    chosen = device;
    chosen_in_life = meta_life();
    return META_OK;
}

meta_err meta_get_acc(int *index, meta_mode *mode)
{
    meta_device *device;
    META_ENTER();
    if (!index && !mode)
        return meta_fail(META_ERR_ARGUMENT, "arguments 'index' and 'mode' are both NULL");
    META_TRY(meta_device_current(&device));
    if (index) *index = device->index;
    if (mode) *mode = device->backend->mode;
    return META_OK;
}

meta_err meta_get_state(int index, meta_mode mode, meta_state *state)
{
    meta_device *device;
    meta_state found = META_STATE_INIT;
    META_ENTER();
    META_NEED_DESC(state, META_STATE_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(meta_device_open(device, NULL));
    META_TRY(device->backend->ops.state(device->plugin, device->queue[META_QUEUE_COMPUTE], &found));
    *state = found;
    return META_OK;
}

meta_err meta_set_state(int index, meta_mode mode, const meta_state *state)
{
    meta_device *device;
    META_ENTER();
    META_NEED_DESC(state, META_STATE_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    return meta_device_open(device, state);
}

meta_err meta_mem_info(int index, meta_mode mode, meta_mem_desc *desc)
{
    meta_device *device;
    meta_device_desc what = META_DEVICE_DESC_INIT;
    META_ENTER();
    META_NEED_DESC(desc, META_MEM_DESC_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(device->backend->ops.device_info(index, &what));
    desc->total = what.memory;
    desc->allocated = device->allocated;
    desc->peak = device->peak;
    desc->buffers = device->buffers;
    return META_OK;
}
