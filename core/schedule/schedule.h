/* SPDX-License-Identifier: BSD-3-Clause */
/** @file schedule.h
 *  The way of an operation from its data to a device: place, bind, run. */
#ifndef META_SCHEDULE_H
#define META_SCHEDULE_H

#include "queue/queue.h"

/* place.c */
/** Choose the device on which an operation runs: where its operands are, which must be one. */
meta_err meta_place(meta_operation *op);
/** Make the operands' copies on that device valid, and fill in its native objects: the operation
 * can be launched then. Its spans and layouts must not change afterwards, unless it is bound again.
 */
meta_err meta_bind(meta_operation *op);
/** Place and bind an operation without a result anew, for operands that lie elsewhere now. */
meta_err meta_rebind(meta_operation *op);

/* run.c */
/** Place, bind and queue an operation whose operands were checked; NULL blocks, an event or
 * META_ASYNC does not. */
meta_err meta_run(meta_operation *op, meta_event *done);
/** The same of a sum, which kernel @p exact makes where reproducible sums are on. */
meta_err meta_run_sum(meta_builtin *sum, meta_kernel_id exact, meta_event *done);
/** The same of a stencil over the section @p cells with a sum: where that must be exact, kernel @p
 * plain runs, followed by the exact sum of what it wrote. */
meta_err meta_run_stencil_sum(meta_builtin *fused, meta_kernel_id plain, const meta_face *cells,
                              meta_event *done);

#endif
