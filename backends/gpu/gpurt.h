/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpurt.h
 *  The one place that knows the vendor: GPU(Malloc) is cudaMalloc or hipMalloc, and what the two
 *  runtimes, or AMD's HIP-CPU, do not have in common has one name here. */
#ifndef META_GPURT_H
#define META_GPURT_H

#if defined(META_GPU_CUDA)

#include <cuda_runtime.h>
#define GPU(name)       cuda##name
#define GPU_PREFIX      "cuda"
#define GPU_TITLE       "CUDA"
#define GPU_VISIBLE     "CUDA_VISIBLE_DEVICES"
#define GPU_HOST_MALLOC "cudaHostAlloc"
#define GPU_IS_GPU      1
#define GPU_HAS_POOLS   1
#define GPU_POOLS_KNOWN cudaDevAttrMemoryPoolsSupported
typedef cudaDeviceProp gpu_properties;
typedef cudaPointerAttributes gpu_pointer;

static inline cudaError_t gpu_host_malloc(void **ptr, size_t bytes)
{
    return cudaHostAlloc(ptr, bytes, cudaHostAllocPortable);
}

static inline cudaError_t gpu_host_free(void *ptr)
{
    return cudaFreeHost(ptr);
}

#elif defined(META_GPU_HIP)

#if defined(META_GPU_HIP_CPU)
#include <thread>
/* HIP-CPU's idle thread spins with this; the ranks of a test have not a core each to spin on. */
#define YieldProcessor() std::this_thread::yield()
#endif
#include <hip/hip_runtime.h>
#define GPU(name)       hip##name
#define GPU_PREFIX      "hip"
#define GPU_VISIBLE     "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES"
#define GPU_HOST_MALLOC "hipHostMalloc"
typedef hipDeviceProp_t gpu_properties;

static inline hipError_t gpu_host_free(void *ptr)
{
    return hipHostFree(ptr);
}

#if defined(__HIP_CPU_RT__)
#include <chrono>
#include <cstdlib>
#define GPU_TITLE     "HIP-CPU"
#define GPU_IS_GPU    0
#define GPU_HAS_POOLS 0
/* Vector versions of whole kernels, which HIP-CPU asks GCC for, are never called. */
#undef __global__
#undef __device__
#define __global__
#define __device__
#else
#define GPU_TITLE       "HIP"
typedef hipPointerAttribute_t gpu_pointer;
#define GPU_IS_GPU      1
#define GPU_HAS_POOLS   (HIP_VERSION_MAJOR >= 6)
#define GPU_POOLS_KNOWN hipDeviceAttributeMemoryPoolsSupported
#endif

#else
#error "compile with META_GPU_CUDA or META_GPU_HIP defined"
#endif

typedef GPU(Error_t) gpu_status;
typedef GPU(Stream_t) gpu_stream;
typedef GPU(Event_t) gpu_event;

#if defined(__HIP_CPU_RT__)

static inline gpu_status gpu_malloc(void **ptr, size_t bytes)
{
    /* HIP-CPU's own is aligned to 16 bytes only, and does not notice when there is no memory. */
    return posix_memalign(ptr, 256, bytes) == 0 ? hipSuccess : hipErrorOutOfMemory;
}

static inline gpu_status gpu_host_malloc(void **ptr, size_t bytes)
{
    return gpu_malloc(ptr, bytes);
}

static inline gpu_status gpu_stream_create(gpu_stream *stream, int urgent)
{
    (void)urgent; /* it runs one stream after the other */
    return hipStreamCreate(stream);
}

static inline gpu_status hipEventQuery(gpu_event event)
{
    if (!is_done(*event).valid()) return hipErrorInvalidHandle;
    return is_done(*event).wait_for(std::chrono::seconds(0)) == std::future_status::ready
               ? hipSuccess
               : hipErrorNotReady;
}

/* All its streams share a thread: one that waits for another there would wait for ever. */
static inline gpu_status gpu_stream_wait(gpu_stream, gpu_event event)
{
    return hipEventSynchronize(event);
}

/* It cannot tell a device address from another. */
static inline gpu_status gpu_device_of(const void *, int *device)
{
    *device = 0;
    return hipSuccess;
}

#else

static inline gpu_status gpu_malloc(void **ptr, size_t bytes)
{
    return GPU(Malloc)(ptr, bytes);
}

#if defined(META_GPU_HIP)
static inline gpu_status gpu_host_malloc(void **ptr, size_t bytes)
{
    return hipHostMalloc(ptr, bytes, hipHostMallocPortable);
}
#endif

static inline gpu_status gpu_stream_create(gpu_stream *stream, int urgent)
{
    int least = 0, greatest = 0;
    const gpu_status status = GPU(DeviceGetStreamPriorityRange)(&least, &greatest);
    if (status != GPU(Success)) return status;
    return GPU(StreamCreateWithPriority)(stream, GPU(StreamNonBlocking), urgent ? greatest : least);
}

static inline gpu_status gpu_stream_wait(gpu_stream stream, gpu_event event)
{
    return GPU(StreamWaitEvent)(stream, event, 0);
}

/* The device that a device address belongs to; -1 where it is no device memory. */
static inline gpu_status gpu_device_of(const void *ptr, int *device)
{
    gpu_pointer found;
    const gpu_status status = GPU(PointerGetAttributes)(&found, ptr);
    *device = -1;
    if (status == GPU(ErrorInvalidValue)) return GPU(GetLastError)(), GPU(Success);
    if (status != GPU(Success)) return status;
#if defined(META_GPU_HIP) && HIP_VERSION_MAJOR < 6
    if (found.memoryType == hipMemoryTypeDevice) *device = found.device;
#else
    if (found.type == GPU(MemoryTypeDevice) || found.type == GPU(MemoryTypeManaged))
        *device = found.device;
#endif
    return GPU(Success);
}

#endif

/** Launch a kernel of two arguments. */
template <class A, class F>
static inline gpu_status gpu_run(F *kernel, dim3 grid, dim3 block, gpu_stream stream,
                                 const A &argument, void *partials)
{
#if defined(__HIP_CPU_RT__)
    hipLaunchKernelGGL(kernel, grid, block, 0, stream, argument, partials);
    return hipSuccess;
#else
    void *arguments[] = {const_cast<A *>(&argument), &partials};
    return GPU(LaunchKernel)(reinterpret_cast<const void *>(kernel), grid, block, arguments, 0,
                             stream);
#endif
}

#endif
