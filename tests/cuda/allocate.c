/* SPDX-License-Identifier: BSD-3-Clause */
/** @file allocate.c
 *  The runtime's functions that allocate device memory outside pools, and page-locked memory, and
 *  that tell what an address is. Freeing does not wait for work, which CUDA does not promise. */
#include <string.h>

#include "call.h"
#include "device.h"
#include "memory.h"
#include "object.h"
#include "settings.h"
#include "stream.h"

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    const fake_call call = call_begin(__func__);
    const int device = device_current();
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device));
    device_bind();
    if (bytes == 0) call_lacks(call.name, "memory of no bytes");
    if (!memory_reserve(device, bytes)) return call_end(cudaErrorMemoryAllocation);
    void *address = memory_take(MEMORY_DEVICE, device, bytes, NULL, 1U << device);
    if (!address) call_lacks(call.name, "addresses for %zu bytes", bytes);
    object_count(GPU_FAULT_MEMORY, 1);
    *memory = address;
    return cudaSuccess;
}

/* The allocation of a kind that begins at @p memory. */
static bool find_first(const void *memory, memory_kind kind, memory_block *found)
{
    return memory_find(memory, 1, found) && found->range.begin == (uint64_t)memory &&
           found->kind == kind;
}

static void drop(const char *call, const void *memory)
{
    if (!memory_drop(memory))
        call_misuse(call, "something was written behind the end of the memory");
}

cudaError_t cudaFree(void *memory)
{
    const fake_call call = call_begin(__func__);
    memory_block found;
    if (memory && !find_first(memory, MEMORY_DEVICE, &found)) {
        call_misuse(call.name, "no device memory begins there");
        return call_end(cudaErrorInvalidValue);
    }
    if (memory && found.pool) call_lacks(call.name, "freeing memory of a pool");
    if (memory) {
        drop(call.name, memory);
        memory_return(found.device, found.range.end - found.range.begin);
        object_count(GPU_FAULT_MEMORY, -1);
    }
    CALL_TRY(call.injected);
    CALL_TRY(device_status(memory ? found.device : device_current()));
    device_bind();
    return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    const fake_call call = call_begin(__func__);
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device_current()));
    device_bind();
    if (bytes == 0) call_lacks(call.name, "memory of no bytes");
    if (flags & ~(unsigned)(cudaHostAllocPortable | cudaHostAllocMapped))
        call_lacks(call.name, "flags %u", flags);
    void *address = memory_take(MEMORY_HOST, device_current(), bytes, NULL, ~0U);
    if (!address) return call_end(cudaErrorMemoryAllocation);
    object_count(GPU_FAULT_HOST_MEMORY, 1);
    *memory = address;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    const fake_call call = call_begin(__func__);
    memory_block found;
    if (memory && !find_first(memory, MEMORY_HOST, &found)) {
        call_misuse(call.name, "no page-locked memory begins there");
        return call_end(cudaErrorInvalidValue);
    }
    if (memory) {
        drop(call.name, memory);
        object_count(GPU_FAULT_HOST_MEMORY, -1);
    }
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device_current()));
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *found, const void *pointer)
{
    const fake_call call = call_begin(__func__);
    memory_block block;
    CALL_TRY(call.injected);
    CALL_TRY(device_status(device_current()));
    memset(found, 0, sizeof *found);
    found->type = cudaMemoryTypeUnregistered;
    found->device = cudaInvalidDeviceId;
    found->hostPointer = (void *)(uintptr_t)pointer;
    if (!memory_find(pointer, 1, &block)) return cudaSuccess;
    if (block.released) call_misuse(call.name, "the memory has been freed");
    found->type = block.kind == MEMORY_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    found->device = block.device;
    if (block.kind != MEMORY_HOST) found->hostPointer = NULL;
    if (block.access & 1U << device_current()) found->devicePointer = (void *)(uintptr_t)pointer;
    return cudaSuccess;
}
