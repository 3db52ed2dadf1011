/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plugin.c
 *  The symbol that the OpenCL back end exports: its table of operations. */
#include "config.h"

#include "opencl.h"
#include "variable.h"

/* Results this large are not expected to stay in a cache until they are read. */
enum { STREAM_BYTES = 1 << 26 };

const meta_host *ocl_host;
int64_t ocl_stream_bytes;

static meta_err start(const meta_host *host)
{
    ocl_host = host;
    return meta_stream_bytes(host, STREAM_BYTES, &ocl_stream_bytes);
}

/* host_alloc and host_free are absent: a CPU driver copies any host memory directly, and
 * OpenCL 1.2 does not promise that memory of CL_MEM_ALLOC_HOST_PTR is page-locked elsewhere. */
static const meta_ops operations = {
    .size = sizeof(meta_ops),
    .device_count = ocl_device_count,
    .device_info = ocl_device_info,
    .open = ocl_open,
    .close = ocl_close,
    .state = ocl_state,
    .alloc = ocl_alloc,
    .free = ocl_release,
    .wrap = ocl_wrap,
    .unwrap = ocl_release,
    .kernel_create = ocl_kernel_create,
    .kernel_destroy = ocl_kernel_destroy,
    .queue_create = ocl_queue_create,
    .queue_destroy = ocl_queue_destroy,
    .queue_finish = ocl_queue_finish,
    .queue_after = ocl_queue_after,
    .queue_wait = ocl_queue_wait,
    .copy = ocl_copy,
    .copy_peer = ocl_copy_peer,
    .launch = ocl_launch,
    .ticket_test = ocl_ticket_test,
    .ticket_wait = ocl_ticket_wait,
    .ticket_release = ocl_ticket_release,
    .stamp_read = ocl_stamp_read,
    .stamp_release = ocl_stamp_release,
    .checks = META_CHECKS_TEXT,
};

META_API const meta_plugin meta_plugin_v2 = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .size = sizeof(meta_plugin),
    .name = "opencl",
    .description = "any OpenCL 1.2 device, through the system's OpenCL loader",
    .init = start,
    /* It makes no call of OpenCL: at process exit a driver may be partly torn down. */
    .fini = ocl_platform_forget,
    .ops = &operations,
};
