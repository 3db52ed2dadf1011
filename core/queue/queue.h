/* SPDX-License-Identifier: BSD-3-Clause */
/** @file queue.h
 *  Work on its way to a device, and what tells when it is complete. */
#ifndef META_QUEUE_H
#define META_QUEUE_H

#include "kernels/kernels.h"
#include "queue/pending.h"

/* launch.c */
/** On whose behalf work is queued. */
typedef enum meta_origin { META_FROM_PROGRAM, META_FROM_COMM } meta_origin;

/** A launch or a copy, as observers see it. */
typedef struct meta_task {
    meta_origin origin;
    meta_device *device;
    meta_queue_kind queue;
    bool is_copy;
    meta_launch launch; /**< its calls are those of operations: meta_task_operation() */
    meta_copy copy;
    const meta_span *span; /**< of a copy: the device's end */
    int passed;            /**< observers that it has passed */
} meta_task;

static inline meta_operation *meta_task_operation(const meta_task *w, size_t n)
{
    return (meta_operation *)(uintptr_t)meta_launch_call(&w->launch, n);
}

/** Observers, in the order in which work passes them. */
typedef enum meta_observer_slot {
    META_OBSERVER_CHECK,
    META_OBSERVER_RECORD,
    META_OBSERVERS
} meta_observer_slot;
/** Sees work before and after it is queued, which it does by meta_queue_pass(), or not at all where
 * it returns an error. */
typedef meta_err meta_observer(meta_task *w);
/** Install @p observer, or NULL. */
void meta_observe(meta_observer_slot slot, meta_observer *observer);
extern _Atomic int meta_observers_on; /**< how many there are */
/** On to the next observer, or the back end. */
meta_err meta_queue_pass(meta_task *w);

/** Launch @p count bound operations, @p stride bytes apart, as one unit. @p pending NULL:
 * untracked. */
meta_err meta_launch_on(meta_origin origin, meta_device *device, meta_queue_kind queue,
                        meta_operation *ops, size_t stride, size_t count, meta_pending *pending);
meta_err meta_copy_on(meta_origin origin, meta_device *device, meta_queue_kind queue,
                      meta_copy_kind kind, void *host, const meta_span *span, size_t bytes,
                      meta_pending *pending);
meta_err meta_queue_after(meta_device *device, meta_queue_kind queue, meta_queue_kind earlier);
meta_err meta_pending_test(const meta_pending *pending, int *complete);
meta_err meta_pending_wait(const meta_pending *pending);
void meta_pending_release(meta_pending *pending);

/* submit.c: for a public function; @p done as there */
/** Queue a bound operation. */
meta_err meta_submit(meta_operation *op, meta_event *done);
/** Queue bound operations of one device as one launch. */
meta_err meta_submit_all(meta_builtin *ops, size_t count, meta_event *done);
/** Queue bound operations of which the last is an exact sum for the element at @p address. */
meta_err meta_submit_exact(meta_builtin *ops, size_t count, const void *address, meta_event *done);
/** Queue a bound operation of a kernel of the program's, some of whose results are exact sums. */
meta_err meta_submit_exact_results(meta_operation *op, meta_event *done);
meta_err meta_submit_copy(meta_device *device, meta_copy_kind kind, void *host,
                          const meta_span *span, size_t bytes, meta_event *done);
/** A successful operation without anything to do. */
meta_err meta_submit_nothing(meta_event *done);

/* workspace.c: device memory that belongs to a launch */
typedef struct meta_workspace meta_workspace;
/** At least @p bytes for work that is about to be queued on @p queue. */
meta_err meta_workspace_take(meta_device *device, meta_queue_kind queue, uint64_t bytes,
                             meta_workspace **block, meta_span *span);
/** All work that uses it is queued. */
void meta_workspace_give(meta_device *device, meta_workspace *block);
void meta_workspace_close(meta_device *device);

/* exact.c: reproducible sums */
meta_err meta_reproducible_read(void);
int meta_is_reproducible(void);
/** Whether a sum of @p type on @p device is to be exact; META_ERR_UNSUPPORTED where it cannot. */
meta_err meta_exact_wanted(const meta_device *device, uint32_t type, bool *exact);
/** Queue @p count bound operations, one after the other; the last one is an exact sum, which goes
 * rounded to its result and is remembered for the element at @p address. */
meta_err meta_exact_queue(meta_builtin *ops, size_t count, const void *address,
                          meta_pending *pending);
/** Queue a bound operation of a kernel of the program's. Its exact sums go rounded to their
 * results, and are remembered for the elements there. */
meta_err meta_exact_queue_results(meta_operation *op, meta_pending *pending);
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
/** What @p event follows, which is device work that is taken over; the event is gone. */
void meta_event_take(meta_event event, meta_pending *pending);
/** Forget an event that was never given out. */
void meta_event_drop(meta_event event);
/** Advance messages and call due callbacks. */
void meta_progress(void);
void meta_events_forget(void);

#endif
