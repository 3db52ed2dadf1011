/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ops.h
 *  What the public operations share. */
#ifndef META_OPS_H
#define META_OPS_H

#include "queue/queue.h"

/* move.c */
/** A call of @p kernel on the elements of @p shape, from one operand to another; a face that is NULL
 *  is packed. *empty is 1 where there are no elements, and then nothing to launch. */
meta_err meta_pair_call(meta_call *call, meta_kernel_id kernel, const meta_face *shape,
                        const char *name, const meta_span *dst, const meta_face *dst_face,
                        const meta_span *src, const meta_face *src_face, meta_type type, int *empty);
meta_err meta_face_call(meta_call *call, meta_kernel_id kernel, const meta_span *packed,
                        const meta_span *buf, const meta_face *face, meta_type type, int *empty);
meta_err meta_copy_call(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                        const meta_span *src, const meta_face *src_face, meta_type type,
                        int *empty);
/** The boxes that a copy is between: valid, and of equal extents. */
meta_err meta_boxes_alike(const meta_box *dst_box, const meta_box *src_box);
meta_err meta_add_call(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                       const meta_span *src, const meta_face *src_face, meta_type type, int *empty);

#endif
