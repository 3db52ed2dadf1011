/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_vectors.h
 *  Which kernels' loops over cells the C compiler vectorizes, and why not the others. */
#ifndef META_KERNEL_VECTORS_H
#define META_KERNEL_VECTORS_H

#include "kernel_file.h"

/** Print a line for each kernel, types and instruction sets with equal findings together. Kernels
 * of teams are left out. */
void kernel_vectors_print(const kernel_file *file);

#endif
