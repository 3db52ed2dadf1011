/* SPDX-License-Identifier: BSD-3-Clause */
/** @file code.h
 *  Code compiled at run time, on a device. */
#ifndef META_GPU_CODE_H
#define META_GPU_CODE_H

#include "gpu.h"

#include "program.h"

/** A program's function; as all zero, none. */
struct gpu_code {
    void *module, *function;
};

/** Compile the program of @p source for @p device, which is current, and load it. */
meta_err gpu_code_make(const meta_plugin_device *device, const meta_kernel_source *source,
                       const char *title, gpu_passing passing, gpu_code *code);
/** Unload it. */
void gpu_code_drop(const gpu_code *code);
/** Launch it with @p threads in each block. @p arguments are those of gpu_program_arguments(), or
 * for GPU_IN_MEMORY the address of the copy in device memory. */
meta_err gpu_code_run(const gpu_code *code, unsigned blocks, unsigned threads, gpu_stream stream,
                      gpu_passing passing, void *arguments, size_t bytes, void *partials);

#endif
