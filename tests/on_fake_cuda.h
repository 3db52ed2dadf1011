/* SPDX-License-Identifier: BSD-3-Clause */
/** @file on_fake_cuda.h
 *  For tests of the fake CUDA itself: each case is a child process with variables of its own, that
 *  loads the fake and calls it. */
#ifndef META_TEST_ON_FAKE_CUDA_H
#define META_TEST_ON_FAKE_CUDA_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "plugins/gpu_fault.h"
#include "test.h"

/** A case: @p body with variables of the environment, "NAME=VALUE NAME=VALUE …". */
typedef struct fake_case {
    void (*body)(void);
    const char *variables;
} fake_case;

/** Run a case and check that its checks held. */
#define CHECK_FAKE(body, variables) CHECK_CHILD(fake_run, (&(fake_case){(body), (variables)}))
/** The same, and what it writes to standard error goes to an array. */
#define FAKE_SAYS(text, body, variables)                                                           \
    test_child(fake_run, (&(fake_case){(body), (variables)}), (text), sizeof(text))
/** The body of the child process. At its end no misuse may be left that fake_misused() has not
 *  taken. */
void fake_run(void *argument);

/** A function of the fake: CUDA(cudaMalloc)(&p, bytes). */
#define CUDA(name) ((__typeof__(&name))fake_function(#name))
void *fake_function(const char *name);
/** A call succeeds, or fails with a status. */
#define CUDA_OK(call)           CHECK_INT((call), cudaSuccess)
#define CUDA_FAILS(call, error) CHECK_INT((call), (error))

extern gpu_fault *fake;
/** The program has misused CUDA as @p part says; forgets it. */
void fake_misused(const char *part);

/** Objects, which exist: */
void *fake_memory(size_t bytes);
void *fake_host_memory(size_t bytes);
cudaStream_t fake_stream(void);
cudaEvent_t fake_event(void);
/** The module below, loaded, and one of its kernels. */
CUmodule fake_module(void);
CUfunction fake_kernel(const char *name);
/** Launch one block of @p threads threads of a kernel of one pointer.
 *  add_one: each thread adds 1 to an element of uint32_t
 *  race: all threads write one element of shared memory */
cudaError_t fake_launch(CUfunction kernel, unsigned threads, void *pointer, cudaStream_t stream);

/** Upload a number in a stream. Page-locked memory is read when the copy executes. */
void fake_upload(void *memory, const uint32_t *number, cudaStream_t stream);
/** The number at a device address, whatever is queued. */
uint32_t fake_peek(const void *memory);

#endif
