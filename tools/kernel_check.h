/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_check.h
 *  meta-kernel check: a file's kernels in every language. */
#ifndef META_KERNEL_CHECK_H
#define META_KERNEL_CHECK_H

#include "kernel_report.h"
#include "kernel_target.h"

/** Check the kernels of @p path in the languages of @p targets, all if there is none, and print for
 * each what its compiler says: of a file that C or C++ refuses the first mistake, unless @p
 * verbose. */
kernel_outcome kernel_check(char *path, const kernel_targets *targets, bool verbose);
/** One part of that: by the devices, or else the compiler, of @p target. */
kernel_outcome kernel_check_part(const char *path, const kernel_target *target);

#endif
