/* SPDX-License-Identifier: BSD-3-Clause */
/** @file facts.c
 *  The facts of a program's code. Code is made for an architecture; the version of the driver and
 *  settings of a GPU (AMD's sramecc and xnack) stand with the compiler, so that code which was made
 *  ahead of time for the architecture is found whatever they are. What does not run with them is
 *  refused when it is loaded. */
#include "config.h"

#include "facts.h"

#include <stdio.h>
#include <string.h>

void gpu_facts_of(const gpu_target *target, const char *title, const char *text, int has_compiler,
                  gpu_facts *f, meta_cached *what)
{
    memset(f, 0, sizeof *f);
    if (target->amd) {
        const int length = (int)strcspn(target->amd, ":");
        snprintf(f->architecture, sizeof f->architecture, "%.*s", length < 100 ? length : 100,
                 target->amd);
        snprintf(f->setting, sizeof f->setting, "%.100s", target->amd);
    } else {
        snprintf(f->architecture, sizeof f->architecture, "sm_%d", target->capability);
        snprintf(f->setting, sizeof f->setting, "CUDA %d", target->driver);
    }
    if (has_compiler) gpu_compiler_facts(target, f->compiler, sizeof f->compiler);
    for (int k = 0; k < GPU_HEADERS; ++k) f->fact[k] = gpu_headers[k].text;
    f->fact[GPU_HEADERS] = text;
    f->fact[GPU_HEADERS + 1] = f->architecture;
    f->fact[GPU_HEADERS + 2] = f->setting;
    f->fact[GPU_HEADERS + 3] = f->compiler;
    memset(what, 0, sizeof *what);
    what->size = sizeof *what;
    what->kind = target->amd ? "hip" : "cuda";
    what->title = title;
    what->fact = f->fact;
    what->facts = GPU_FACTS;
    what->compiler_facts = GPU_COMPILER_FACTS;
}
