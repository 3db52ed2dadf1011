/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_check.h
 *  meta-kernel check: a file's kernels in every language. */
#ifndef META_KERNEL_CHECK_H
#define META_KERNEL_CHECK_H

#include "kernel_target.h"

/** What came of it: the tool's exit status. */
typedef enum kernel_outcome {
    OUTCOME_DONE = 0,
    OUTCOME_REFUSED = 1,    /**< a compiler refused a kernel */
    OUTCOME_NOT_DONE = 2,   /**< wrong arguments, a file that cannot be read or written */
    OUTCOME_INCOMPLETE = 3, /**< nothing was refused, but a compiler is missing */
} kernel_outcome;

/** Check the kernels of @p path in the languages of @p targets, all if there is none, and print for
 * each what its compiler says. */
kernel_outcome kernel_check(char *path, const kernel_targets *targets);
/** One part of that: by the devices, or else the compiler, of @p target. */
kernel_outcome kernel_check_part(const char *path, const kernel_target *target);

#endif
