/* SPDX-License-Identifier: BSD-3-Clause */
/** @file place.c
 *  Where an operation runs, and its form there. */
#include "schedule/schedule.h"

meta_err meta_place(meta_operation *op)
{
    const meta_operand *first = &op->operand[0];
    for (uint32_t k = 1; k < op->call.desc->operands; ++k)
        META_TRY(
            meta_same_device(&first->span, first->name, &op->operand[k].span, op->operand[k].name));
    if (op->call.result && op->result.span.device)
        META_TRY(meta_same_device(&op->result.span, op->result.name, &first->span, first->name));
    op->device = first->span.device;
    return META_OK;
}

meta_err meta_bind(meta_operation *op)
{
    const uint32_t type = op->call.type;
    const uint64_t bytes = meta_element_bytes(type);
    META_TRY(meta_kernel_object(op->device, op->call.desc, type, &op->call.kernel));
    for (uint32_t k = 0; k < op->call.desc->operands; ++k) {
        const meta_operand *operand = &op->operand[k];
        meta_layout *layout = (meta_layout *)(uintptr_t)meta_call_layout(&op->call, k);
        op->object[k] = operand->span.object;
        layout->base = (meta_i64)(operand->span.offset / bytes) + operand->start;
    }
    if (op->call.result && !op->where.host) {
        op->where.object = op->result.span.object;
        op->where.offset = op->result.span.offset;
    }
    return META_OK;
}
