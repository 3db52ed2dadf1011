/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_fault.cpp
 *  Fault injection between the HIP back end and HIP-CPU: failing calls, emulated devices, and
 *  tracking of live objects. */
#define META_TEST_GPU_FAULT_INSIDE
#include "gpu_fault_calls.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace
{
struct object {
    gpu_fault_kind kind;
    int device;
    size_t bytes;
};
std::mutex lock;
std::map<uintptr_t, object> alive;
thread_local int current;

void *make_stream(int device);
void free_stream(void *stream);
void *make_memory(int device, size_t bytes);
void free_memory(void *memory);
int peek(void *to, const void *from, size_t bytes);

int devices_at_start()
{
    const char *given = getenv("META_TEST_GPUS");
    return given ? atoi(given) : 2;
}
} // namespace

extern "C" __attribute__((visibility("default"))) gpu_fault gpu_fault_control;
gpu_fault gpu_fault_control = {
    devices_at_start(), 0,           50631000,    0,           0,   0, 0, nullptr, {0}, {0}, 0,
    make_stream,        free_stream, make_memory, free_memory, peek};
#define control gpu_fault_control

namespace fault
{

/* ------------------------------------------------------------------ failures and live objects */

/* The thread's latest call, and the one before it. */
static thread_local const char *latest, *previous;

hipError_t next(const char *call)
{
    previous = latest;
    latest = call;
    const std::lock_guard<std::mutex> locked(lock);
    const long number = ++control.calls;
    const bool fails = control.fail_at > 0 &&
                       (number == control.fail_at || (control.sticky && number > control.fail_at));
    if (!fails) return hipSuccess;
    if (!control.failed) control.failed = call;
    return (hipError_t)control.status;
}

/* Take back the number of a query that returned hipErrorNotReady, and of a hipSetDevice() just
 * before it: how many there are depends on timing. For tests of one thread: with several, a number
 * may be given twice. */
static void uncount()
{
    const std::lock_guard<std::mutex> locked(lock);
    control.calls -= previous && strcmp(previous, "hipSetDevice") == 0 ? 2 : 1;
}

void wrong(const char *call, const char *what)
{
    const std::lock_guard<std::mutex> locked(lock);
    if (!control.misuse[0])
        snprintf(control.misuse, sizeof control.misuse, "call %ld, %s: %s", control.calls, call,
                 what);
}

void born(void *object, gpu_fault_kind kind, size_t bytes)
{
    const std::lock_guard<std::mutex> locked(lock);
    alive[(uintptr_t)object] = {kind, current, bytes};
    ++control.live[kind];
}

bool dies(const void *object, gpu_fault_kind kind, const char *call)
{
    {
        const std::lock_guard<std::mutex> locked(lock);
        const auto found = alive.find((uintptr_t)object);
        if (found != alive.end() && found->second.kind == kind) {
            alive.erase(found);
            --control.live[kind];
            return true;
        }
    }
    wrong(call, "there is no such object");
    return false;
}

int device_of(const void *object, gpu_fault_kind kind)
{
    const std::lock_guard<std::mutex> locked(lock);
    const uintptr_t address = (uintptr_t)object;
    auto after = alive.upper_bound(address);
    while (after != alive.begin()) {
        --after;
        if (after->second.kind != kind) continue;
        if (after->first == address || address - after->first < after->second.bytes)
            return after->second.device;
        return -1;
    }
    return -1;
}

int current_device()
{
    return current;
}

uint64_t bytes_alive()
{
    uint64_t bytes = 0;
    const std::lock_guard<std::mutex> locked(lock);
    for (const auto &one : alive)
        if (one.second.kind == GPU_FAULT_MEMORY) bytes += one.second.bytes;
    return bytes;
}

/* ------------------------------------------------------------------ devices */

hipError_t count_devices(int *count)
{
    const hipError_t status = next("hipGetDeviceCount");
    if (status != hipSuccess) return status;
    *count = control.devices;
    return (hipError_t)control.count_status;
}

hipError_t driver_version(int *version)
{
    const hipError_t status = next("hipDriverGetVersion");
    if (status == hipSuccess) *version = control.driver_version;
    return status;
}

hipError_t set_device(int device)
{
    const hipError_t status = next("hipSetDevice");
    if (status != hipSuccess) return status;
    if (device < 0 || device >= control.devices) return hipErrorInvalidDevice;
    current = device;
    return hipSuccess;
}

hipError_t describe(gpu_properties *found, int device)
{
    const hipError_t status = next("hipGetDeviceProperties");
    if (status != hipSuccess) return status;
    if (device < 0 || device >= control.devices) return hipErrorInvalidDevice;
    const hipError_t real = hipGetDeviceProperties(found, 0);
    snprintf(found->name, sizeof found->name, "simulated GPU %d", device);
    return real;
}

/* ------------------------------------------------------------------ streams and events */

static bool is_stream(hipStream_t stream, const char *call)
{
    if (device_of(stream, GPU_FAULT_STREAM) >= 0) return true;
    wrong(call, "there is no such stream");
    return false;
}

static bool is_event(hipEvent_t event, const char *call)
{
    if (device_of(event, GPU_FAULT_EVENT) >= 0) return true;
    wrong(call, "there is no such event");
    return false;
}

hipError_t priorities(int *least, int *greatest)
{
    *least = *greatest = 0;
    return next("hipDeviceGetStreamPriorityRange");
}

hipError_t create_stream(hipStream_t *stream)
{
    hipError_t status = next("hipStreamCreateWithPriority");
    if (status == hipSuccess) status = hipStreamCreate(stream);
    if (status == hipSuccess) born(*stream, GPU_FAULT_STREAM, 0);
    return status;
}

hipError_t destroy_stream(hipStream_t stream)
{
    const hipError_t status = next("hipStreamDestroy");
    if (!dies(stream, GPU_FAULT_STREAM, "hipStreamDestroy")) return hipErrorInvalidHandle;
    const hipError_t real = hipStreamDestroy(stream);
    return status == hipSuccess ? real : status;
}

hipError_t finish(hipStream_t stream)
{
    const hipError_t status = next("hipStreamSynchronize");
    if (!is_stream(stream, "hipStreamSynchronize")) return hipErrorInvalidHandle;
    const hipError_t real = hipStreamSynchronize(stream);
    return status == hipSuccess ? real : status;
}

hipError_t wait_on(hipStream_t stream, hipEvent_t event)
{
    const hipError_t status = next("hipStreamWaitEvent");
    if (!is_stream(stream, "hipStreamWaitEvent") || !is_event(event, "hipStreamWaitEvent"))
        return hipErrorInvalidHandle;
    return status == hipSuccess ? gpu_stream_wait(stream, event) : status;
}

hipError_t create_event(hipEvent_t *event, hipEventFlags flags, const char *call)
{
    hipError_t status = next(call);
    if (status == hipSuccess) status = hipEventCreateWithFlags(event, flags);
    if (status == hipSuccess) born(*event, GPU_FAULT_EVENT, 0);
    return status;
}

hipError_t time_between(float *milliseconds, hipEvent_t begin, hipEvent_t end)
{
    const hipError_t status = next("hipEventElapsedTime");
    if (!is_event(begin, "hipEventElapsedTime") || !is_event(end, "hipEventElapsedTime"))
        return hipErrorInvalidHandle;
    return status == hipSuccess ? hipEventElapsedTime(milliseconds, begin, end) : status;
}

hipError_t destroy_event(hipEvent_t event)
{
    const hipError_t status = next("hipEventDestroy");
    if (!dies(event, GPU_FAULT_EVENT, "hipEventDestroy")) return hipErrorInvalidHandle;
    const hipError_t real = hipEventDestroy(event);
    return status == hipSuccess ? real : status;
}

hipError_t record(hipEvent_t event, hipStream_t stream)
{
    const hipError_t status = next("hipEventRecord");
    if (!is_stream(stream, "hipEventRecord") || !is_event(event, "hipEventRecord"))
        return hipErrorInvalidHandle;
    if (device_of(event, GPU_FAULT_EVENT) != device_of(stream, GPU_FAULT_STREAM)) {
        wrong("hipEventRecord", "the event and the stream belong to two devices");
        return hipErrorInvalidHandle;
    }
    return status == hipSuccess ? hipEventRecord(event, stream) : status;
}

hipError_t query(hipEvent_t event)
{
    const hipError_t status = next("hipEventQuery");
    if (!is_event(event, "hipEventQuery")) return hipErrorInvalidHandle;
    if (status == hipSuccess) {
        const hipError_t real = hipEventQuery(event);
        if (real == hipErrorNotReady) uncount();
        return real;
    }
    (void)hipEventSynchronize(event);
    return status;
}

hipError_t wait_for(hipEvent_t event)
{
    const hipError_t status = next("hipEventSynchronize");
    if (!is_event(event, "hipEventSynchronize")) return hipErrorInvalidHandle;
    const hipError_t real = hipEventSynchronize(event);
    return status == hipSuccess ? real : status;
}

hipError_t copy(void *dst, const void *src, size_t bytes, hipStream_t stream)
{
    const hipError_t status = next("hipMemcpyAsync");
    if (!is_stream(stream, "hipMemcpyAsync")) return hipErrorInvalidHandle;
    return status == hipSuccess ? hipMemcpyAsync(dst, src, bytes, hipMemcpyDefault, stream)
                                : status;
}

hipError_t copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                     hipStream_t stream)
{
    const hipError_t status = next("hipMemcpyPeerAsync");
    if (!is_stream(stream, "hipMemcpyPeerAsync")) return hipErrorInvalidHandle;
    if (device_of(dst, GPU_FAULT_MEMORY) != dst_device ||
        device_of(src, GPU_FAULT_MEMORY) != src_device)
        wrong("hipMemcpyPeerAsync", "memory is not of the device that is named");
    if (device_of(stream, GPU_FAULT_STREAM) != dst_device)
        wrong("hipMemcpyPeerAsync", "the stream is not of the device written to");
    return status == hipSuccess ? gpu_memcpy_peer(dst, dst_device, src, src_device, bytes, stream)
                                : status;
}

