/* SPDX-License-Identifier: BSD-3-Clause */
/** @file schedule.h
 *  Operation dispatch: place, bind, run. */
#ifndef META_SCHEDULE_H
#define META_SCHEDULE_H

#include "queue/queue.h"

/* place.c */
/** Choose the device on which an operation runs: the one device that holds all operands. */
meta_err meta_place(meta_operation *op);
/** Fill in the kernel object and the operands' native objects and base offsets, ready for launch.
 * Spans and layouts must not change afterwards unless the operation is bound again. */
meta_err meta_bind(meta_operation *op);
/** Bind an operation without a result again after its operands have changed or moved. */
meta_err meta_rebind(meta_operation *op);

/* run.c */
/** Place an operation, and check that its operands do not overlap. */
meta_err meta_run_check(meta_operation *op);
/** Place, bind and submit an operation. With @p done NULL the call blocks; with an event or
 * META_ASYNC it does not. */
meta_err meta_run(meta_operation *op, meta_event *done);
/** Bind and submit operations on one device, which meta_run_check() has passed, as one launch. */
meta_err meta_run_all(meta_builtin *ops, size_t count, meta_event *done);
/** meta_run() of a sum, using kernel @p exact if reproducible sums are on. */
meta_err meta_run_sum(meta_builtin *sum, meta_kernel_id exact, meta_event *done);
/** meta_run() of a kernel of the program's with exact sums. */
meta_err meta_run_exact(meta_operation *op, meta_event *done);
/** meta_run() of a fused stencil and sum over the section @p cells. For a reproducible sum, kernel
 * @p plain runs instead, followed by the exact sum of its output. */
meta_err meta_run_stencil_sum(meta_builtin *fused, meta_kernel_id plain, const meta_face *cells,
                              meta_event *done);

#endif
