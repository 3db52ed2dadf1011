/* SPDX-License-Identifier: BSD-3-Clause */
/** @file user.h
 *  Kernel objects of the application's kernels, which are compiled when they are made. */
#ifndef META_GPU_USER_H
#define META_GPU_USER_H

#include "code.h"

#include "kernels.h"

/** Bytes of an exact sum in the memory that a block's threads share, see exact_threads.h: 32-bit
 * digits of either sign, and counters. */
#define GPU_SHARED_SUM_BYTES (4 * (2 * (META_EXACT_LIMBS + 1) + 3))

/** One result: the kernel that combines the blocks' partial results, the bytes of what it leaves, of
 * an exact sum those of a word, and the words of a partial result. */
struct gpu_user_result {
    meta_gpu_kernel<1>::type *finish;
    size_t bytes;
    uint32_t words;
    int has_place;
};

/** In contrast to those of the table, `one` is NULL. */
struct gpu_user_kernel : gpu_kernel {
    gpu_code code;
    gpu_passing passing;
    int only_reads;
    const meta_kernel_team *team; /**< its cells are computed by teams */
    uint32_t words; /**< of a block's partial results */
    gpu_user_result result[META_KERNEL_PARAMETERS];
};

meta_err gpu_user_create(const meta_plugin_device *device, const meta_kernel_source *source,
                         gpu_user_kernel **kernel);
void gpu_user_destroy(const meta_plugin_device *device, gpu_user_kernel *kernel);

#endif
