/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_build.h
 *  meta-kernel build: objects ahead of time, for nodes without compilers. */
#ifndef META_KERNEL_BUILD_H
#define META_KERNEL_BUILD_H

#include "kernel_check.h"

/** What is built: with `library` the kernels of libmeta too, with `plain` not the code of
 * META_CHECK=on and META_REPRODUCIBLE=on. */
typedef struct kernel_extent {
    bool library, plain;
} kernel_extent;

/** Build the kernels of @p count files for all @p targets, into folder @p out, which
 * META_KERNEL_PATH may then name. What cannot be built is reported, and the rest built. */
kernel_outcome kernel_build(char *const *paths, int count, kernel_extent extent,
                            const kernel_targets *targets, const char *out);

#endif
