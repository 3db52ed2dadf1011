/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Kernel launches: the shape of a launch, its arguments, and the two passes of a reduction. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "opencl.h"

/* On a CPU a work group is one share of the work: enough of them to keep all cores busy, none so
 * small that scheduling it costs more than computing it. */
#define CPU_GROUPS_PER_UNIT 8
#define CPU_LEAST_ELEMENTS  4096
/* On a GPU a work item computes about one element, up to this many groups per compute unit. */
#define GPU_GROUP           256
#define GPU_GROUPS_PER_UNIT 64

/* The work items of a launch: columns and rows. */
typedef struct shape {
    size_t global[2], local[2];
} shape;

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static uint64_t parts(uint64_t total, uint64_t size)
{
    return total / size + (total % size != 0);
}

static shape shape_for_cpu(const ocl_about *about, const meta_space *space, uint64_t most)
{
    const uint64_t columns = (uint64_t)space->extent[0], rows = (uint64_t)space->rows;
    const uint64_t wanted = at_most((uint64_t)about->units * CPU_GROUPS_PER_UNIT, most);
    const uint64_t each = columns < CPU_LEAST_ELEMENTS ? CPU_LEAST_ELEMENTS / columns : 1;
    const uint64_t high = at_most(parts(rows, each), wanted);
    const uint64_t wide = at_most(parts(columns, CPU_LEAST_ELEMENTS), wanted / high);
    return (shape){{wide, high}, {1, 1}};
}

/* The largest power of two that is neither above @p limit nor twice @p need or more. */
static uint64_t power_of_two(uint64_t need, uint64_t limit)
{
    uint64_t power = 1;
    while (power < need && 2 * power <= limit) power *= 2;
    return power;
}

static shape shape_for_gpu(const ocl_about *about, const meta_plugin_kernel *kernel,
                           const meta_space *space, uint64_t most)
{
    const uint64_t columns = (uint64_t)space->extent[0], rows = (uint64_t)space->rows;
    const uint64_t group = at_most(at_most(GPU_GROUP, kernel->group), about->group);
    const uint64_t x = power_of_two(columns, at_most(group, about->sides[0]));
    const uint64_t y = power_of_two(rows, at_most(group / x, about->sides[1]));
    const uint64_t groups = at_most((uint64_t)about->units * GPU_GROUPS_PER_UNIT, most);
    const uint64_t wide = at_most(parts(columns, x), groups);
    const uint64_t high = at_most(parts(rows, y), groups / wide);
    return (shape){{wide * x, high * y}, {x, y}};
}

static shape shape_for_team(const ocl_about *about, const meta_plugin_kernel *kernel,
                            const meta_space *space, uint64_t most)
{
    size_t groups, items;
    ocl_team_shape(about, kernel->team, space, most, &groups, &items);
    return (shape){{groups * items, 1}, {items, 1}};
}

/* ------------------------------------------------------------------ arguments */

static cl_int set_buffer(cl_kernel kernel, cl_uint index, void *object)
{
    cl_mem buffer = object;
    return clSetKernelArg(kernel, index, sizeof buffer, buffer ? &buffer : NULL);
}

/* What a launch has in buffers of its own, as another may still read those before it. The driver
 * keeps them until the kernel has run. NULL: it is an argument. */
typedef struct passed {
    cl_mem space, words;
} passed;

static cl_int pass(const meta_plugin_queue *queue, const void *from, size_t bytes, cl_mem *buffer)
{
    cl_int status = CL_SUCCESS;
    *buffer = clCreateBuffer(queue->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes,
                             (void *)(uintptr_t)from, &status);
    return status;
}

static void release(const passed *in)
{
    if (in->space) clReleaseMemObject(in->space);
    if (in->words) clReleaseMemObject(in->words);
}

