/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_fortran.h
 *  A Fortran module with a typed procedure for each kernel. */
#ifndef META_KERNEL_FORTRAN_H
#define META_KERNEL_FORTRAN_H

#include <stdio.h>

#define META_KERNEL_NO_PASS
#include "meta_kernel.h"

/** Write module @p module for the @p count @p kernels of @p file.
 *  @return NULL, or a name that Fortran cannot have, or that another one takes there; nothing is
 * then written */
const char *kernel_fortran(FILE *to, const char *file, const char *module,
                           meta_kernel *const *kernels, int count);

#endif
