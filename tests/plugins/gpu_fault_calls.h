/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_fault_calls.h
 *  Fault injection between the HIP back end and HIP-CPU, included before each of the back end's
 * files: any runtime call can be made to fail, and several devices and memory pools are emulated.
 * Devices differ only in that their objects must not be mixed.
 *
 *  A failing call that creates or queues something does nothing. One that waits or releases
 * something does so and then returns the failure: a lost device's work has ended, and what the
 * runtime could not release is not a leak of the back end. */
#ifndef META_TEST_GPU_FAULT_CALLS_H
#define META_TEST_GPU_FAULT_CALLS_H

#include <cstdint>

#define GPU_HAS_POOLS   1
#define GPU_POOLS_KNOWN 0
typedef struct gpu_fault_pool *hipMemPool_t;
typedef struct hipMemPoolProps {
    int allocType;
    struct {
        int type, id;
    } location;
} hipMemPoolProps;
typedef struct hipMemAccessDesc {
    struct {
        int type, id;
    } location;
    int flags;
} hipMemAccessDesc;
enum {
    hipMemAllocationTypePinned = 1,
    hipMemLocationTypeDevice = 1,
    hipMemAccessFlagsProtReadWrite = 3
};
enum hipMemPoolAttr { hipMemPoolAttrReleaseThreshold, hipMemPoolAttrReservedMemCurrent };

#include "gpurt.h"

#include "gpu_fault.h"

namespace fault
{
/* gpu_fault.cpp */
/** Count a call. @return hipSuccess, or the status that it fails with. */
hipError_t next(const char *call);
void wrong(const char *call, const char *what);
void born(void *object, gpu_fault_kind kind, size_t bytes);
/** @return whether the object was alive. */
bool dies(const void *object, gpu_fault_kind kind, const char *call);
/** The device of a live object, or of the memory that contains an address; -1: neither. */
int device_of(const void *object, gpu_fault_kind kind);
int current_device();
uint64_t bytes_alive();

hipError_t count_devices(int *count);
hipError_t driver_version(int *version);
hipError_t set_device(int device);
hipError_t describe(gpu_properties *found, int device);

hipError_t priorities(int *least, int *greatest);
hipError_t create_stream(hipStream_t *stream);
hipError_t destroy_stream(hipStream_t stream);
hipError_t finish(hipStream_t stream);
hipError_t wait_on(hipStream_t stream, hipEvent_t event);
hipError_t create_event(hipEvent_t *event, hipEventFlags flags, const char *call);
hipError_t time_between(float *milliseconds, hipEvent_t begin, hipEvent_t end);
hipError_t destroy_event(hipEvent_t event);
hipError_t record(hipEvent_t event, hipStream_t stream);
hipError_t query(hipEvent_t event);
hipError_t wait_for(hipEvent_t event);
hipError_t copy(void *dst, const void *src, size_t bytes, hipStream_t stream);
hipError_t copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                     hipStream_t stream);
/** Called before each launch. */
hipError_t launches(hipStream_t stream);

hipError_t allocate(void **ptr, size_t bytes);
hipError_t deallocate(void *ptr, const char *call);
hipError_t allocate_host(void **ptr, size_t bytes);
hipError_t deallocate_host(void *ptr);
hipError_t owner(const void *ptr, int *device);
hipError_t memory(size_t *unused, size_t *all);
hipError_t create_pool(hipMemPool_t *pool, const hipMemPoolProps *wanted);
hipError_t destroy_pool(hipMemPool_t pool);
hipError_t can_access(int *can, int device, int peer);
hipError_t share_pool(hipMemPool_t pool, const hipMemAccessDesc *access);
hipError_t take(void **ptr, size_t bytes, hipMemPool_t pool, hipStream_t stream);
hipError_t ask_pool(hipMemPool_t pool, hipMemPoolAttr attribute, void *value);

template <class A, class F>
static inline hipError_t run(F *kernel, dim3 grid, dim3 block, hipStream_t stream,
                             const A &argument, void *partials)
{
    const hipError_t status = launches(stream);
    return status == hipSuccess ? gpu_run(kernel, grid, block, stream, argument, partials) : status;
}
} // namespace fault

#if !defined(META_TEST_GPU_FAULT_INSIDE)
#undef hipEventDestroy
#undef hipEventRecord
#undef hipStreamSynchronize
#undef hipFree
#define hipGetDeviceCount(count)              fault::count_devices(count)
#define hipDriverGetVersion(version)          fault::driver_version(version)
#define hipSetDevice(device)                  fault::set_device(device)
#define hipGetDeviceProperties(found, device) fault::describe(found, device)
#define hipDeviceGetAttribute(value, name, device)                                                 \
    (*(value) = 1, fault::next("hipDeviceGetAttribute"))
#define hipDeviceGetStreamPriorityRange(least, greatest) fault::priorities(least, greatest)
#define hipStreamCreateWithPriority(stream, flags, rank)                                           \
    ((void)(rank), fault::create_stream(stream))
#define hipStreamDestroy(stream)       fault::destroy_stream(stream)
#define hipStreamSynchronize(stream)   fault::finish(stream)
#define gpu_stream_wait(stream, event) fault::wait_on(stream, event)
#define hipEventCreate(event)          fault::create_event(event, hipEventDefault, "hipEventCreate")
#define hipEventCreateWithFlags(event, flags)                                                      \
    fault::create_event(event, flags, "hipEventCreateWithFlags")
#define hipEventElapsedTime(time, begin, end)            fault::time_between(time, begin, end)
#define hipEventDestroy(event)                           fault::destroy_event(event)
#define hipEventRecord(event, stream)                    fault::record(event, stream)
#define hipEventQuery(event)                             fault::query(event)
#define hipEventSynchronize(event)                       fault::wait_for(event)
#define hipMemcpyAsync(dst, src, bytes, kind, stream)    fault::copy(dst, src, bytes, stream)
#define gpu_memcpy_peer                                  fault::copy_peer
#define hipDeviceCanAccessPeer(can, device, peer)        fault::can_access(can, device, peer)
#define hipMemPoolSetAccess(pool, access, count)         fault::share_pool(pool, access)
#define gpu_run                                          fault::run
#define gpu_malloc(ptr, bytes)                           fault::allocate(ptr, bytes)
#define hipFree(ptr)                                     fault::deallocate(ptr, "hipFree")
#define gpu_host_malloc(ptr, bytes)                      fault::allocate_host(ptr, bytes)
#define gpu_host_free(ptr)                               fault::deallocate_host(ptr)
#define gpu_device_of(ptr, device)                       fault::owner(ptr, device)
#define hipMemGetInfo(unused, all)                       fault::memory(unused, all)
#define hipMemPoolCreate(pool, wanted)                   fault::create_pool(pool, wanted)
#define hipMemPoolDestroy(pool)                          fault::destroy_pool(pool)
#define hipMemPoolSetAttribute(pool, attribute, value)   fault::next("hipMemPoolSetAttribute")
#define hipMemPoolGetAttribute(pool, attribute, value)   fault::ask_pool(pool, attribute, value)
#define hipMemPoolTrimTo(pool, bytes)                    fault::next("hipMemPoolTrimTo")
#define hipMallocFromPoolAsync(ptr, bytes, pool, stream) fault::take(ptr, bytes, pool, stream)
#define hipFreeAsync(ptr, stream)                        fault::deallocate(ptr, "hipFreeAsync")
#endif

#endif