static cl_int set_words(const meta_plugin_kernel *kernel, const char *values, cl_uint *index)
{
    cl_int status = CL_SUCCESS;
    for (uint32_t k = 0; k < kernel->scalars && status == CL_SUCCESS; ++k) {
        cl_ulong bits = 0; /* ocl_describe() rejects big-endian devices */
        if (k < kernel->values)
            memcpy(&bits, values + k * kernel->element_bytes, kernel->element_bytes);
        status = clSetKernelArg(kernel->cl, (*index)++, sizeof bits, &bits);
    }
    return status;
}

/* Set all arguments anew, as a buffer of an earlier launch may be gone. @p items: the size of a
 * work group. */
static cl_int set_arguments(const meta_plugin_kernel *kernel, const meta_call *call,
                            const passed *in, cl_mem partials, size_t items)
{
    const size_t space_bytes = meta_space_bytes(kernel->buffers);
    cl_uint index = 0;
    cl_int status = CL_SUCCESS;
    for (uint32_t k = 0; k < kernel->buffers && status == CL_SUCCESS; ++k)
        status = set_buffer(kernel->cl, index++, k < kernel->operands ? call->object[k] : NULL);
    if (status == CL_SUCCESS)
        status = in->words ? set_buffer(kernel->cl, index++, in->words)
                           : set_words(kernel, call->values, &index);
    if (status == CL_SUCCESS)
        status = in->space ? set_buffer(kernel->cl, index++, in->space)
                           : clSetKernelArg(kernel->cl, index++, space_bytes, call->space);
    if ((kernel->is_text && kernel->results == 0) || status != CL_SUCCESS) return status;
    status = set_buffer(kernel->cl, index++, partials);
    if (status != CL_SUCCESS) return status;
    /* An accumulator of each work item, or those that a group shares. */
    const size_t of_item = kernel->has_places ? OCL_PLACE_BYTES : OCL_PARTIAL_BYTES;
    const size_t of_items = kernel->is_exact ? OCL_SHARED_BYTES : items * of_item;
    return clSetKernelArg(kernel->cl, index, of_items > kernel->shared ? of_items : kernel->shared,
                          NULL);
}

static meta_err fail_of_kernel(const char *function, const meta_plugin_kernel *kernel,
                               cl_int status)
{
    char call[128];
    snprintf(call, sizeof call, "%s(%s)", function, kernel->name);
    return ocl_fail(status, call);
}

static meta_err enqueue(meta_plugin_queue *queue, const meta_plugin_kernel *kernel,
                        const meta_call *call, const shape *s, cl_event *event)
{
    passed in = {NULL, NULL};
    const char *failed = "clCreateBuffer";
    cl_int status = CL_SUCCESS;
    if (kernel->space_in_buffer)
        status = pass(queue, call->space, meta_space_bytes(kernel->buffers), &in.space);
    if (kernel->words_in_buffer && status == CL_SUCCESS)
        status = pass(queue, call->values, kernel->values * sizeof(cl_ulong), &in.words);
    if (status == CL_SUCCESS) {
        failed = "clSetKernelArg";
        status = set_arguments(kernel, call, &in, queue->scratch, s->local[0] * s->local[1]);
    }
    if (status == CL_SUCCESS) {
        failed = "clEnqueueNDRangeKernel";
        status = clEnqueueNDRangeKernel(queue->cl, kernel->cl, 2, NULL, s->global, s->local, 0,
                                        NULL, event);
    }
    release(&in);
    return status == CL_SUCCESS ? META_OK : fail_of_kernel(failed, kernel, status);
}

/* ------------------------------------------------------------------ launches */

/* Combine the partial results of @p call into its result number @p n: in place on the device, or in
 * scratch memory, from where it is copied to the host. */
