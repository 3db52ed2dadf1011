/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_part.h
 *  Parts of meta-kernel's work in processes of their own: the compilers of two devices, each with an
 * LLVM of its own, may abort in one process, and one that breaks must not take the others along.
 */
#ifndef META_KERNEL_PART_H
#define META_KERNEL_PART_H

#include "kernel_check.h"

enum { MOST_ARGUMENTS = 8 };

/** Run this program for one target: @p command with @p count files, the target, and @p arguments,
 * which ends with NULL. A process that breaks counts as a kernel that does not compile, after a
 * message. */
kernel_outcome kernel_part(const char *command, char *const *files, int count,
                           const kernel_target *target, const char *const *arguments);

#endif
