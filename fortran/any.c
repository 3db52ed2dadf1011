/* SPDX-License-Identifier: BSD-3-Clause */
/** @file any.c
 *  Reads a Fortran compiler's array descriptor, for arrays of any type and rank. */
#include <ISO_Fortran_binding.h>

#include "support.h"

int metaf_describe(CFI_cdesc_t *a, metaf_array *array);

/* Types may be one to the compiler (long and int64_t), so a switch cannot tell them. */
static int element_type(const CFI_cdesc_t *a)
{
    if (a->type == CFI_type_double && a->elem_len == 8) return META_F64;
    if (a->type == CFI_type_float && a->elem_len == 4) return META_F32;
    if (a->type == CFI_type_int64_t) return META_I64;
    if (a->type == CFI_type_int32_t) return META_I32;
    if (a->type == CFI_type_int16_t) return META_I16;
    if (a->type == CFI_type_int8_t) return META_I8;
    return META_TYPE_COUNT;
}

int metaf_describe(CFI_cdesc_t *a, metaf_array *array)
{
    ptrdiff_t pitch = (ptrdiff_t)a->elem_len;
    array->type = element_type(a);
    if (array->type == META_TYPE_COUNT || a->rank > META_MAX_DIM) return 0;
    array->address = a->base_addr;
    array->ndim = a->rank;
    array->contiguous = 1;
    for (int d = 0; d < META_MAX_DIM; ++d) array->extent[d] = 1;
    for (int d = 0; d < a->rank; ++d) {
        array->extent[d] = (int64_t)a->dim[d].extent;
        if (a->dim[d].extent > 1 && a->dim[d].sm != pitch) array->contiguous = 0;
        pitch *= (ptrdiff_t)a->dim[d].extent;
    }
    return 1;
}
