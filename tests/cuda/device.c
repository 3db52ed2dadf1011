/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.c
 *  The runtime's functions that describe devices and choose one, and what is wrong with them. */
#include "device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "memory.h"
#include "settings.h"

static _Thread_local int current;
static _Thread_local bool is_bound;
static atomic_int broken[FAKE_DEVICES]; /* 0, or the error that stays */

int device_current(void)
{
    return current;
}

bool device_is_bound(void)
{
    return is_bound;
}

void device_bind(void)
{
    is_bound = true;
}

/* ------------------------------------------------------------------ what is wrong */

/* The runtime needs a driver of its own major version or a later one. */
cudaError_t device_missing(void)
{
    if (gpu_fault_control.count_status) return (cudaError_t)gpu_fault_control.count_status;
    if (gpu_fault_control.driver_version / 1000 < CUDART_VERSION / 1000)
        return cudaErrorInsufficientDriver;
    return gpu_fault_control.devices > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t device_status(int device)
{
    const cudaError_t missing = device_missing();
    return missing != cudaSuccess ? missing : (cudaError_t)atomic_load(&broken[device]);
}

cudaError_t device_error(void)
{
    return (cudaError_t)atomic_load(&broken[current]);
}

void device_break(int device, cudaError_t status, const char *work, const char *why)
{
    int none = 0;
    if (atomic_compare_exchange_strong(&broken[device], &none, (int)status))
        call_misuse(work, "%s", why);
}

/* ------------------------------------------------------------------ devices and versions */

static cudaError_t check_device(const char *call, int device)
{
    const cudaError_t missing = device_missing();
    if (missing != cudaSuccess) return missing;
    if (device >= 0 && device < gpu_fault_control.devices && device < FAKE_DEVICES)
        return cudaSuccess;
    call_misuse(call, "there is no device %d", device);
    return cudaErrorInvalidDevice;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    *count = 0;
    CALL_TRY(device_missing());
    *count = gpu_fault_control.devices;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    *version = gpu_fault_control.driver_version;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check_device(call.name, device));
    current = device;
    is_bound = true;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *found, int device)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check_device(call.name, device));
    memset(found, 0, sizeof *found);
    snprintf(found->name, sizeof found->name, "simulated GPU %d", device);
    found->totalGlobalMem = (size_t)settings.memory;
    found->sharedMemPerBlock = 48 << 10;
    found->regsPerBlock = 64 << 10;
    found->warpSize = 32;
    found->maxThreadsPerBlock = 1024;
    found->major = (int)settings.capability / 10;
    found->minor = (int)settings.capability % 10;
    found->multiProcessorCount = (int)settings.units;
    found->unifiedAddressing = 1;
    found->memoryPoolsSupported = (int)settings.pools;
    found->pciDomainID = 0x2a; /* nothing of this machine is there */
    found->pciBusID = device + 1;
    found->pciDeviceID = 0x1f;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check_device(call.name, device));
    if (attribute != cudaDevAttrMemoryPoolsSupported)
        call_lacks(call.name, "attribute %d", (int)attribute);
    *value = (int)settings.pools;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(current));
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

/* Neighbours reach each other, as on boards with several GPUs; others do not. */
bool device_reaches(int device, int other)
{
    return (device + other) % 2 == 1;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(check_device(call.name, device));
    CALL_TRY(check_device(call.name, peer));
    *can = device_reaches(device, peer);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *unused, size_t *all)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(current));
    *all = (size_t)settings.memory;
    *unused = *all - memory_reserved(current);
    return cudaSuccess;
}
