/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_mistake.h
 *  What matters of a C or C++ compiler's messages about a kernel file. */
#ifndef META_KERNEL_MISTAKE_H
#define META_KERNEL_MISTAKE_H

#include <stdio.h>

/** Write to @p to the first error that the compiler @p said, with its line of @p file, the kernel
 * file's name: at most six lines. The macros of libmeta that lead there are left out, and so is
 * what the compiler says of other types and instruction sets, which is the same again. */
void kernel_mistake_write(const char *file, const char *said, FILE *to);

#endif
