/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpurt.h
 *  The one file that knows the vendor: GPU(Malloc) is cudaMalloc or hipMalloc, and where the two
 *  runtimes differ there is a wrapper. For AMD's HIP-CPU the wrappers are in gpurt_hip_cpu.h. */
#ifndef META_GPURT_H
#define META_GPURT_H

#if defined(META_GPU_CUDA)

#include <cuda_runtime.h>
#define GPU(name)       cuda##name
#define GPU_PREFIX      "cuda"
#define GPU_TITLE       "CUDA"
#define GPU_VISIBLE     "CUDA_VISIBLE_DEVICES"
#define GPU_HOST_MALLOC "cudaHostAlloc"
#define GPU_NO_KERNEL   cudaErrorNoKernelImageForDevice
#define GPU_NOT_ITS_OWN cudaErrorInvalidResourceHandle
#define GPU_ARCH_OPTION "--with-cuda-arch"
#define GPU_RTC         "NVRTC"
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
#include "gpurt_hip_cpu.h"
#else
#include <hip/hip_runtime.h>
#endif
#define GPU(name)       hip##name
#define GPU_PREFIX      "hip"
#define GPU_VISIBLE     "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES"
#define GPU_HOST_MALLOC "hipHostMalloc"
#define GPU_NO_KERNEL   hipErrorNoBinaryForGpu
#define GPU_NOT_ITS_OWN hipErrorInvalidHandle
#define GPU_ARCH_OPTION "--with-hip-arch"
#define GPU_RTC         "hipRTC"
typedef hipDeviceProp_t gpu_properties;

#if defined(META_GPU_HIP_CPU)
#define GPU_TITLE  "HIP-CPU"
#define GPU_IS_GPU 0
#if !defined(GPU_HAS_POOLS) /* a test emulates them */
#define GPU_HAS_POOLS 0
#endif
#else
#define GPU_TITLE       "HIP"
typedef hipPointerAttribute_t gpu_pointer;
#define GPU_IS_GPU      1
#define GPU_HAS_POOLS   (HIP_VERSION_MAJOR >= 6)
#define GPU_POOLS_KNOWN hipDeviceAttributeMemoryPoolsSupported

/* Coherent: kernels write results there, and not every event makes writes to non-coherent memory
 * visible to the host. */
static inline hipError_t gpu_host_malloc(void **ptr, size_t bytes)
{
    return hipHostMalloc(ptr, bytes, hipHostMallocPortable | hipHostMallocCoherent);
}

static inline hipError_t gpu_host_free(void *ptr)
{
    return hipHostFree(ptr);
}
#endif

#else
#error "compile with META_GPU_CUDA or META_GPU_HIP defined"
#endif

typedef GPU(Error_t) gpu_status;
typedef GPU(Stream_t) gpu_stream;
typedef GPU(Event_t) gpu_event;

#if !defined(META_GPU_HIP_CPU)

#define GPU_BLOCKS_PER_UNIT 64

static inline gpu_status gpu_malloc(void **ptr, size_t bytes)
{
    return GPU(Malloc)(ptr, bytes);
}

static inline gpu_status gpu_stream_wait(gpu_stream stream, gpu_event event)
{
    return GPU(StreamWaitEvent)(stream, event, 0);
}

/* Copy between devices, or within one; the stream is of the device written to. */
static inline gpu_status gpu_memcpy_peer(void *dst, int dst_device, const void *src, int src_device,
                                         size_t bytes, gpu_stream stream)
{
    return GPU(MemcpyPeerAsync)(dst, dst_device, src, src_device, bytes, stream);
}

/* The device that owns an address; -1 where it is not device memory. */
static inline gpu_status gpu_device_of(const void *ptr, int *device)
{
    gpu_pointer found;
    const gpu_status status = GPU(PointerGetAttributes)(&found, ptr);
    *device = -1;
    if (status == GPU(ErrorInvalidValue)) return (void)GPU(GetLastError)(), GPU(Success);
    if (status != GPU(Success)) return status;
#if defined(META_GPU_HIP) && HIP_VERSION_MAJOR < 6
    if (found.memoryType == hipMemoryTypeDevice) *device = found.device;
#else
    if (found.type == GPU(MemoryTypeDevice) || found.type == GPU(MemoryTypeManaged))
        *device = found.device;
#endif
    return GPU(Success);
}

/** Launch a kernel: its arguments by value, and where to write partial results. */
template <class A, class F>
static inline gpu_status gpu_run(F *kernel, dim3 grid, dim3 block, gpu_stream stream,
                                 const A &argument, void *partials)
{
    void *arguments[] = {const_cast<A *>(&argument), &partials};
    return GPU(LaunchKernel)(reinterpret_cast<const void *>(kernel), grid, block, arguments, 0,
                             stream);
}

#endif

#endif
