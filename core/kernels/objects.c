/* SPDX-License-Identifier: BSD-3-Clause */
/** @file objects.c
 *  A device's kernel objects, created by its back end on the first use of a kernel for a type. */
#include "kernels/kernels.h"

#include <stdlib.h>

meta_err meta_kernels_open(meta_device *device)
{
    device->kernels = calloc(1, sizeof *device->kernels);
    if (!device->kernels)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for kernels");
    pthread_mutex_init(&device->kernels->lock, NULL);
    return META_OK;
}

void meta_kernels_close(meta_device *device)
{
    const meta_ops *ops = &device->backend->ops;
    meta_user_close(device);
    if (!device->kernels) return;
    for (int k = 0; k < META_KERNEL_COUNT && ops->kernel_destroy; ++k)
        for (int t = 0; t < META_TYPE_COUNT; ++t)
            if (device->kernels->object[k][t])
                ops->kernel_destroy(device->plugin, device->kernels->object[k][t]);
    pthread_mutex_destroy(&device->kernels->lock);
    free(device->kernels);
    device->kernels = NULL;
}

meta_err meta_kernel_make(meta_device *device, const meta_kernel_desc *desc, uint32_t type)
{
    const meta_kernel_source source = {.size = sizeof source, .desc = desc, .type = type};
    meta_plugin_kernel *made = NULL;
    meta_err error = META_OK;
    pthread_mutex_lock(&device->kernels->lock);
    if (!device->kernels->object[desc->number][type]) {
        error = device->backend->ops.kernel_create(device->plugin, &source, &made);
        if (error == META_OK) device->kernels->object[desc->number][type] = made;
    }
    pthread_mutex_unlock(&device->kernels->lock);
    return error;
}
