/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.cpp
 *  Device memory, from a memory pool of the runtime that caches what is freed; the application sees
 *  device pointers. And page-locked host memory. */
#include "gpu.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* ------------------------------------------------------------------ the pool */

#if GPU_HAS_POOLS

/* META_GPU_POOL: how many unused bytes the pool keeps, and whether there is one at all. */
static meta_err kept_bytes(uint64_t *bytes, int *wanted)
{
    const char *value = gpu_host->variable("META_GPU_POOL");
    char *end = NULL;
    *bytes = UINT64_C(1) << 30;
    *wanted = 1;
    if (!value) return META_OK;
    if (strcmp(value, "off") == 0) return *wanted = 0, META_OK;
    errno = 0;
    *bytes = strtoull(value, &end, 10);
    if (errno || *end || *value < '0' || *value > '9')
        return gpu_host->fail(META_ERR_ENVIRONMENT,
                              "META_GPU_POOL=%s: give off or a number of bytes", value);
    return META_OK;
}

meta_err gpu_pool_open(meta_plugin_device *device)
{
    GPU(MemPoolProps) wanted;
    uint64_t bytes;
    int supported = 0, pooled;
    META_TRY(kept_bytes(&bytes, &pooled));
    GPU_TRY(DeviceGetAttribute, (&supported, GPU_POOLS_KNOWN, device->ordinal));
    if (!pooled || !supported) return META_OK;
    memset(&wanted, 0, sizeof wanted);
    wanted.allocType = GPU(MemAllocationTypePinned);
    wanted.location.type = GPU(MemLocationTypeDevice);
    wanted.location.id = device->ordinal;
    GPU_TRY(MemPoolCreate, (&device->pool, &wanted));
    GPU_TRY(MemPoolSetAttribute, (device->pool, GPU(MemPoolAttrReleaseThreshold), &bytes));
    return META_OK;
}

void gpu_pool_close(meta_plugin_device *device)
{
    if (device->pool) GPU_NOTE(MemPoolDestroy, (device->pool));
}

/* The pool was too fragmented: release what it caches. */
static gpu_status trim(meta_plugin_device *device, const char **call)
{
    (void)GPU(GetLastError)();
    *call = GPU_PREFIX "StreamSynchronize";
    const gpu_status status = GPU(StreamSynchronize)(device->memory);
    if (status != GPU(Success)) return status;
    *call = GPU_PREFIX "MemPoolTrimTo";
    return GPU(MemPoolTrimTo)(device->pool, 0);
}

static gpu_status take_from_pool(meta_plugin_device *device, size_t bytes, void **ptr,
                                 const char **call)
{
    *call = GPU_PREFIX "MallocFromPoolAsync";
    gpu_status status = GPU(MallocFromPoolAsync)(ptr, bytes, device->pool, device->memory);
    if (status != GPU(ErrorMemoryAllocation)) return status;
    status = trim(device, call);
    if (status != GPU(Success)) return status;
    *call = GPU_PREFIX "MallocFromPoolAsync";
    return GPU(MallocFromPoolAsync)(ptr, bytes, device->pool, device->memory);
}

/* The memory is valid on all streams on return. The memory stream carries nothing but allocations,
 * so synchronising it does not wait for work. @p call is set to the call that failed. */
static gpu_status take(meta_plugin_device *device, size_t bytes, void **ptr, const char **call)
{
    *call = GPU_PREFIX "Malloc";
    if (!device->pool) return gpu_malloc(ptr, bytes);
    gpu_status status = take_from_pool(device, bytes, ptr, call);
    if (status != GPU(Success)) return status;
    *call = GPU_PREFIX "StreamSynchronize";
    status = GPU(StreamSynchronize)(device->memory);
    if (status != GPU(Success)) GPU_NOTE(FreeAsync, (*ptr, device->memory));
    return status;
}

static void give_back(meta_plugin_device *device, void *ptr)
{
    if (device->pool) GPU_NOTE(FreeAsync, (ptr, device->memory));
    else GPU_NOTE(Free, (ptr));
}

/* Access is granted to the library's own pools alone. Enabling peer access between the two contexts
 * would also change what the application sees: its own call to do so would then fail. */
void gpu_pool_share(const meta_plugin_device *peer, const meta_plugin_device *device)
{
    GPU(MemAccessDesc) access;
    int can = 0;
    if (!peer->pool || peer->ordinal == device->ordinal) return;
    GPU_NOTE(DeviceCanAccessPeer, (&can, device->ordinal, peer->ordinal));
    if (!can) return;
    memset(&access, 0, sizeof access);
    access.location.type = GPU(MemLocationTypeDevice);
    access.location.id = device->ordinal;
    access.flags = GPU(MemAccessFlagsProtReadWrite);
    GPU_NOTE(MemPoolSetAccess, (peer->pool, &access, 1));
}

static uint64_t held(const meta_plugin_device *device)
{
    uint64_t bytes = 0;
    if (device->pool && GPU(MemPoolGetAttribute)(device->pool, GPU(MemPoolAttrReservedMemCurrent),
                                                 &bytes) != GPU(Success))
        bytes = 0;
    return bytes;
}

