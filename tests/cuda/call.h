/* SPDX-License-Identifier: BSD-3-Clause */
/** @file call.h
 *  What every call begins and ends with: it is counted, may be made to fail, and reports its
 *  misuse; and the thread's last error. */
#ifndef META_TEST_CUDA_CALL_H
#define META_TEST_CUDA_CALL_H

#include <cuda_runtime_api.h>

#include "../plugins/gpu_fault.h"

/** Which call fails, and what was recorded of them; exported for tests. */
extern gpu_fault gpu_fault_control;

/** A call in progress. @p injected: the status to return; cudaSuccess: none. With a fault, a call
 *  that creates or enqueues has no effect; one that waits or releases still does. */
typedef struct fake_call {
    const char *name;
    cudaError_t injected;
} fake_call;

fake_call call_begin(const char *name);
/** Take back the number of a query that returned cudaErrorNotReady, and of a cudaSetDevice() just
 *  before it: how many there are depends on timing. For tests of one thread: with several, a number
 *  may be given twice. */
void call_uncount(void);
long call_count(void);
/** Remember @p status as the thread's last error, where it is one. @return status */
cudaError_t call_end(cudaError_t status);
/** The program has used CUDA wrongly; counted, and printed. */
void call_misuse(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The fake has no such thing: ends the program. */
_Noreturn void call_lacks(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Return from a call of the runtime that fails. */
#define CALL_TRY(status)                                                                           \
    do {                                                                                           \
        const cudaError_t tried_ = (status);                                                       \
        if (tried_ != cudaSuccess) return call_end(tried_);                                        \
    } while (0)

/** The thread's last error; cudaGetLastError() forgets it. */
extern _Thread_local cudaError_t call_last_error;

#endif
