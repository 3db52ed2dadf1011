/* SPDX-License-Identifier: BSD-3-Clause */
/** @file queue.h
 *  Work on its way to a device, and what tells when it is complete. */
#ifndef META_QUEUE_H
#define META_QUEUE_H

#include "memory/memory.h"
#include "queue/pending.h"

/* submit.c: calls as data, queued and followed */
/** A call over the elements of @p face in operand 0; further operands by meta_call_operand(). */
void meta_call_begin(meta_call *call, meta_kernel_id kernel, meta_type type, const meta_face *face);
/** Operand @p k is @p span with the strides of @p face, or packed where @p face is NULL. */
void meta_call_operand(meta_call *call, int k, const meta_span *span, const meta_face *face);
/** Merge dimensions that are contiguous in all @p operands and drop those of extent 1. */
void meta_call_compact(meta_call *call, int operands);
meta_err meta_submit(meta_device *device, const meta_call *calls, size_t count, meta_event *done);
/** The same of calls that end in an exact sum for the element at @p address. */
meta_err meta_submit_exact(meta_device *device, const meta_call *calls, size_t count,
                           const void *address, meta_event *done);
meta_err meta_submit_copy(meta_device *device, meta_copy_kind kind, void *host,
                          const meta_span *span, size_t bytes, meta_event *done);
/** A successful operation without anything to do. */
meta_err meta_submit_nothing(meta_event *done);
meta_err meta_launch(meta_device *device, meta_queue_kind queue, const meta_call *calls,
                     size_t count, meta_pending *pending);
meta_err meta_copy_on(meta_device *device, meta_queue_kind queue, meta_copy_kind kind, void *host,
                      const meta_span *span, size_t bytes, meta_pending *pending);
/** The same; @p comm: for libmeta_comm, not for a call of the application's own. */
meta_err meta_launch_of(bool comm, meta_device *device, meta_queue_kind queue,
                        const meta_call *calls, size_t count, meta_pending *pending);
meta_err meta_copy_of(bool comm, meta_device *device, meta_queue_kind queue, meta_copy_kind kind,
                      void *host, const meta_span *span, size_t bytes, meta_pending *pending);
/** A launch on a queue that has been made, which is not looked at. */
meta_err meta_launch_at_once(bool comm, meta_device *device, meta_queue_kind queue,
                             const meta_call *calls, size_t count, meta_ticket *wanted);
meta_err meta_queue_after(meta_device *device, meta_queue_kind queue, meta_queue_kind earlier);
meta_err meta_pending_test(const meta_pending *pending, int *complete);
meta_err meta_pending_wait(const meta_pending *pending);
void meta_pending_release(meta_pending *pending);

/* exact.c: reproducible sums */
meta_err meta_reproducible_read(void);
int meta_is_reproducible(void);
/** Whether a sum of @p type on @p device is to be exact; META_ERR_UNSUPPORTED where it cannot. */
meta_err meta_exact_wanted(const meta_device *device, meta_type type, bool *exact);
/** Queue @p calls, one after the other; the last one is an exact sum, which goes rounded to its
 *  result and is remembered for the element at @p address. */
meta_err meta_exact_queue(meta_device *device, const meta_call *calls, size_t count,
                          const void *address, meta_pending *pending);
/** Forget the sums behind the elements in a range of addresses. */
void meta_exact_forget(const void *address, uint64_t bytes);
/** See internal.h. */
void *meta_exact_pin(const void *address);
void meta_exact_unpin(void *pinned);
void meta_exact_limbs(const void *pinned, const void *value, meta_type type, int64_t *limbs);
void meta_exact_element(int64_t *limbs, meta_type type, void *value);
void meta_exact_close(meta_device *device);

/* event.c */
meta_err meta_event_new(meta_event *event);
/** The event follows @p pending, which it takes over. */
void meta_event_follow(meta_event event, const meta_pending *pending);
void meta_event_complete(meta_event event, meta_err status, const char *message);
/** Forget an event that was never given out. */
void meta_event_drop(meta_event event);
/** Advance messages and call due callbacks. */
void meta_progress(void);
void meta_events_forget(void);
void meta_hooks_set(const meta_hooks *hooks);
const meta_hooks *meta_hooks_get(void);

#endif