hipError_t launches(hipStream_t stream)
{
    const hipError_t status = next("hipLaunchKernel");
    if (status != hipSuccess) return status;
    if (!is_stream(stream, "hipLaunchKernel")) return hipErrorInvalidHandle;
    if (device_of(stream, GPU_FAULT_STREAM) == current) return hipSuccess;
    wrong("hipLaunchKernel", "the stream is not of the current device");
    return hipErrorInvalidHandle;
}

/* ------------------------------------------------------------------ memory */

hipError_t allocate(void **ptr, size_t bytes)
{
    hipError_t status = next("hipMalloc");
    if (status == hipSuccess) status = gpu_malloc(ptr, bytes);
    if (status == hipSuccess) born(*ptr, GPU_FAULT_MEMORY, bytes);
    return status;
}

hipError_t deallocate(void *ptr, const char *call)
{
    const hipError_t status = next(call);
    if (!dies(ptr, GPU_FAULT_MEMORY, call)) return hipErrorInvalidValue;
    free(ptr);
    return status;
}

hipError_t allocate_host(void **ptr, size_t bytes)
{
    hipError_t status = next("hipHostMalloc");
    if (status == hipSuccess) status = gpu_host_malloc(ptr, bytes);
    if (status == hipSuccess) born(*ptr, GPU_FAULT_HOST_MEMORY, bytes);
    return status;
}