static meta_err combine_partials(meta_plugin_queue *queue, const meta_call *call, uint32_t n,
                                 size_t partials, cl_event *event)
{
    static const shape one = {{1, 1}, {1, 1}};
    const ocl_result *r = &call->kernel->result[n];
    const meta_result *result = &call->result[n];
    const size_t bytes = r->bytes;
    const meta_i64 count = (meta_i64)partials;
    const bool to_host = result->host != NULL;
    const uint64_t offset =
        to_host ? OCL_RESULT_OFFSET + n * (uint64_t)OCL_RESULT_BYTES : result->offset;
    void *const object[] = {queue->scratch, to_host ? queue->scratch : result->object};
    meta_space space = {.ndim = 1, .rows = 1, .extent[0] = (int64_t)partials};
    const meta_call combine = {.object = object, .space = &space, .values = &count};
    if (r->has_place) { /* from the cell's number to its index */
        memcpy(&space, call->space, offsetof(meta_space, layout));
        for (meta_i64 d = 0; d < space.ndim; ++d) space.layout[0].stride[d] = call->start[d];
    }
    space.layout[0].base =
        (int64_t)((size_t)r->first * call->kernel->partials * OCL_PARTIAL_BYTES / r->partial_bytes);
    space.layout[1].base = (int64_t)(offset / r->unit);
    META_TRY(enqueue(queue, r->finish, &combine, &one, to_host ? NULL : event));
    if (to_host)
        OCL_TRY(clEnqueueReadBuffer(queue->cl, queue->scratch, CL_FALSE, offset, bytes,
                                    result->host, 0, NULL, event),
                "clEnqueueReadBuffer(result)");
    return META_OK;
}

/* Where they are not NULL, @p first becomes the event of the first command queued, @p last that of
 * the last. *queued becomes 1 once a part is queued of a call that fails later. */
static meta_err launch_one(meta_plugin_queue *queue, const meta_call *call, cl_event *first,
                           cl_event *last, int *queued)
{
    const meta_plugin_kernel *kernel = call->kernel;
    const ocl_about *about = &queue->device->about;
    const uint64_t most = kernel->results > 0 ? kernel->partials : UINT32_MAX;
    const shape s = kernel->team    ? shape_for_team(about, kernel, call->space, most)
                    : about->is_cpu ? shape_for_cpu(about, call->space, most)
                                    : shape_for_gpu(about, kernel, call->space, most);
    if (kernel->results > 0) {
        const size_t groups = s.global[0] / s.local[0] * (s.global[1] / s.local[1]);
        META_TRY(enqueue(queue, kernel, call, &s, first));
        *queued = 1;
        for (uint32_t n = 0; n + 1 < kernel->results; ++n)
            META_TRY(combine_partials(queue, call, n, groups, NULL));
        return combine_partials(queue, call, kernel->results - 1, groups, last);
    }
    META_TRY(enqueue(queue, kernel, call, &s, last ? last : first));
    if (first && last && clRetainEvent(*last) == CL_SUCCESS) *first = *last;
    return META_OK;
}

meta_err ocl_launch(meta_plugin_queue *queue, const meta_launch *launch)
{
    cl_event last = NULL, first = NULL;
    meta_err err = META_OK;
    int queued = 0;
    if (launch->count == 0) {
        if (launch->ticket) *launch->ticket = NULL;
        return META_OK;
    }
    pthread_mutex_lock(&queue->device->launch_lock);
    for (size_t k = 0; !err && k < launch->count; ++k)
        err =
            launch_one(queue, meta_launch_call(launch, k), launch->stamp && k == 0 ? &first : NULL,
                       k + 1 == launch->count ? &last : NULL, &queued);
    pthread_mutex_unlock(&queue->device->launch_lock);
    if (err) {
        /* The caller may free the operands of what was queued. */
        clFinish(queue->cl);
        if (first) clReleaseEvent(first);
        /* After META_ERR_NO_MEMORY the core would launch once more what has run in part. */
        return queued && err == META_ERR_NO_MEMORY ? META_ERR_DEVICE : err;
    }
    if (first) {
        ocl_stamp_make(first, last, launch->stamp);
        clReleaseEvent(first);
    }
    return ocl_submit(queue, last, launch->stamp, launch->ticket);
}
