/* SPDX-License-Identifier: BSD-3-Clause */
/** @file swapped.c
 *  META_CHECK=on: arrays of a kernel of the program's whose labels are the names of each other's
 *  parameters, which a call by position has perhaps confused. */
#include "check/watched.h"

#include <string.h>

static bool is_called(const meta_operation *op, const meta_called *array, uint32_t k)
{
    return array->label[0] && strcmp(array->label, op->operand[k].name) == 0;
}

void meta_swapped_report(const meta_operation *op)
{
    const uint32_t count = op->call.desc->operands;
    meta_called of[META_KERNEL_ARRAYS];
    if (op->call.desc->family != META_FAMILY_USER || !meta_registry_labelled()) return;
    for (uint32_t k = 0; k < count; ++k) meta_registry_label(op->operand[k].span.address, &of[k]);
    for (uint32_t k = 0; k < count; ++k)
        for (uint32_t j = 0; j < k; ++j)
            if (is_called(op, &of[k], j) && is_called(op, &of[j], k))
                meta_log(META_LOG_WARN,
                         "META_CHECK: kernel %s: argument '%s' is the array with label \"%s\", and "
                         "'%s' the one with label \"%s\": are the arguments in the wrong order? "
                         "%s_%s_with() takes them by name",
                         op->call.desc->name, op->operand[j].name, of[j].label, op->operand[k].name,
                         of[k].label, op->call.desc->name, meta_element_name(op->call.type));
}