hipError_t deallocate_host(void *ptr)
{
    const hipError_t status = next("hipHostFree");
    if (!dies(ptr, GPU_FAULT_HOST_MEMORY, "hipHostFree")) return hipErrorInvalidValue;
    free(ptr);
    return status;
}

hipError_t owner(const void *ptr, int *device)
{
    const hipError_t status = next("hipPointerGetAttributes");
    if (status == hipSuccess) *device = device_of(ptr, GPU_FAULT_MEMORY);
    return status;
}

hipError_t memory(size_t *unused, size_t *all)
{
    const hipError_t status = next("hipMemGetInfo");
    return status == hipSuccess ? hipMemGetInfo(unused, all) : status;
}

hipError_t create_pool(hipMemPool_t *pool, const hipMemPoolProps *wanted)
{
    const hipError_t status = next("hipMemPoolCreate");
    if (status != hipSuccess) return status;
    if (wanted->location.id != current) wrong("hipMemPoolCreate", "it is for another device");
    *pool = (hipMemPool_t)malloc(1);
    born(*pool, GPU_FAULT_POOL, 0);
    return hipSuccess;
}

hipError_t destroy_pool(hipMemPool_t pool)
{
    const hipError_t status = next("hipMemPoolDestroy");
    if (!dies(pool, GPU_FAULT_POOL, "hipMemPoolDestroy")) return hipErrorInvalidValue;
    free(pool);
    return status;
}

