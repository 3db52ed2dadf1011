/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.h
 *  What kernels.cu gives the launching of them: a table. */
#ifndef META_GPU_KERNELS_H
#define META_GPU_KERNELS_H

#include "meta_backend.h"

/** The most blocks a reduction is spread over, and so the most partial results it has. */
#define GPU_MAX_PARTIALS 16384
/** The same of exact sums, whose partial results are of META_EXACT_WORDS words. */
#define GPU_MAX_EXACT 2048
/** The most calls that one launch takes: their arguments fit in 4 KiB, the least a device takes. */
#define GPU_MAX_CALLS 12

/** A kernel for a type, and what combines its partial results where it is a reduction. */
struct gpu_kernel {
    meta_gpu_kernel<1>::type *one;
    meta_gpu_kernel<GPU_MAX_CALLS>::type *many; /**< NULL where calls are launched one by one */
    meta_gpu_kernel<1>::type *finish;
    int along; /**< the dimension that a stencil marches along, see stencil.h; 0 for other kernels */
    int exact; /**< it is an exact sum */
};

/** @return a kernel whose `one` is NULL where the type has none. */
gpu_kernel gpu_kernel_of(uint32_t kernel, uint32_t type);

#endif
