/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.h
 *  Modules of PTX that are loaded for a device, and launches of their kernels. */
#ifndef META_TEST_CUDA_LAUNCH_H
#define META_TEST_CUDA_LAUNCH_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "ptx.h"

typedef struct code_module code_module;

/** @param why  of @p room bytes: what is wrong. @return NULL on failure */
code_module *code_load(const char *text, int device, char *why, size_t room);
/** Kernels of it that have not run by now are an error of the device. */
void code_unload(code_module *module);
/** @return NULL on failure, as ptx_find() */
ptx_kernel *code_find(code_module *module, const char *name, char *why, size_t room);
int code_device(const code_module *module);

/** Queue a kernel; its arguments are copied. */
cudaError_t code_launch(const char *call, code_module *module, ptx_kernel *kernel, dim3 grid,
                        dim3 block, void **arguments, size_t shared, cudaStream_t stream);

#endif
