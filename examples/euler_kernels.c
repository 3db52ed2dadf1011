/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of euler_fortran.f90. */
#define META_KERNELS_HERE
#include "euler.kernel.h"
