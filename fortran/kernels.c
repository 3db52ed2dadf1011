/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernels.c
 *  C support of module `meta_kernels`: what it needs to know of a kernel's parameters. */
#define META_KERNEL_NO_PASS
#include "meta_kernel.h"
#include "support.h"

static metaf_role role_of(const meta_kernel_parameter *p)
{
    switch (p->kind) {
    case META_PARAMETER_VALUE:
        return METAF_VALUE;
    case META_PARAMETER_SCALAR:
        return METAF_SCALAR;
    case META_PARAMETER_SUM:
    case META_PARAMETER_MIN:
    case META_PARAMETER_MAX:
        return METAF_RESULT;
    case META_PARAMETER_MIN_AT:
    case META_PARAMETER_MAX_AT:
        return METAF_EXTREME;
    default:
        return p->reach == META_PARAMETER_WHOLE ? METAF_WHOLE : METAF_ARRAY;
    }
}

const char *metaf_kernel_name(const void *kernel)
{
    return ((const meta_kernel *)kernel)->name;
}

int metaf_kernel_parameters(const void *kernel)
{
    return (int)((const meta_kernel *)kernel)->parameters;
}

void metaf_kernel_parameter(const void *kernel, int number, metaf_parameter *to)
{
    const meta_kernel_parameter *p = &((const meta_kernel *)kernel)->parameter[number];
    *to = (metaf_parameter){
        .name = p->name, .role = role_of(p), .type = (int)p->type, .bytes = (int)p->bytes};
    for (int d = 0; d < META_MAX_DIM; ++d) to->lacks[d] = p->dropped >> d & 1;
    for (int d = 0; d < META_KERNEL_DIMS; ++d) {
        to->low[d] = p->low[d];
        to->high[d] = p->high[d];
        to->grown[d] = p->grown[d];
    }
}
