/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sample.h
 *  Times of kernels and of copies between devices, as they are measured. */
#ifndef META_AUTO_SAMPLE_H
#define META_AUTO_SAMPLE_H

#include "auto/learned.h"
#include "auto/machine.h"

/** A time stamp that several wait for. */
typedef struct meta_auto_stamp {
    int users;
    const meta_ops *ops;
    meta_stamp stamp; /**< .work NULL: begin and end are known */
    struct meta_auto_stamp
        *earlier; /**< of earlier parts of the same copy, a share of it; or NULL */
} meta_auto_stamp;
/** Share a stamp of @p ops; NULL: memory is out. */
meta_auto_stamp *meta_auto_share(const meta_ops *ops, const meta_stamp *stamp, int users);
bool meta_auto_stamp_read(meta_auto_stamp *stamp);
void meta_auto_stamp_drop(meta_auto_stamp *stamp);

/** What is timed: a run of a kernel, or a copy between devices. */
typedef struct meta_auto_sample {
    int kernel;       /**< its number in meta_auto.times; -1: a copy */
    int device, from; /**< where it ran; of a copy: to and from where */
    uint64_t cells, bytes;
    double share;   /**< of a run: meta_share.share[device] when it was queued */
    uint64_t moves; /**< and meta_share.seen, if others' moves had settled; 0: they had not */
} meta_auto_sample;
/** Hand a stamp of @p ops on to who asked for one, and to what learns from it; each may be NULL.
 * @p asked gets the time of all parts of a copy that were handed to it. */
void meta_auto_hand_stamp(const meta_ops *ops, const meta_stamp *stamp, meta_stamp *asked,
                          const meta_auto_sample *sample);
/** Learn from it when its time is known; takes over a share of @p stamp. */
void meta_auto_sampled(const meta_auto_sample *sample, meta_auto_stamp *stamp);
/** It took so many nanoseconds. */
void meta_auto_learn(const meta_auto_sample *sample, double time);
/** Read the stamps of work that is complete. */
void meta_auto_read_samples(void);
void meta_auto_samples_close(void);

#endif
