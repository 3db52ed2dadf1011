/* SPDX-License-Identifier: BSD-3-Clause */
/** @file facts.h
 *  What a program's code for a GPU depends on: how it is found in the cache. C, as program.h. */
#ifndef META_GPU_FACTS_H
#define META_GPU_FACTS_H

#include "compiler.h"
#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    GPU_COMPILER_FACTS = 2, /* the last ones: the GPU's settings or the driver, and the compiler */
    GPU_FACTS = GPU_HEADERS + 2 + GPU_COMPILER_FACTS
};

typedef struct gpu_facts {
    const char *fact[GPU_FACTS];
    char architecture[128], setting[128], compiler[4096];
} gpu_facts;

/** Fill in @p what for the code of @p text, a program of @p title, but its functions and `with`. It
 *  points to @p facts and to what is passed here. @p has_compiler: the compiler is looked for, and
 * one of the facts. Without it, code has the key of any build of the compiler only. */
void gpu_facts_of(const gpu_target *target, const char *title, const char *text, int has_compiler,
                  gpu_facts *facts, meta_cached *what);

#ifdef __cplusplus
}
#endif

#endif
