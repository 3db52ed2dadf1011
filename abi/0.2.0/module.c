/* SPDX-License-Identifier: BSD-3-Clause */
/** @file module.c
 *  A module of kernels, compiled with the headers of 0.2.0. */
#define META_KERNELS_HERE
#include "module.kernel.h"
