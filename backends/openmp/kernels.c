/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.c
 *  The shared kernels, compiled for the CPU. */
#include "openmp.h"

#include "meta_host_kernels.h"

openmp_kernel openmp_kernel_of(uint32_t kernel, uint32_t type)
{
    const meta_host_kernel found = meta_host_kernel_of(kernel, type);
    return (openmp_kernel){found.run, found.finish};
}
