/* SPDX-License-Identifier: BSD-3-Clause */
/** @file queue.c
 *  In-order queues, copies on them, and tickets, which are plain cl_events.
 *
 *  A queue keeps the events of commands without a ticket, since clFinish() does not tell whether
 * one failed. */
#include "config.h"

#include <stdlib.h>

#include "opencl.h"

static meta_err make_queue(meta_plugin_queue *queue, cl_command_queue adopted)
{
    const meta_plugin_device *device = queue->device;
    cl_int status = CL_SUCCESS;
    if (adopted) {
        OCL_TRY(clRetainCommandQueue(adopted), "clRetainCommandQueue");
        queue->cl = adopted;
        queue->foreign = true;
    } else {
        const cl_command_queue_properties timed =
            ocl_host->timing() ? CL_QUEUE_PROFILING_ENABLE : 0;
        queue->cl = clCreateCommandQueue(device->context, device->about.device, timed, &status);
        OCL_TRY(status, "clCreateCommandQueue");
    }
    queue->scratch = clCreateBuffer(device->context, CL_MEM_READ_WRITE,
                                    OCL_RESULT_OFFSET + OCL_MAX_RESULTS * OCL_RESULT_BYTES, NULL, &status);
    OCL_TRY(status, "clCreateBuffer(partial results)");
    return META_OK;
}

meta_err ocl_queue_create(meta_plugin_device *device, meta_queue_kind kind,
                          meta_plugin_queue **queue)
{
    meta_plugin_queue *made = calloc(1, sizeof *made);
    meta_err err;
    if (!made) return ocl_host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    made->device = device;
    pthread_mutex_init(&made->lock, NULL);
    err = make_queue(made, kind == META_QUEUE_COMPUTE ? device->adopted : NULL);
    if (err) {
        ocl_queue_destroy(made);
        return err;
    }
    *queue = made;
    return META_OK;
}

void ocl_queue_destroy(meta_plugin_queue *queue)
{
    for (size_t k = 0; k < queue->count; ++k) clReleaseEvent(queue->untracked[k]);
    free(queue->untracked);
    if (queue->scratch) clReleaseMemObject(queue->scratch);
    if (queue->cl) clReleaseCommandQueue(queue->cl);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

static meta_err fail_of_command(cl_command_type command, cl_int status)
{
    return ocl_host->fail(META_ERR_DEVICE, "%s failed on the OpenCL device: %s (%d)",
                          ocl_command_name(command), ocl_error_name(status), (int)status);
}

/* The status of a command: CL_COMPLETE, above it while pending, below it where it failed. */
static cl_int event_status(cl_event event)
{
    cl_int status = CL_COMPLETE;
    const cl_int asked =
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return asked == CL_SUCCESS ? status : asked;
}

static cl_command_type event_command(cl_event event)
{
    cl_command_type command = 0;
    clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof command, &command, NULL);
    return command;
}

/* Release the events of complete commands; record the first failure. */
static void retire(meta_plugin_queue *queue)
{
    size_t kept = 0;
    for (size_t k = 0; k < queue->count; ++k) {
        cl_event event = queue->untracked[k];
        const cl_int status = event_status(event);
        if (status > CL_COMPLETE) {
            queue->untracked[kept++] = event;
            continue;
        }
        if (status < CL_COMPLETE && queue->failure == CL_SUCCESS) {
            queue->failure = status;
            queue->failed = event_command(event);
        }
        clReleaseEvent(event);
    }
    queue->count = kept;
}

/* Keep the event of a command without a ticket. */
static void keep_event(meta_plugin_queue *queue, cl_event event)
{
    pthread_mutex_lock(&queue->lock);
    if (queue->count == queue->room) {
        retire(queue);
        if (queue->count >= queue->room / 2) {
            const size_t room = queue->room ? 2 * queue->room : 64;
            cl_event *more = realloc(queue->untracked, room * sizeof *more);
            if (more) {
                queue->untracked = more;
                queue->room = room;
            } else {
                clFinish(queue->cl);
                retire(queue);
            }
        }
    }
    if (queue->count < queue->room) queue->untracked[queue->count++] = event;
    else clReleaseEvent(event);
    pthread_mutex_unlock(&queue->lock);
}

/* Never META_ERR_NO_MEMORY, after which the core would queue the same work once more. */
meta_err ocl_submit(meta_plugin_queue *queue, cl_event last, meta_stamp *stamp, meta_ticket *ticket)
{
    ++queue->queued;
    const cl_int status = clFlush(queue->cl);
    if (status != CL_SUCCESS) {
        clFinish(queue->cl);
        clReleaseEvent(last);
        if (stamp && stamp->work) ocl_stamp_release(stamp->work), stamp->work = NULL;
        ocl_fail(status, "clFlush");
        return META_ERR_DEVICE;
    }
    if (ticket) *ticket = last;
    else keep_event(queue, last);
    return META_OK;
}

meta_err ocl_queue_finish(meta_plugin_queue *queue)
{
    cl_int failure;
    cl_command_type failed;
    const uint64_t queued = queue->queued;
    /* clFinish() of an idle queue is slow, and every meta_free() ends here. */
    if (queued == queue->finished && !queue->foreign) return META_OK;
    OCL_TRY(clFinish(queue->cl), "clFinish");
    queue->finished = queued;
    pthread_mutex_lock(&queue->lock);
    retire(queue);
    failure = queue->failure;
    failed = queue->failed;
    queue->failure = CL_SUCCESS;
    pthread_mutex_unlock(&queue->lock);
    return failure == CL_SUCCESS ? META_OK : fail_of_command(failed, failure);
}

