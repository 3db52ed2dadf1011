/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels_whole.c
 *  The CPU code of the kernels in kernels_wide.c for integers, for the library's own target. Their text
 *  is in that file. */
#define META_LIBRARY_TYPES (META_KERNEL_U64 | META_KERNEL_U32)
#define META_KERNEL_ONE_VARIANT
#define META_KERNEL_TEXT_APART
#define META_KERNELS_HERE
#include "library/constant.kernel.h"
