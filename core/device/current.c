/* SPDX-License-Identifier: BSD-3-Clause */
/** @file current.c
 *  Devices as the application sees them: how many there are, which one its thread uses, and their
 *  native objects. */
#include "device/device.h"

#include <stdio.h>

/* A thread's choice holds for one life of the library; the next starts from the default again. */
static _Thread_local meta_device *chosen;
static _Thread_local unsigned chosen_in_life;

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
    META_TRY(meta_device_describe(device, &found));
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
    META_ENTER();
    META_NEED_DESC(desc, META_MEM_DESC_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(meta_device_open(device, NULL));
    desc->total = device->desc.memory;
    desc->allocated = device->allocated;
    desc->peak = device->peak;
    desc->buffers = device->buffers;
    return META_OK;
}
