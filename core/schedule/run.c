/* SPDX-License-Identifier: BSD-3-Clause */
/** @file run.c
 *  Checking, placing, binding and submitting an operation. */
#include "schedule/schedule.h"

meta_err meta_run_check(meta_operation *op)
{
    META_TRY(meta_place(op));
    if (op->call.desc->operands > 1 && !op->apart) META_TRY(meta_operation_check_overlap(op));
    if (__builtin_expect(op->origins_differ, 0)) META_TRY(meta_operation_check_starts(op));
    return META_OK;
}

static meta_err finish(meta_operation *op, meta_event *done)
{
    meta_operation_compact(op);
    META_TRY(meta_bind(op));
    return meta_submit(op, done);
}

meta_err meta_run(meta_operation *op, meta_event *done)
{
    META_TRY(meta_run_check(op));
    return finish(op, done);
}

meta_err meta_run_all(meta_builtin *ops, size_t count, meta_event *done)
{
    for (size_t k = 0; k < count; ++k) {
        meta_operation_compact(&ops[k].op);
        META_TRY(meta_bind(&ops[k].op));
    }
    return meta_submit_all(ops, count, done);
}

meta_err meta_run_sum(meta_builtin *sum, meta_kernel_id exact, meta_event *done)
{
    meta_operation *op = &sum->op;
    bool is_exact;
    META_TRY(meta_run_check(op));
    META_TRY(meta_exact_wanted(op->device, op->call.type, &is_exact));
    if (!is_exact) return finish(op, done);
    op->call.desc = &meta_kernel_table[exact];
    meta_operation_compact(op);
    META_TRY(meta_bind(op));
    return meta_submit_exact(sum, 1, meta_result_address(op, 0), done);
}

meta_err meta_run_exact(meta_operation *op, meta_event *done)
{
    META_TRY(meta_run_check(op));
    for (uint32_t k = 0; k < op->results; ++k) {
        bool is_exact;
        if (op->call.desc->result[k].combine == META_COMBINE_exact)
            META_TRY(meta_exact_wanted(op->device, op->call.desc->result[k].type, &is_exact));
    }
    META_TRY(meta_bind(op));
    return meta_submit_exact_results(op, done);
}

meta_err meta_run_stencil_sum(meta_builtin *fused, meta_kernel_id plain, const meta_face *cells,
                              meta_event *done)
{
    meta_operation *op = &fused->op;
    meta_builtin ops[2];
    bool is_exact;
    META_TRY(meta_run_check(op));
    META_TRY(meta_exact_wanted(op->device, op->call.type, &is_exact));
    if (!is_exact) return finish(op, done);
    const meta_type type = (meta_type)op->call.type;
    meta_operation *stencil = &ops[0].op, *sum = &ops[1].op;
    meta_operation_begin(&ops[0], plain, type, cells);
    for (uint32_t k = 0; k < 2; ++k) {
        ops[0].operand[k] = fused->operand[k];
        ops[0].space.layout[k] = fused->space.layout[k];
    }
    meta_operation_begin(&ops[1], META_KERNEL_EXACT_SUM, type, cells);
    ops[1].operand[0] = fused->operand[0];
    ops[1].space.layout[0] = fused->space.layout[0];
    sum->results = 1;
    *sum->result = *op->result;
    *sum->where = *op->where;
    sum->call.result = sum->where;
    stencil->device = sum->device = op->device;
    meta_operation_compact(sum);
    META_TRY(meta_bind(stencil));
    META_TRY(meta_bind(sum));
    return meta_submit_exact(ops, 2, meta_result_address(op, 0), done);
}
