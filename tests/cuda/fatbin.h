/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fatbin.h
 *  Fat binaries: what nvcc puts into an object file for several devices. */
#ifndef META_TEST_CUDA_FATBIN_H
#define META_TEST_CUDA_FATBIN_H

#include <stdbool.h>

bool fatbin_is(const void *image);
/** The PTX for the newest device that is not newer than @p capability, to be freed; NULL: it has
 * none. */
char *fatbin_ptx(const void *image, int capability);

#endif
