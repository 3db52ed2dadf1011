/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Kernel launches: the shape of a launch, its arguments, and the two steps of a reduction. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "opencl.h"

/* On a CPU a work group is one share of the work: enough of them that no core is left without,
 * none so small that handing it out costs more than doing it. */
#define CPU_GROUPS_PER_UNIT 8
#define CPU_LEAST_ELEMENTS  4096
/* On a GPU a work item is about one element, up to this many groups to a compute unit. */
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

static shape shape_for_gpu(const ocl_about *about, const ocl_kernel *kernel,
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

static shape shape_of(const meta_plugin_device *device, const ocl_kernel *kernel,
                      const meta_space *space, uint64_t most)
{
    return device->about.is_cpu ? shape_for_cpu(&device->about, space, most)
                                : shape_for_gpu(&device->about, kernel, space, most);
}

static size_t groups_of(const shape *s)
{
    return s->global[0] / s->local[0] * (s->global[1] / s->local[1]);
}

/* The local memory that a kernel needs: an accumulator of each work item, or the one that exact
 * sums share, which has digits for either sign. */
static size_t local_bytes(uint32_t id, size_t items)
{
    return meta_kernel_is_exact(id) ? 2 * OCL_EXACT_BYTES : items * OCL_PARTIAL_BYTES;
}

static cl_int set_buffer(cl_kernel kernel, cl_uint index, void *object)
{
    cl_mem buffer = object;
    return clSetKernelArg(kernel, index, sizeof buffer, buffer ? &buffer : NULL);
}

/* Set all arguments anew, as a buffer of an earlier launch may be gone. */
static cl_int set_arguments(cl_kernel kernel, const meta_call *call, cl_mem partials, size_t items)
{
    cl_ulong scalar;
    cl_int status;
    memcpy(&scalar, call->scalar, sizeof scalar);
    status = set_buffer(kernel, 0, call->object[0]);
    if (status == CL_SUCCESS) status = set_buffer(kernel, 1, call->object[1]);
    if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 2, sizeof scalar, &scalar);
    if (status == CL_SUCCESS) status = clSetKernelArg(kernel, 3, sizeof call->space, &call->space);
    if (status == CL_SUCCESS) status = set_buffer(kernel, 4, partials);
    if (status == CL_SUCCESS)
        status = clSetKernelArg(kernel, 5, local_bytes(call->kernel, items), NULL);
    return status;
}

static meta_err fail_of_kernel(const char *function, const ocl_kernel *kernel, cl_int status)
{
    char call[96];
    snprintf(call, sizeof call, "%s(%s)", function, kernel->name);
    return ocl_fail(status, call);
}

static meta_err enqueue(meta_plugin_queue *queue, const ocl_kernel *kernel, const meta_call *call,
                        const shape *s, cl_event *event)
{
    cl_int status = set_arguments(kernel->cl, call, queue->scratch, s->local[0] * s->local[1]);
    if (status != CL_SUCCESS) return fail_of_kernel("clSetKernelArg", kernel, status);
    status =
        clEnqueueNDRangeKernel(queue->cl, kernel->cl, 2, NULL, s->global, s->local, 0, NULL, event);
    if (status != CL_SUCCESS) return fail_of_kernel("clEnqueueNDRangeKernel", kernel, status);
    return META_OK;
}

/* The kernel that combines the partial results of kernel @p id; 0 where it is no reduction. */
static uint32_t finish_of(uint32_t id)
{
    if (meta_kernel_is_exact(id)) return OCL_KERNEL_FINISH_EXACT;
    if (id < META_KERNEL_REDUCE_SUM) return 0;
    if (id == META_KERNEL_REDUCE_MIN) return OCL_KERNEL_FINISH_MIN;
    if (id == META_KERNEL_REDUCE_MAX) return OCL_KERNEL_FINISH_MAX;
    return OCL_KERNEL_FINISH_SUM;
}

/* Combine the partial results, into the result's place on the device or by way of scratch into
 * host memory. The queue is in order, so the next reduction cannot overwrite either too early. */
