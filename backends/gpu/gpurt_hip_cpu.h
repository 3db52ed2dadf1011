/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpurt_hip_cpu.h
 *  The part of gpurt.h for AMD's HIP-CPU, which runs GPU code on the CPU for tests: functions that
 * it lacks, and replacements for those that perform badly with several ranks on few cores. */
#ifndef META_GPURT_HIP_CPU_H
#define META_GPURT_HIP_CPU_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>

/* ------------------------------------------------------------------ its worker thread */

/* HIP-CPU has one worker thread that polls for queued work; while there is none it calls
 * YieldProcessor() up to GPU_IDLE_CALLS times between two polls. With more such threads and polling
 * ranks than cores, each yield can cost the time slices of all the others, so the thread sleeps
 * instead until work is queued. */
enum { GPU_IDLE_CALLS = 1031 };
inline std::mutex gpu_idle_lock;
/* Never destroyed: the process may exit, or be a fork()ed child, while the worker thread waits. */
inline std::condition_variable &gpu_idle_end = *new std::condition_variable;
inline std::uint64_t gpu_queued; /* number of times that work was queued */

/* Sleeps once per poll: the other calls between two polls return at once. The sleep has a timeout
 * because not everything that HIP-CPU queues passes through gpu_idle_ends(). */
static inline void gpu_idle()
{
    static thread_local std::uint64_t seen;
    static thread_local int calls;
    if (calls-- > 0) return;
    std::unique_lock<std::mutex> locked(gpu_idle_lock);
    gpu_idle_end.wait_for(locked, std::chrono::milliseconds(1), [] { return gpu_queued != seen; });
    seen = gpu_queued;
    calls = GPU_IDLE_CALLS;
}

static inline void gpu_idle_ends()
{
    {
        const std::lock_guard<std::mutex> locked(gpu_idle_lock);
        ++gpu_queued;
    }
    gpu_idle_end.notify_all();
}

#define YieldProcessor() gpu_idle()
#include <hip/hip_runtime.h>

/* HIP-CPU asks GCC for SIMD clones of whole kernels, which are never called. */
#undef __global__
#undef __device__
#define __global__
#define __device__

/* A block's threads run one after the other, each over all of its elements: with one element each,
 * they access memory sequentially. */
#define GPU_BLOCKS_PER_UNIT 65536

/* ------------------------------------------------------------------ streams and events */

/* All streams share one worker thread, so they have no priorities. */
static inline hipError_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return hipSuccess;
}

static inline hipError_t hipStreamCreateWithPriority(hipStream_t *stream, unsigned, int)
{
    return hipStreamCreate(stream);
}

static inline hipError_t gpu_record(hipEvent_t event, hipStream_t stream)
{
    const hipError_t status = hipEventRecord(event, stream);
    gpu_idle_ends();
    return status;
}
#define hipEventRecord(event, stream) gpu_record(event, stream)

static inline hipError_t hipEventQuery(hipEvent_t event)
{
    if (!is_done(*event).valid()) return hipErrorInvalidHandle;
    return is_done(*event).wait_for(std::chrono::seconds(0)) == std::future_status::ready
               ? hipSuccess
               : hipErrorNotReady;
}

/* The original frees an event that is still pending. */
static inline hipError_t gpu_event_destroy(hipEvent_t event)
{
    if (is_done(*event).valid()) is_done(*event).wait();
    return hipEventDestroy(event);
}
#define hipEventDestroy(event) gpu_event_destroy(event)

/* The original does not wake the worker thread. */
static inline hipError_t gpu_finish(hipStream_t stream)
{
    hip::detail::Event last;
    const hipError_t status = gpu_record(&last, stream);
    return status == hipSuccess ? hipEventSynchronize(&last) : status;
}
#define hipStreamSynchronize(stream) gpu_finish(stream)

/* All streams share one worker thread: a stream waiting for another there would deadlock, so the
 * caller waits. */
static inline hipError_t gpu_stream_wait(hipStream_t, hipEvent_t event)
{
    return hipEventSynchronize(event);
}

template <class A, class F>
static inline hipError_t gpu_run(F *kernel, dim3 grid, dim3 block, hipStream_t stream,
                                 const A &argument, void *partials)
{
    hipLaunchKernelGGL(kernel, grid, block, 0, stream, argument, partials);
    gpu_idle_ends();
    return hipSuccess;
}

/* ------------------------------------------------------------------ memory */

/* The original aligns to 16 bytes only and does not check for failure. */
static inline hipError_t gpu_malloc(void **ptr, size_t bytes)
{
    return posix_memalign(ptr, 256, bytes) == 0 ? hipSuccess : hipErrorOutOfMemory;
}

static inline hipError_t gpu_host_malloc(void **ptr, size_t bytes)
{
    return gpu_malloc(ptr, bytes);
}

static inline hipError_t gpu_host_free(void *ptr)
{
    free(ptr);
    return hipSuccess;
}
#define hipFree(ptr) gpu_host_free(ptr)

/* Device memory is host memory, and there is one device. */
static inline hipError_t gpu_memcpy_peer(void *dst, int, const void *src, int, size_t bytes,
                                         hipStream_t stream)
{
    return hipMemcpyAsync(dst, src, bytes, hipMemcpyDeviceToDevice, stream);
}

/* It cannot tell a device address from a host address. */
static inline hipError_t gpu_device_of(const void *, int *device)
{
    *device = 0;
    return hipSuccess;
}

#endif