meta_err ocl_queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    cl_event marker = NULL;
    cl_int status;
    OCL_TRY(clEnqueueMarkerWithWaitList(earlier->cl, 0, NULL, &marker),
            "clEnqueueMarkerWithWaitList");
    /* Commands that are never flushed may never run, and the barrier would wait for ever. */
    status = clFlush(earlier->cl);
    if (status == CL_SUCCESS) status = clEnqueueBarrierWithWaitList(queue->cl, 1, &marker, NULL);
    clReleaseEvent(marker);
    OCL_TRY(status, "clEnqueueBarrierWithWaitList");
    ++queue->queued;
    return META_OK;
}

/* The ticket's queue has been flushed by ocl_submit(). */
meta_err ocl_queue_wait(meta_plugin_queue *queue, meta_ticket ticket)
{
    cl_event event = ticket;
    cl_context context = NULL;
    if (!ticket) return META_OK;
    OCL_TRY(clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL),
            "clGetEventInfo");
    if (context != queue->device->context)
        return ocl_host->fail(META_ERR_UNSUPPORTED,
                              "OpenCL device %s cannot wait for the work of another cl_context",
                              queue->device->about.name);
    OCL_TRY(clEnqueueBarrierWithWaitList(queue->cl, 1, &event, NULL),
            "clEnqueueBarrierWithWaitList");
    ++queue->queued;
    return META_OK;
}

/* ------------------------------------------------------------------ timestamps */

/* The first and the last command of a launch. */
typedef struct stamp {
    cl_event first, last;
} stamp;

void ocl_stamp_make(cl_event first, cl_event last, meta_stamp *made)
{
    stamp *s = malloc(sizeof *s);
    if (!s) return; /* the work runs all the same, without a time */
    *s = (stamp){first, last};
    if (clRetainEvent(first) != CL_SUCCESS) {
        free(s);
        return;
    }
    if (clRetainEvent(last) != CL_SUCCESS) {
        clReleaseEvent(first);
        free(s);
        return;
    }
    made->work = s;
}

/* The application's own queue, or one created before timing was on, may have no profiling. */
int ocl_stamp_read(void *work, uint64_t *begin, uint64_t *end)
{
    const stamp *s = work;
    cl_ulong start = 0, stop = 0;
    *begin = *end = 0;
    const cl_int status = event_status(s->last);
    if (status > CL_COMPLETE) return 0;
    if (status == CL_COMPLETE &&
        clGetEventProfilingInfo(s->first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ==
            CL_SUCCESS &&
        clGetEventProfilingInfo(s->last, CL_PROFILING_COMMAND_END, sizeof stop, &stop, NULL) ==
            CL_SUCCESS &&
        stop >= start) {
        *begin = start;
        *end = stop;
    }
    return 1;
}

void ocl_stamp_release(void *work)
{
    stamp *s = work;
    clReleaseEvent(s->first);
    clReleaseEvent(s->last);
    free(s);
}

/* ------------------------------------------------------------------ copies and tickets */

meta_err ocl_copy(meta_plugin_queue *queue, const meta_copy *copy)
{
    cl_event event = NULL;
    switch (copy->kind) {
    case META_COPY_H2D:
        OCL_TRY(clEnqueueWriteBuffer(queue->cl, copy->object, CL_FALSE, copy->offset, copy->bytes,
                                     copy->host, 0, NULL, &event),
                "clEnqueueWriteBuffer");
        break;
    case META_COPY_D2H:
        OCL_TRY(clEnqueueReadBuffer(queue->cl, copy->object, CL_FALSE, copy->offset, copy->bytes,
                                    copy->host, 0, NULL, &event),
                "clEnqueueReadBuffer");
        break;
    case META_COPY_PEER:
        OCL_TRY(clEnqueueCopyBuffer(queue->cl, copy->peer_object, copy->object, copy->peer_offset,
                                    copy->offset, copy->bytes, 0, NULL, &event),
                "clEnqueueCopyBuffer");
        break;
    default:
        return ocl_host->fail(META_ERR_UNSUPPORTED, "the OpenCL back end has no copies of kind %d",
                              (int)copy->kind);
    }
    if (copy->stamp) ocl_stamp_make(event, event, copy->stamp);
    return ocl_submit(queue, event, copy->stamp, copy->ticket);
}

/* The devices of a context share its memory objects. */
int ocl_copy_peer(meta_plugin_device *device, meta_plugin_device *peer)
{
    return device->context == peer->context;
}

meta_err ocl_ticket_test(meta_ticket ticket, int *complete)
{
    const cl_int status = ticket ? event_status(ticket) : CL_COMPLETE;
    *complete = status <= CL_COMPLETE;
    return status < CL_COMPLETE ? fail_of_command(event_command(ticket), status) : META_OK;
}

meta_err ocl_ticket_wait(meta_ticket ticket)
{
    cl_event event = ticket;
    cl_int status, state;
    if (!ticket) return META_OK;
    status = clWaitForEvents(1, &event);
    state = event_status(event);
    if (state < CL_COMPLETE) return fail_of_command(event_command(event), state);
    OCL_TRY(status, "clWaitForEvents");
    return META_OK;
}

void ocl_ticket_release(meta_ticket ticket)
{
    if (ticket) clReleaseEvent(ticket);
}
