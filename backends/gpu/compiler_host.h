/* SPDX-License-Identifier: BSD-3-Clause */
/** @file compiler_host.h
 *  The compiler of HIP-CPU, which emulates a GPU for tests: the system's C++ compiler. */
#ifndef META_GPU_COMPILER_HOST_H
#define META_GPU_COMPILER_HOST_H

#include "meta_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A program's function, which computes one block. */
typedef void gpu_host_function(const void *arguments, void *partials, uint32_t block,
                               uint32_t blocks);

/** Compile @p text and load it: @p module is to be closed, @p function a gpu_host_function. */
meta_err gpu_compile_host(const char *title, const char *text, void **module, void **function);
void gpu_host_code_close(void *module);

#ifdef __cplusplus
}
#endif

#endif
