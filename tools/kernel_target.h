/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_target.h
 *  What kernels are checked or built for, as the option --for says: cpu:avx2,cuda:sm_90,opencl. */
#ifndef META_KERNEL_TARGET_H
#define META_KERNEL_TARGET_H

#include <stdbool.h>
#include <stddef.h>

typedef enum kernel_language {
    LANGUAGE_CPU, /**< C; as a language to check, also C++ is one */
    LANGUAGE_CXX,
    LANGUAGE_OPENCL,
    LANGUAGE_CUDA,
    LANGUAGE_HIP,
    LANGUAGES
} kernel_language;

typedef struct kernel_target {
    kernel_language language;
    char detail[64]; /**< the instruction set, architecture or device number; empty: not given */
} kernel_target;

enum { MOST_TARGETS = 64 };
typedef struct kernel_targets {
    kernel_target target[MOST_TARGETS];
    int count;
} kernel_targets;

/** Read the list @p text. @return NULL, or what is wrong, in a static buffer */
const char *kernel_targets_read(const char *text, kernel_targets *targets);
/** A target as kernel_targets_read() reads it. */
void kernel_target_text(const kernel_target *target, char *text, size_t room);
/** The compute capability of an architecture such as sm_90; 0 if it is none. */
int kernel_target_capability(const kernel_target *target);

#endif