#else

meta_err gpu_pool_open(meta_plugin_device *device)
{
    (void)device;
    return META_OK;
}

void gpu_pool_close(meta_plugin_device *device)
{
    (void)device;
}

static gpu_status take(meta_plugin_device *device, size_t bytes, void **ptr, const char **call)
{
    (void)device;
    *call = GPU_PREFIX "Malloc";
    return gpu_malloc(ptr, bytes);
}

static void give_back(meta_plugin_device *device, void *ptr)
{
    (void)device;
    GPU_NOTE(Free, (ptr));
}

void gpu_pool_share(const meta_plugin_device *peer, const meta_plugin_device *device)
{
    (void)peer, (void)device;
}

static uint64_t held(const meta_plugin_device *device)
{
    (void)device;
    return 0;
}

#endif

/* ------------------------------------------------------------------ device memory */

static meta_err fail_of_memory(const meta_plugin_device *device, size_t bytes)
{
    size_t unused = 0, all = 0;
    (void)GPU(GetLastError)();
    if (GPU(MemGetInfo)(&unused, &all) != GPU(Success)) unused = all = 0;
    return gpu_host->fail(
        META_ERR_NO_MEMORY,
        "%zu bytes asked for, but %s device %d has %zu of %zu bytes free, and %llu "
        "in this process's pool; free buffers or ask for less",
        bytes, GPU_TITLE, device->ordinal, unused, all, (unsigned long long)held(device));
}

/* The runtimes place memory of 512 bytes right behind other memory, so that the address one past a
 * buffer would be the next buffer's. A byte more keeps it no buffer's, as on other back ends. */
enum { GPU_GAP = 1 };

meta_err gpu_alloc(meta_plugin_device *device, size_t bytes, meta_memory *memory)
{
    void *ptr = NULL;
    META_TRY(gpu_use(device));
    const char *call;
    const gpu_status status = take(device, bytes + GPU_GAP, &ptr, &call);
    if (status == GPU(ErrorMemoryAllocation)) return fail_of_memory(device, bytes);
    GPU_TRY_AS(call, status);
    memory->address = memory->object = ptr;
    memory->bytes = bytes;
    return META_OK;
}

void gpu_free(meta_plugin_device *device, const meta_memory *memory)
{
    GPU_NOTE(SetDevice, (device->ordinal));
    give_back(device, memory->object);
}

meta_err gpu_wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                  meta_memory *memory)
{
    int owner = -1;
    if (kind == META_NATIVE_HOST)
        return gpu_host->fail(
            META_ERR_POINTER,
            "argument 'native' is a host array, but the buffers of a %s device are device "
            "memory; wrap a pointer of %sMalloc() with META_NATIVE_OBJECT, or "
            "copy the array with meta_copy_h2d()",
            GPU_TITLE, GPU_PREFIX);
    META_TRY(gpu_use(device));
    GPU_TRY_AS(GPU_PREFIX "PointerGetAttributes", gpu_device_of(native, &owner));
    if (owner < 0)
        return gpu_host->fail(META_ERR_POINTER, "argument 'native' is no memory of a %s device",
                              GPU_TITLE);
    if (owner != device->ordinal)
        return gpu_host->fail(
            META_ERR_WRONG_DEVICE,
            "argument 'native' belongs to %s device %d, not to %d, which this thread uses",
            GPU_TITLE, owner, device->ordinal);
    /* The runtime does not report an allocation's end, but its last byte must be of this device. */
    GPU_TRY_AS(GPU_PREFIX "PointerGetAttributes",
               gpu_device_of((const char *)native + bytes - 1, &owner));
    if (owner != device->ordinal)
        return gpu_host->fail(META_ERR_BOUNDS,
                              "argument 'bytes' is %zu, but native has fewer bytes of %s device %d",
                              bytes, GPU_TITLE, device->ordinal);
    memory->address = memory->object = native;
    memory->bytes = bytes;
    return META_OK;
}

void gpu_unwrap(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device, (void)memory;
}

/* ------------------------------------------------------------------ host memory */

meta_err gpu_host_memory(meta_plugin_device *device, size_t bytes, void **ptr)
{
    void *found = NULL;
    META_TRY(gpu_use(device));
    const gpu_status status = gpu_host_malloc(&found, bytes + GPU_GAP);
    if (status == GPU(ErrorMemoryAllocation)) {
        (void)GPU(GetLastError)();
        return gpu_host->fail(META_ERR_NO_MEMORY,
                              "%s: the host has no %zu bytes that can be page-locked",
                              GPU_HOST_MALLOC, bytes);
    }
    GPU_TRY_AS(GPU_HOST_MALLOC, status);
    *ptr = found;
    return META_OK;
}

void gpu_host_memory_free(meta_plugin_device *device, void *ptr, size_t bytes)
{
    (void)bytes;
    GPU_NOTE(SetDevice, (device->ordinal));
    const gpu_status status = gpu_host_free(ptr);
    if (status != GPU(Success)) gpu_warn(status, "freeing page-locked host memory");
}
