/* SPDX-License-Identifier: BSD-3-Clause */
/** @file auto.h
 *  META_MODE=auto: a device that stands for several. Its buffers are addresses behind which each
 *  device has a copy where it needs one; what is launched on it goes to the device that a policy
 *  chooses, once the bytes that it reads are there.
 *
 *  To the rooms above it is a back end like others, whose table is in backend.c. */
#ifndef META_AUTOMATIC_H
#define META_AUTOMATIC_H

#include "auto/buffer.h"
#include "auto/choose.h"
#include "auto/machine.h"
#include "auto/sample.h"

/* ------------------------------------------------------------------ ticket.c, copy.c, launch.c */

/** One of the two queues: on each lane the last work that used host memory. */
struct meta_plugin_queue {
    meta_queue_kind kind;
    uint64_t host[META_SLABS_LANES];
};
/** Work, mostly of one lane. A pointer to one may be NULL: there is none. */
typedef struct meta_auto_ticket {
    size_t count;
    meta_auto_work *work[];
} meta_auto_ticket;
/** Of work that is complete. */
extern meta_auto_ticket meta_auto_complete;
/** Order @p lane behind the queue's earlier work with host memory, of which it will use @p range.
 */
meta_err meta_auto_order_host(const meta_plugin_queue *queue, meta_auto_lane *lane,
                              meta_auto_host_range range);
void meta_auto_queue_after(meta_plugin_queue *queue, const meta_plugin_queue *earlier);
void meta_auto_queue_wait(meta_plugin_queue *queue, const meta_auto_ticket *ticket);
meta_err meta_auto_ticket_test(const meta_auto_ticket *ticket, int *complete);
meta_err meta_auto_ticket_wait(const meta_auto_ticket *ticket);
void meta_auto_ticket_free(meta_auto_ticket *ticket);
/** Add work, NULL: none; without memory for it the work is waited for. */
meta_err meta_auto_ticket_add(meta_auto_ticket **ticket, meta_auto_work *work);
/** A part of the work failed: complete what is queued of it. @return the error, @p error */
meta_err meta_auto_ticket_abandon(meta_auto_ticket *ticket, meta_err error);

meta_err meta_auto_copy_on(meta_plugin_queue *queue, const meta_copy *copy);
meta_err meta_auto_launch_on(meta_plugin_queue *queue, const meta_launch *launch);
/** Build a kernel for the devices that can run it; takes the lock. @return an error if none can */
meta_err meta_auto_prepare(const meta_kernel_desc *desc, uint32_t type);

/* ------------------------------------------------------------------ backend.c */

/** The table of the back end. */
extern const meta_plugin meta_auto_plugin;

#endif
