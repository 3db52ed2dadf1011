/* SPDX-License-Identifier: BSD-3-Clause */
/** @file submit.c
 *  Queueing work for a public function: behind the exchanges that it depends on, and then blocking,
 *  followed by an event, or untracked. */
#include "queue/queue.h"

/* One of four kinds of work. */
typedef struct request {
    meta_device *device;
    meta_operation *op; /* NULL: a copy */
    bool has_exact;     /* some of its results are exact sums */
    const void *exact;  /* of an exact sum: the result's address */
    meta_builtin *ops;  /* then the operations, or several that are one launch */
    size_t count;
    const meta_span *span; /* of a copy */
    meta_copy_kind kind;
    void *host;
    size_t bytes;
} request;

static meta_err queue_work(const request *r, meta_pending *pending)
{
    if (r->exact) return meta_exact_queue(r->ops, r->count, r->exact, pending);
    if (r->has_exact) return meta_exact_queue_results(r->op, pending);
    if (r->ops)
        return meta_launch_on(META_FROM_PROGRAM, r->device, META_QUEUE_COMPUTE, &r->ops->op,
                              sizeof *r->ops, r->count, pending);
    if (r->op)
        return meta_launch_on(META_FROM_PROGRAM, r->device, META_QUEUE_COMPUTE, r->op, 0, 1,
                              pending);
    return meta_copy_on(META_FROM_PROGRAM, r->device, META_QUEUE_COMPUTE, r->kind, r->host, r->span,
                        r->bytes, pending);
}

/* Finished exchanges may still have unpacking to do on the bytes that this work touches. */
static void order(const meta_hooks *comm, const request *r)
{
    meta_range ranges[META_MAX_RANGES];
    if (r->span) {
        ranges[0] = (meta_range){r->span->address, r->bytes};
        comm->order(ranges, 1);
        return;
    }
    for (size_t k = 0; k < (r->ops ? r->count : 1); ++k)
        comm->order(ranges, meta_operation_ranges(r->ops ? &r->ops[k].op : r->op, ranges));
}

static meta_err submit(const request *r, meta_event *done)
{
    meta_pending pending = {r->device, NULL};
    meta_event event;
    meta_err error;
    const meta_hooks *comm = meta_hooks_get();
    if (comm && *comm->owing > 0) order(comm, r);
    if (done == META_ASYNC) return queue_work(r, NULL);
    if (!done) {
        meta_waits_at_once = true;
        error = queue_work(r, &pending);
        meta_waits_at_once = false;
        META_TRY(error);
        error = meta_pending_wait(&pending);
        meta_pending_release(&pending);
        return error;
    }
    META_TRY(meta_event_new(&event));
    error = queue_work(r, &pending);
    if (error != META_OK) return meta_event_drop(event), error;
    meta_event_follow(event, &pending);
    *done = event;
    return META_OK;
}

meta_err meta_submit(meta_operation *op, meta_event *done)
{
    return submit(&(request){.device = op->device, .op = op}, done);
}

meta_err meta_submit_all(meta_builtin *ops, size_t count, meta_event *done)
{
    return submit(&(request){.device = ops->op.device, .ops = ops, .count = count}, done);
}

meta_err meta_submit_exact(meta_builtin *ops, size_t count, const void *address, meta_event *done)
{
    const request r = {.device = ops->op.device, .ops = ops, .count = count, .exact = address};
    return submit(&r, done);
}

meta_err meta_submit_exact_results(meta_operation *op, meta_event *done)
{
    return submit(&(request){.device = op->device, .op = op, .has_exact = true}, done);
}

meta_err meta_submit_copy(meta_device *device, meta_copy_kind kind, void *host,
                          const meta_span *span, size_t bytes, meta_event *done)
{
    const request r = {.device = device, .span = span, .kind = kind, .host = host, .bytes = bytes};
    return submit(&r, done);
}

meta_err meta_submit_nothing(meta_event *done)
{
    if (done && done != META_ASYNC) *done = (meta_event)META_EVENT_NULL;
    return META_OK;
}
