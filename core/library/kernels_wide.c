/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels_wide.c
 *  The CPU code of the ready kernels that compute more than they load, for each instruction set: the
 *  stencils with constant weights, of floating-point numbers. */
#define META_LIBRARY_TYPES (META_KERNEL_F64 | META_KERNEL_F32)
#define META_KERNELS_HERE
#include "library/constant.kernel.h"
