/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of test_fortran_kernels.f90. */
#define META_KERNELS_HERE
#include "fortran.kernel.h"
