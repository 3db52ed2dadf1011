/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.c
 *  The shared kernels, compiled for the CPU: once for each instruction set that openmp.am names,
 * under the name -DOPENMP_VARIANT= gives. */
#include "openmp.h"

#include "meta_host_kernels.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)

openmp_kernel JOIN(openmp_kernel_, OPENMP_VARIANT)(uint32_t kernel, uint32_t type)
{
    const meta_host_kernel found = meta_host_kernel_of(kernel, type);
    return (openmp_kernel){found.run, found.finish};
}
