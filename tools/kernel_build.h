/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_build.h
 *  meta-kernel build: objects ahead of time, for nodes without compilers. */
#ifndef META_KERNEL_BUILD_H
#define META_KERNEL_BUILD_H

#include "kernel_check.h"

/** Build the kernels of @p count files, and with @p library those of libmeta, for all @p targets,
 * into folder @p out, which META_KERNEL_PATH may then name. What cannot be built is said, and the
 * rest built. */
kernel_outcome kernel_build(char *const *paths, int count, bool library,
                            const kernel_targets *targets, const char *out);

#endif
