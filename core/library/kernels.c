/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.c
 *  The CPU code of the ready kernels that wait for memory, or are short: for the library's own
 * target only. */
#define META_KERNEL_ONE_VARIANT
#define META_KERNELS_HERE
#include "library/boundary.kernel.h"
#include "library/convert.kernel.h"
#include "library/crc32.kernel.h"
#include "library/csr.kernel.h"
#include "library/csr_check.kernel.h"
#include "library/linear.kernel.h"
#include "library/prefix.kernel.h"
#include "library/variable.kernel.h"
