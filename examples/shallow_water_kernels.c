/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel of shallow_water.f90. */
#define META_KERNELS_HERE
#include "shallow_water.kernel.h"