static meta_err finish(meta_plugin_queue *queue, const ocl_kernel *kernel, const meta_call *call,
                       size_t partials, cl_event *event)
{
    static const shape one = {{1, 1}, {1, 1}};
    const int wide = call->type <= META_U64 && call->type != META_F32;
    const size_t bytes = wide || meta_kernel_is_exact(call->kernel) ? 8 : 4;
    const int to_host = call->result_host != NULL;
    meta_call combine = {.type = call->type};
    combine.object[0] = queue->scratch;
    combine.object[1] = to_host ? queue->scratch : call->result_object;
    combine.space.ndim = 1;
    combine.space.rows = 1;
    combine.space.extent[0] = (int64_t)partials;
    combine.space.layout[1].base = (int64_t)((to_host ? OCL_ELEMENT_AT : call->result_offset) / bytes);
    OCL_TRY_META(enqueue(queue, kernel, &combine, &one, to_host ? NULL : event));
    if (to_host)
        OCL_TRY(clEnqueueReadBuffer(queue->cl, queue->scratch, CL_FALSE, OCL_ELEMENT_AT, bytes,
                                    call->result_host, 0, NULL, event),
                "clEnqueueReadBuffer(result)");
    return META_OK;
}

/* @p event, if it is not NULL, becomes that of the last command queued, and @p first that of the
 * first one. */
static meta_err launch_one(meta_plugin_queue *queue, const meta_call *call, cl_event *first,
                           cl_event *event)
{
    meta_plugin_device *device = queue->device;
    const uint32_t last = finish_of(call->kernel);
    const ocl_kernel *kernel = NULL, *combine = NULL;
    shape s;
    OCL_TRY_META(ocl_kernel_get(device, call->kernel, call->type, &kernel));
    s = shape_of(device, kernel, &call->space, last ? OCL_MAX_PARTIALS : UINT32_MAX);
    if (!last) {
        cl_event *only = event ? event : first;
        OCL_TRY_META(enqueue(queue, kernel, call, &s, only));
        if (first && only != first) OCL_TRY(clRetainEvent(*first = *only), "clRetainEvent");
        return META_OK;
    }
    OCL_TRY_META(ocl_kernel_get(device, last, call->type, &combine));
    OCL_TRY_META(enqueue(queue, kernel, call, &s, first));
    return finish(queue, combine, call, groups_of(&s), event);
}

/* Build what is missing before anything is queued, and without keeping others from launching. */
static meta_err prepare(meta_plugin_device *device, const meta_call *calls, size_t count)
{
    const ocl_kernel *kernel;
    for (size_t k = 0; k < count; ++k)
        OCL_TRY_META(ocl_kernel_get(device, calls[k].kernel, calls[k].type, &kernel));
    return META_OK;
}

meta_err ocl_launch_timed(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                          meta_ticket *ticket, meta_stamp *stamp)
{
    cl_event event = NULL, first = NULL;
    meta_err err = META_OK;
    if (count == 0) {
        if (ticket) *ticket = NULL;
        return META_OK;
    }
    OCL_TRY_META(prepare(queue->device, calls, count));
    pthread_mutex_lock(&queue->device->launch_lock);
    for (size_t k = 0; !err && k < count; ++k)
        err = launch_one(queue, &calls[k], stamp && k == 0 ? &first : NULL,
                         k + 1 == count ? &event : NULL);
    pthread_mutex_unlock(&queue->device->launch_lock);
    if (err) {
        /* The caller may free what was queued of the unit. */
        clFinish(queue->cl);
        if (first) clReleaseEvent(first);
        return err;
    }
    if (first) {
        ocl_stamp_make(first, event, stamp);
        clReleaseEvent(first);
    }
    return ocl_submit(queue, event, ticket);
}

meta_err ocl_launch(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                    meta_ticket *ticket)
{
    return ocl_launch_timed(queue, calls, count, ticket, NULL);
}
