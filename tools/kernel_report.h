/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_report.h
 *  What meta-kernel prints of each kernel that it checks or builds, and the exit status that
 * follows. */
#ifndef META_KERNEL_REPORT_H
#define META_KERNEL_REPORT_H

#include <stdbool.h>

#define META_KERNEL_NO_PASS
#include "meta_kernel.h"

/** What came of it: the tool's exit status. */
typedef enum kernel_outcome {
    OUTCOME_DONE = 0,
    OUTCOME_REFUSED = 1,    /**< a compiler refused a kernel */
    OUTCOME_NOT_DONE = 2,   /**< wrong arguments, a file that cannot be read or written */
    OUTCOME_INCOMPLETE = 3, /**< nothing was refused, but a compiler is missing */
} kernel_outcome;

typedef struct kernel_report {
    const char *done;    /**< "ok" or "built" */
    const char *missing; /**< "not checked" or "not built" */
    bool refused, incomplete;
} kernel_report;

/** Print a line on @p what, a file or kernel, for @p target, and what the compiler @p said, NULL or
 *  empty for nothing. The reason for an @p error is the last error's message; @p install: what
 * helps where a compiler is missing, or NULL. */
void kernel_report_line(kernel_report *r, const char *what, const char *target, meta_err error,
                        const char *said, const char *install);
/** Print a line on a file that a C or C++ compiler refuses, and the first mistake of what it @p
 * said. */
void kernel_report_mistake(kernel_report *r, const char *file, const char *target,
                           const char *said);
/** Print a line on what cannot be done here, with the reason as of printf(). */
void kernel_report_missing(kernel_report *r, const char *what, const char *target,
                           const char *reason, ...) __attribute__((format(printf, 4, 5)));
/** A kernel's name and type, in a static buffer. */
const char *kernel_report_name(const meta_kernel *kernel);
kernel_outcome kernel_report_outcome(const kernel_report *r);
/** The worse of two outcomes: not done, refused, incomplete, done. */
kernel_outcome kernel_report_worse(kernel_outcome a, kernel_outcome b);

#endif
