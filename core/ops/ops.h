/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ops.h
 *  The public operations: each checks its arguments, makes an operation of them and hands it on. */
#ifndef META_OPS_H
#define META_OPS_H

#include "queue/join.h"
#include "schedule/schedule.h"

/* move.c */
/** The boxes that a copy is between: valid, and of equal extents. */
meta_err meta_boxes_alike(const meta_box *dst_box, const meta_box *src_box);

/* transfer.c: see internal.h */
bool meta_move_begin(meta_builtin *move, meta_kernel_id kernel, meta_type type,
                     const meta_face *dst, const meta_face *src);
meta_err meta_move_bind(meta_builtin *move, const meta_span *dst, const meta_span *src);

/* compute.c */
/** The result of a reduction over nothing. */
meta_err meta_result_of_nothing(void *result, const char *name, meta_op op, meta_type type,
                                meta_event *done);
/** The same of a minimum or maximum with its place. */
meta_err meta_extreme_of_nothing(void *result, const char *name, meta_op op, meta_type type,
                                 meta_event *done);

/* boxes.c */
/** meta_box_check() of @p box[b], an element of argument @p name. */
meta_err meta_box_check_element(const meta_box *box, int b, const char *name);

/* kernel.c */
/** meta_kernel_run() as a part of another public function, by whose name messages go. */
meta_err meta_user_run(meta_kernel *kernel, const meta_box *box, const void *const *arguments,
                       meta_event *done);
/** The same where @p box has the cells of @p given, the program's, in fewer dimensions. */
meta_err meta_user_run_flat(meta_kernel *kernel, const meta_box *box, const meta_box *given,
                            const void *const *arguments, meta_event *done);
/** Build @p kernel for @p device, unless it is built. */
meta_err meta_user_prepare(meta_kernel *kernel, meta_device *device);

#endif