hipError_t take(void **ptr, size_t bytes, hipMemPool_t pool, hipStream_t stream)
{
    const hipError_t status = next("hipMallocFromPoolAsync");
    if (status != hipSuccess) return status;
    if (device_of(pool, GPU_FAULT_POOL) != device_of(stream, GPU_FAULT_STREAM))
        wrong("hipMallocFromPoolAsync", "the pool and the stream belong to two devices");
    const hipError_t real = gpu_malloc(ptr, bytes);
    if (real == hipSuccess) born(*ptr, GPU_FAULT_MEMORY, bytes);
    return real;
}

/* Every other device is out of reach: copies between them are staged. */
hipError_t can_access(int *can, int device, int peer)
{
    const hipError_t status = next("hipDeviceCanAccessPeer");
    if (status == hipSuccess) *can = device != peer && (device + peer) % 2 == 1;
    return status;
}

hipError_t share_pool(hipMemPool_t pool, const hipMemAccessDesc *access)
{
    const hipError_t status = next("hipMemPoolSetAccess");
    const int owner = device_of(pool, GPU_FAULT_POOL);
    if (owner < 0) wrong("hipMemPoolSetAccess", "there is no such pool");
    if (access->location.id == owner || access->location.id >= control.devices)
        wrong("hipMemPoolSetAccess", "access is for no other device");
    return status;
}

hipError_t ask_pool(hipMemPool_t, hipMemPoolAttr attribute, void *value)
{
    const hipError_t status = next("hipMemPoolGetAttribute");
    if (status != hipSuccess) return status;
    if (attribute != hipMemPoolAttrReservedMemCurrent) return hipErrorInvalidValue;
    *(uint64_t *)value = bytes_alive();
    return hipSuccess;
}
} // namespace fault

/* ------------------------------------------------------------------ the application's objects */

namespace
{
void *make_stream(int device)
{
    hipStream_t stream;
    const int before = current;
    if (hipStreamCreate(&stream) != hipSuccess) return nullptr;
    current = device;
    fault::born(stream, GPU_FAULT_STREAM, 0);
    current = before;
    return stream;
}

void free_stream(void *stream)
{
    if (fault::dies(stream, GPU_FAULT_STREAM, "the test")) hipStreamDestroy((hipStream_t)stream);
}

void *make_memory(int device, size_t bytes)
{
    void *memory;
    const int before = current;
    if (gpu_malloc(&memory, bytes) != hipSuccess) return nullptr;
    current = device;
    fault::born(memory, GPU_FAULT_MEMORY, bytes);
    current = before;
    return memory;
}

void free_memory(void *memory)
{
    if (fault::dies(memory, GPU_FAULT_MEMORY, "the test")) free(memory);
}

int peek(void *to, const void *from, size_t bytes)
{
    if (fault::device_of(from, GPU_FAULT_MEMORY) < 0) return 0;
    memcpy(to, from, bytes);
    return 1;
}
} // namespace
