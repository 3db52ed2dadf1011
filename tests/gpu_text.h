/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu_text.h
 *  For tests that have the text of a kernel made without a device. */
#ifndef META_TEST_GPU_TEXT_H
#define META_TEST_GPU_TEXT_H

#include <string.h>

#include "kernels/user.h"

/** What the core derives from a kernel's parameters, as far as a program needs it. */
static inline void describe(struct meta_kernel_state *s, meta_kernel *kernel)
{
    memset(s, 0, sizeof *s);
    s->kernel = kernel;
    s->desc = (meta_kernel_desc){.size = sizeof s->desc,
                                 .name = kernel->name,
                                 .family = META_FAMILY_USER,
                                 .values = META_KERNEL_DIMS,
                                 .operand = s->operand,
                                 .result = s->result};
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (p->kind < META_PARAMETER_VALUE) ++s->desc.operands;
        else if (p->kind == META_PARAMETER_MIN_AT || p->kind == META_PARAMETER_MAX_AT)
            s->result[s->desc.results++].combine = META_COMBINE_min_at;
        else if (p->kind > META_PARAMETER_VALUE) ++s->desc.results;
        else s->desc.values += (p->bytes + 7) / 8;
    }
}

#endif
