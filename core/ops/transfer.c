/* SPDX-License-Identifier: BSD-3-Clause */
/** @file transfer.c
 *  Moves for messages and halo exchanges: made once without regard to where the data lies, bound
 *  whenever they are used. */
#include "ops/ops.h"

static void set_one(meta_operation *op)
{
    switch (op->call.type) {
#define META_ONE(NAME, name, bytes, wide, sum)                                                     \
    case META_##NAME:                                                                              \
        meta_operation_value(op, &(const meta_##name){1});                                         \
        break;
        META_ARITHMETIC_TYPES(META_ONE)
#undef META_ONE
    default:
        break;
    }
}

bool meta_move_begin(meta_builtin *move, meta_kernel_id kernel, meta_type type,
                     const meta_face *dst, const meta_face *src)
{
    const meta_face *shape = dst ? dst : src;
    for (int d = 0; d < shape->count; ++d)
        if (shape->size[d] == 0) return false;
    meta_operation_begin(move, kernel, type, shape);
    meta_operand_lay(&move->op, 0, dst);
    meta_operand_lay(&move->op, 1, src);
    move->operand[0].name = "dst";
    move->operand[1].name = "src";
    if (kernel == META_KERNEL_AXPY) set_one(&move->op);
    meta_operation_compact(&move->op);
    return true;
}

meta_err meta_move_bind(meta_builtin *move, const meta_span *dst, const meta_span *src)
{
    /* It may have been copied since it was made. */
    move->op.operand = move->operand;
    move->op.object = move->object;
    move->op.space = &move->space;
    move->op.call.object = move->object;
    move->op.call.space = &move->space;
    move->op.call.values = move->op.value;
    move->op.result = &move->result;
    move->op.where = &move->where;
    move->operand[0].span = *dst;
    move->operand[1].span = *src;
    return meta_rebind(&move->op);
}
