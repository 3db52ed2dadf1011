/* SPDX-License-Identifier: BSD-3-Clause */
/** @file place.c
 *  Choosing an operation's device, and binding the operation to it. */
#include "schedule/schedule.h"

meta_err meta_place(meta_operation *op)
{
    const meta_operand *first = &op->operand[0];
    for (uint32_t k = 1; k < op->call.desc->operands; ++k)
        META_TRY(
            meta_same_device(&first->span, first->name, &op->operand[k].span, op->operand[k].name));
    for (uint32_t k = 0; k < op->results; ++k)
        if (op->result[k].span.device)
            META_TRY(meta_same_device(&op->result[k].span, op->result[k].name, &first->span,
                                      first->name));
    op->device = first->span.device;
    return META_OK;
}

/* Fill in native objects and base offsets in elements (element sizes are powers of two). */
static void bind_operands(meta_operation *op)
{
    for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
        const int shift =
            __builtin_ctz((unsigned)meta_element_bytes(meta_operation_type(op, k)));
        const meta_operand *operand = &op->operand[k];
        meta_layout *layout = meta_operation_layout(op, k);
        op->object[k] = operand->span.object;
        layout->base = (meta_i64)(operand->span.offset >> shift) + operand->start;
    }
}

meta_err meta_bind(meta_operation *op)
{
    META_TRY(meta_kernel_object(op->device, op->call.desc, op->call.type, &op->call.kernel));
    bind_operands(op);
    for (uint32_t k = 0; k < op->results; ++k) {
        if (op->where[k].host) continue;
        op->where[k].object = op->result[k].span.object;
        op->where[k].offset = op->result[k].span.offset;
    }
    return META_OK;
}

meta_err meta_rebind(meta_operation *op)
{
    for (uint32_t k = 0; k < op->call.desc->operands; ++k)
        if (op->operand[k].span.device != op->device) {
            META_TRY(meta_place(op));
            return meta_bind(op);
        }
    bind_operands(op);
    return META_OK;
}
