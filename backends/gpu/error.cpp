/* SPDX-License-Identifier: BSD-3-Clause */
/** @file error.cpp
 *  Runtime status codes as errors of the library. */
#include "gpu.h"

meta_err gpu_fail(gpu_status status, const char *call)
{
    /* Clear it, or a later call would report it again. */
    (void)GPU(GetLastError)();
    if (status == GPU(ErrorMemoryAllocation))
        return gpu_host->fail(META_ERR_NO_MEMORY, "%s: %s (%s); free buffers", call,
                              GPU(GetErrorString)(status), GPU(GetErrorName)(status));
    if (status == GPU_NO_KERNEL)
        return gpu_host->fail(
            META_ERR_DEVICE,
            "%s: %s (%s); build libmeta for this device too, with configure's " GPU_ARCH_OPTION,
            call, GPU(GetErrorString)(status), GPU(GetErrorName)(status));
    return gpu_host->fail(META_ERR_DEVICE, "%s: %s (%s)", call, GPU(GetErrorString)(status),
                          GPU(GetErrorName)(status));
}

void gpu_warn(gpu_status status, const char *call)
{
    (void)GPU(GetLastError)();
    gpu_host->log(META_LOG_WARN, "%s: %s (%s)", call, GPU(GetErrorString)(status),
                  GPU(GetErrorName)(status));
}
