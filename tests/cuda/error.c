/* SPDX-License-Identifier: BSD-3-Clause */
/** @file error.c
 *  The runtime's functions that name errors and return the thread's last one. */
#include "call.h"
#include "device.h"

static const struct error {
    cudaError_t status;
    const char *name, *text;
} errors[] = {
#define ERROR(name, text)                                                                          \
    {                                                                                              \
        name, #name, text                                                                          \
    }
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInsufficientDriver,
          "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    ERROR(cudaErrorNoKernelImageForDevice,
          "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorUnknown, "unknown error"),
#undef ERROR
};

static const struct error *find_error(cudaError_t status)
{
    for (size_t k = 0; k < sizeof errors / sizeof *errors; ++k)
        if (errors[k].status == status) return &errors[k];
    return NULL;
}

const char *cudaGetErrorName(cudaError_t status)
{
    const struct error *found = find_error(status);
    return found ? found->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t status)
{
    const struct error *found = find_error(status);
    return found ? found->text : "unrecognized error code";
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t status = call_last_error;
    call_last_error = device_error();
    return status;
}
