/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.h
 *  The table of compiled kernels that kernels.cu provides to launch.cpp. */
#ifndef META_GPU_KERNELS_H
#define META_GPU_KERNELS_H

#include "meta_backend.h"

/** Upper bound on a reduction's blocks, each of which writes one partial result. */
#define GPU_MAX_PARTIALS 16384
/** The same for exact sums, whose partial results have META_EXACT_WORDS words each. */
#define GPU_MAX_EXACT 2048
/** The bytes of a queue's partial results, of whichever kernel. */
#define GPU_PARTIALS_BYTES                                                                         \
    (sizeof(uint64_t) * (GPU_MAX_PARTIALS > GPU_MAX_EXACT * META_EXACT_WORDS                       \
                             ? GPU_MAX_PARTIALS                                                    \
                             : GPU_MAX_EXACT * META_EXACT_WORDS))
/** Upper bound on the calls fused into one launch: their arguments must fit in the 4 KiB that every
 *  device accepts. */
#define GPU_MAX_CALLS 12

/** A kernel for one element type: what a meta_plugin_kernel points to. */
struct gpu_kernel {
    meta_gpu_kernel<1>::type *one;              /**< NULL: a gpu_user_kernel, see user.h */
    meta_gpu_kernel<GPU_MAX_CALLS>::type *many; /**< NULL where calls are launched one by one */
    meta_gpu_kernel<1>::type *finish; /**< combines a reduction's partial results; else NULL */
};

/** @return the kernel numbered @p number for @p type, NULL where there is none. */
const gpu_kernel *gpu_kernel_of(uint32_t number, uint32_t type);
/** @return the kernel that combines partial results, NULL where there is none. */
meta_gpu_kernel<1>::type *gpu_finish_of(uint32_t combine, uint32_t type);

#endif
