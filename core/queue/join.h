/* SPDX-License-Identifier: BSD-3-Clause */
/** @file join.h
 *  Several pieces of device work as one: a call that queues more than one is complete when all are.
 *  On most devices the last piece tells, as a queue works in order; pieces for META_AUTO may run on
 *  different devices. */
#ifndef META_JOIN_H
#define META_JOIN_H

#include "queue/queue.h"

/** Whether work queued on @p device is complete only when all that was queued there before is. */
static inline bool meta_in_order(const meta_device *device)
{
    return device->backend->mode != META_AUTO;
}

/** *all becomes it and @p more, which it takes over. Where memory is short it waits for the one. */
void meta_pending_join(meta_pending *all, meta_pending *more);
/** How the pieces of one public call are tracked: each by an event of its own, or none but the last. */
typedef struct meta_pieces {
    meta_device *device;
    meta_event *done; /**< the call's */
    bool apart;       /**< each has an event */
    meta_event event; /**< of the piece at hand */
    meta_pending all; /**< of those so far */
} meta_pieces;
/** For a call with @p done whose pieces run on @p device. */
void meta_pieces_begin(meta_pieces *pieces, meta_device *device, meta_event *done);
/** What the next piece is given as `done`; @p is_last: no other follows. */
meta_event *meta_piece(meta_pieces *pieces, bool is_last);
/** The piece was queued, or failed with @p error. @return the same */
meta_err meta_piece_queued(meta_pieces *pieces, meta_err error);
/** All were queued: wait for them, or make the call's event theirs. */
meta_err meta_pieces_end(meta_pieces *pieces);
/** One failed with @p error: complete the others, so that nothing writes results behind the error. @return the
 *  same, with its message */
meta_err meta_pieces_drop(meta_pieces *pieces, meta_err error);

#endif
