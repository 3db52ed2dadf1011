/* SPDX-License-Identifier: BSD-3-Clause */
/** @file openmp.h
 *  What the files of the OpenMP back end share. */
#ifndef META_OPENMP_H
#define META_OPENMP_H

#include "config.h"

#include <time.h>

#include "meta_backend.h"

/** What the core offers. */
extern const meta_host *openmp_host;

/** A kernel for a type, which is what a kernel object is: its function and, for a reduction, what
 * combines the threads' partial results. */
typedef struct openmp_kernel {
    meta_kernel_function *run, *finish;
    /** Two calls that differ in nothing but their bases, side by side; NULL where there is no such.
     */
    void (*run_two)(const meta_work *work, const meta_work *also);
    size_t partial_bytes; /**< of a partial result */
} openmp_kernel;

static inline const openmp_kernel *openmp_kernel_of(const meta_call *call)
{
    return (const openmp_kernel *)(const void *)call->kernel;
}

/* The kernels of one instruction set; those that the compiler could make. NULL functions where a
 * kernel does not know the type. */
openmp_kernel openmp_kernel_baseline(uint32_t kernel, uint32_t type);
openmp_kernel openmp_kernel_avx2(uint32_t kernel, uint32_t type);
openmp_kernel openmp_kernel_avx512(uint32_t kernel, uint32_t type);

/** Before any kernel is asked for. */
meta_err openmp_variant_choose(void);
const char *openmp_variant_name(void);
meta_err openmp_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel);

/* memory.c: operations of the plugin's table */
meta_err openmp_alloc(meta_plugin_device *device, size_t bytes, meta_memory *memory);
void openmp_free(meta_plugin_device *device, const meta_memory *memory);
meta_err openmp_wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory);
void openmp_unwrap(meta_plugin_device *device, const meta_memory *memory);
meta_err openmp_copy(meta_plugin_queue *queue, const meta_copy *copy);

/** The part of [0, length) that is share number k of n: what a thread computes, and first touches.
 */
static inline void openmp_share(meta_i64 length, int k, int n, meta_i64 part[2])
{
    const meta_i64 each = length / n, over = length % n;
    part[0] = k * each + (k < over ? k : over);
    part[1] = part[0] + each + (k < over);
}

/** What a clock says around work: the back end's work has ended when the call that queues it
 * returns. */
static inline uint64_t openmp_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Run the calls to their end. */
meta_err openmp_launch(meta_plugin_queue *queue, const meta_launch *launch);

#endif
