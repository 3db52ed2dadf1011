/* SPDX-License-Identifier: BSD-3-Clause */
/** @file device.h
 *  The devices, the one that is the thread's, and the errors that stay with a device's context. */
#ifndef META_TEST_CUDA_DEVICE_H
#define META_TEST_CUDA_DEVICE_H

#include <cuda_runtime_api.h>
#include <stdbool.h>

/** The device that is the thread's. */
int device_current(void);
/** Whether a context has become the thread's, as calls of the driver need it. */
bool device_is_bound(void);
void device_bind(void);

/** Whether kernels of @p device may access memory of @p other, another device. */
bool device_reaches(int device, int other);

/** Whether calls that need a device work at all: the driver is new enough and there is a device. */
cudaError_t device_missing(void);
/** The same, and the error that stays with the context of @p device. */
cudaError_t device_status(int device);
/** The error that stays with the thread's device alone. */
cudaError_t device_error(void);
/** Work on @p device has gone wrong: the first error stays, and is reported as misuse. */
void device_break(int device, cudaError_t status, const char *work, const char *why);

#endif
