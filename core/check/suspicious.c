/* SPDX-License-Identifier: BSD-3-Clause */
/** @file suspicious.c
 *  META_CHECK=on: arguments of a kernel of the program's that are valid and yet perhaps wrong. */
#include "check/watched.h"
#include "memory/shape.h"

#include <string.h>

static bool is_called(const meta_operation *op, const meta_called *array, uint32_t k)
{
    return array->label[0] && strcmp(array->label, op->operand[k].name) == 0;
}

/* Arrays whose labels are the names of each other's parameters. */
static void report_swapped(const meta_operation *op)
{
    const uint32_t count = op->call.desc->operands;
    meta_called of[META_KERNEL_ARRAYS];
    if (!meta_registry_labelled()) return;
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

/* Grids of floating-point elements that are taken for integers of as many bytes, or the reverse. */
static void report_reinterpreted(const meta_operation *op)
{
    for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
        const meta_shape *grid = op->operand[k].span.shape;
        const meta_type taken = meta_operation_type(op, k);
        char note[META_NOTE_ROOM];
        if (!grid || grid->element != meta_element_bytes((uint32_t)taken) ||
            meta_is_floating(grid->type) == meta_is_floating(taken))
            continue;
        meta_log(META_LOG_WARN,
                 "META_CHECK: kernel %s: argument '%s' is an array of %s, and a grid of %s%s is "
                 "passed: is it the wrong one? If not, give the grid the other type by "
                 "meta_grid_shape()",
                 op->call.desc->name, op->operand[k].name, meta_element_name((uint32_t)taken),
                 meta_element_name((uint32_t)grid->type),
                 meta_registry_note(op->operand[k].span.address, note));
    }
}

void meta_suspicious_report(const meta_operation *op)
{
    if (op->call.desc->family != META_FAMILY_USER) return;
    report_swapped(op);
    report_reinterpreted(op);
}
