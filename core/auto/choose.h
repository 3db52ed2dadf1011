/* SPDX-License-Identifier: BSD-3-Clause */
/** @file choose.h
 *  Which device a launch is for, and what is told of it. */
#ifndef META_AUTO_CHOOSE_H
#define META_AUTO_CHOOSE_H

#include "auto/buffer.h"
#include "auto/sample.h"

/** A number for the kernel, which a kernel that is loaded later does not get, though its descriptor
 * may have the address of one that was unloaded. Addresses have 48 bits at most. */
static inline uint64_t meta_auto_kernel(const meta_kernel_desc *desc)
{
    const uint64_t gone = atomic_load_explicit(&meta_user_destroyed, memory_order_relaxed);
    return (uintptr_t)desc ^ gone << 48;
}

/* ------------------------------------------------------------------ explain.c */

/** What a decision rests on: of each device nanoseconds of the launch there, and to move its
 * operands there and its results back to the home. */
typedef struct meta_auto_reason {
    bool is_candidate, is_known; /**< not known: no run has been timed there */
    double time, move;
    double queued, in, back; /**< by other policies than cost: until the device is free, and the two
                                  parts of move */
    uint64_t missing;        /**< likewise: bytes that the device lacks */
} meta_auto_reason;
typedef struct meta_auto_reasons {
    const meta_call *call; /**< the launch's first */
    const char *policy;    /**< NULL: cost */
    uint64_t cells, bytes;
    int home; /**< -1: that is of no interest */
    bool is_trial;
    meta_auto_reason of[META_SLABS_DEVICES];
} meta_auto_reasons;
meta_err meta_explain_read(void);
void meta_explain(const meta_auto_reasons *reasons, int chosen);
/** A loop of @p calls calls, which took @p now nanoseconds a step, runs with plan[n] for call n
 * from now on and takes @p next. */
void meta_explain_plan(const uint8_t *plan, uint32_t calls, double now, double next);
/** Some calls of such a loop run on device @p d, to know how long they take there. */
void meta_explain_trial(uint32_t calls, int d);
/** The reasons of the last decision while decisions are wanted, once; NULL: it had none. */
const meta_auto_reasons *meta_explained(void);
/** The terms of a decision as text. */
void meta_explain_terms(const meta_auto_reasons *reasons, char *text, size_t room);

/* ------------------------------------------------------------------ account.c */

/** What is wanted; see account.h. */
extern _Atomic int meta_accounted;
/** A copy between devices. */
typedef struct meta_auto_moved {
    int from, to, on; /**< on: in whose queue */
    uint64_t bytes;
    uint64_t queued; /**< meta_account_now() before it was queued */
} meta_auto_moved;
/** The time by CLOCK_MONOTONIC if anything is wanted. */
uint64_t meta_account_now(void);
/** Add a copy with its stamp of @p ops, of which what learns from it gets a share, @p sample NULL:
 * nothing does; @p ops NULL: begin and end are known. */
void meta_account_move(const meta_auto_moved *moved, const meta_ops *ops, const meta_stamp *stamp,
                       const meta_auto_sample *sample);
/** A device was chosen; what for, unless NULL. */
void meta_account_decide(const meta_launch *launch, meta_queue_kind queue,
                         const meta_auto_reasons *reasons, int chosen);
void meta_account_close(void);

/* ------------------------------------------------------------------ choose.c, cost.c */

/** A launch of which the device is to be chosen. */
typedef struct meta_auto_choice {
    const meta_launch *launch;
    const meta_auto_range *range;
    size_t ranges;
    uint32_t among; /**< devices to choose from */
} meta_auto_choice;

meta_err meta_auto_choose(const meta_auto_choice *choice, int *chosen);
/** The device that a copy with the host is planned for; -1: none is. */
int meta_auto_plan_copy(const meta_auto_range *range, bool is_in);
/** For copies to a buffer: what holds most of the range already, unless the policy says otherwise.
 */
int meta_auto_choose_copy(const meta_auto_range *range, uint32_t among);

/** The device with the least expected cost. */
int meta_cost_choose(const meta_auto_choice *choice);
/** Each term of what the launch is expected to cost on each device. */
void meta_cost_terms(const meta_auto_choice *choice, meta_auto_reasons *reasons);
/** Whether the launch that was chosen last is to be timed on @p device, and as what. */
bool meta_cost_wanted(const meta_launch *launch, int device, meta_auto_sample *sample);
/** Device @p device has refused the launch that was chosen last: it lacks the kernel or its type.
 */
void meta_cost_refused(int device);
/** A copy of the range from host memory, or to it, is about to be queued.
 *  @return the device that a loop's plan has for it; -1: none */
int meta_cost_copy(const meta_auto_range *range, bool is_in);
/** The program waits for results of the launch that was chosen last. */
void meta_loop_waited(void);
/** The buffer is about to be freed. */
void meta_cost_leave(meta_auto_buffer *buffer);
meta_err meta_cost_open(void);
void meta_cost_close(void);

/* ------------------------------------------------------------------ refused.c */

/** The devices that have refused a kernel of the launch; of interest if meta_auto.refused > 0. */
uint32_t meta_auto_refused_by(const meta_launch *launch);
/** Device @p d has refused the call's kernel, by @p error and meta_last_error(). */
void meta_auto_refuse(const meta_call *call, int d, meta_err error);
void meta_auto_refused_close(void);

#endif
