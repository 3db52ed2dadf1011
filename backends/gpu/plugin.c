/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plugin.c
 *  The CUDA and HIP back end's only exported symbol, with its function table. */
#include "config.h"

#include "table.h"

const meta_host *gpu_host;

static meta_err start(const meta_host *host)
{
    gpu_host = host;
    return META_OK;
}

static const meta_ops operations = {
    .size = sizeof(meta_ops),
    .device_count = gpu_device_count,
    .device_info = gpu_device_info,
    .open = gpu_open,
    .close = gpu_close,
    .state = gpu_state,
    .alloc = gpu_alloc,
    .free = gpu_free,
    .wrap = gpu_wrap,
    .unwrap = gpu_unwrap,
    .host_alloc = gpu_host_memory,
    .host_free = gpu_host_memory_free,
    .kernel_create = gpu_kernel_create,
    .kernel_destroy = gpu_kernel_destroy,
    .queue_create = gpu_queue_create,
    .queue_destroy = gpu_queue_destroy,
    .queue_finish = gpu_queue_finish,
    .queue_after = gpu_queue_after,
    .queue_wait = gpu_queue_wait,
    .copy = gpu_copy,
    .copy_peer = gpu_copy_peer,
    .launch = gpu_launch,
    .ticket_test = gpu_ticket_test,
    .ticket_wait = gpu_ticket_wait,
    .ticket_release = gpu_ticket_release,
    .stamp_read = gpu_stamp_read,
    .stamp_release = gpu_stamp_release,
    .checks = META_CHECKS_TEXT,
};

/* Without fini: at process exit the runtime may already be partly torn down. */
META_API const meta_plugin meta_plugin_v2 = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .size = sizeof(meta_plugin),
    .name = META_GPU_NAME,
    .description = META_GPU_DESCRIPTION,
    .init = start,
    .ops = &operations,
};
