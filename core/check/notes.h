/* SPDX-License-Identifier: BSD-3-Clause */
/** @file notes.h
 *  META_CHECK=on: the launch of kernels that check their offsets and indices on the device. */
#ifndef META_CHECK_NOTES_H
#define META_CHECK_NOTES_H

#include "queue/queue.h"

/** A launch, made from that of a task. */
typedef struct meta_notes {
    meta_task task; /**< to be passed on instead */
    struct meta_noted *of;
    int64_t *section; /**< of each call: what is in device memory, see lang_check.h */
    meta_memory memory;
} meta_notes;

/** Begin: on devices that build kernels from text the calls of the program's kernels get an operand
 * more, where the first access beyond the reach or size of an array will be noted. */
meta_err meta_notes_begin(meta_notes *notes, const meta_task *work);
/** End, with the error of the launch.
 *  @return META_ERR_BOUNDS if there was such an access, else @p error */
meta_err meta_notes_end(meta_notes *notes, meta_err error);

#endif
