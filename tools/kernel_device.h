/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_device.h
 *  Kernels in the languages of devices that need not be here. */
#ifndef META_KERNEL_DEVICE_H
#define META_KERNEL_DEVICE_H

#include <stdbool.h>

#include "ahead.h"
#include "compiler.h"

/** The words that end what cannot be done for want of a compiler: what to install. */
extern const char *const kernel_device_install[2]; /**< NVRTC, hipRTC */

/** Compile @p kernel for a GPU by NVRTC or hipRTC. @p said, of malloc(), is what the compiler said,
 * also of a kernel that it accepts.
 *  @return as gpu_compile() */
meta_err kernel_device_compile(meta_kernel *kernel, const gpu_target *target, gpu_image *image,
                               char **said);
/** The same of @p code, and put it into the cache that is filled. */
meta_err kernel_device_build(meta_kernel *kernel, const meta_ahead_code *code,
                             const gpu_target *target, char **said);
/** The name and version of the compiler that the last call used. */
const char *kernel_device_compiler(void);
/** Have @p kernel checked by clang, as OpenCL C for a GPU with double precision.
 *  @return as meta_compiler_check() */
meta_err kernel_device_check_opencl(meta_kernel *kernel, char *command, char **said);

#endif
