/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpurt_hip_cpu.h
 *  The part of gpurt.h for AMD's HIP-CPU, which runs GPU code on the CPU for tests: what it lacks,
 *  and what it does in a way that several ranks on few cores cannot bear. */
#ifndef META_GPURT_HIP_CPU_H
#define META_GPURT_HIP_CPU_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>

/* ------------------------------------------------------------------ its idle thread */

/* HIP-CPU has one thread that looks for queued work, and while there is none calls YieldProcessor()
 * up to GPU_IDLE_CALLS times between two looks. With more such threads and polling ranks than cores
 * each yield costs the others' whole time slices, so the thread sleeps instead, until work is
 * queued. */
enum { GPU_IDLE_CALLS = 1031 };
inline std::mutex gpu_idle_lock;
/* Never destroyed: a process may end, or be a copy by fork(), while it counts a waiting thread. */
inline std::condition_variable &gpu_idle_end = *new std::condition_variable;
inline std::uint64_t gpu_queued; /* how often work was queued */

/* Returns at once for as many calls as there can be before the next look. It sleeps shortly even
 * when nothing is said to be queued: not all that HIP-CPU queues is said here. */
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

/* Vector versions of whole kernels, which HIP-CPU asks GCC for, are never called. */
#undef __global__
#undef __device__
#define __global__
#define __device__

/* A block's threads run one after the other, each through all its elements: a CPU's caches want
 * them to have one. */
#define GPU_BLOCKS_PER_UNIT 65536

/* ------------------------------------------------------------------ streams and events */

static inline hipError_t gpu_stream_create(hipStream_t *stream, int urgent)
{
    (void)urgent; /* it runs one stream after the other */
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

/* Its own frees an event that it has yet to complete. */
static inline hipError_t gpu_event_destroy(hipEvent_t event)
{
    if (is_done(*event).valid()) is_done(*event).wait();
    return hipEventDestroy(event);
}
#define hipEventDestroy(event) gpu_event_destroy(event)

/* Its own queues an event and waits in one. */
static inline hipError_t gpu_finish(hipStream_t stream)
{
    hip::detail::Event last;
    const hipError_t status = gpu_record(&last, stream);
    return status == hipSuccess ? hipEventSynchronize(&last) : status;
}
#define hipStreamSynchronize(stream) gpu_finish(stream)

/* All its streams share a thread: one that waits for another there would wait for ever. */
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

/* Its own is aligned to 16 bytes only, and does not notice when there is no memory. */
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

/* It cannot tell a device address from another. */
static inline hipError_t gpu_device_of(const void *, int *device)
{
    *device = 0;
    return hipSuccess;
}

#endif
