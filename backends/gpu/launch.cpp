/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.cpp
 *  Kernel launches: how a space is dealt out over blocks, several calls of a kernel in one launch,
 *  and the two steps of a reduction. */
#include "gpu.h"

#include "kernels.h"

#include <cstring>

/* Of a reduction over what is only read, twice as many blocks as run at once, since each thread
 * should take many elements; of everything else up to GPU_BLOCKS_PER_UNIT to a multiprocessor. */
#define REDUCTION_BLOCKS_PER_UNIT 6
/* Threads that a multiprocessor should find to do: twice what it runs at once. */
#define THREADS_PER_UNIT 4096
/* Rows that a thread takes one after the other where there are enough for all. */
#define MOST_ROWS 16
/* Cells of a stencil's march, of which two more planes are read; and log2 of the threads that lie
 * across its columns: with eight rows of them, most neighbours are read by the same block. */
#define LONGEST_MARCH     64
#define STENCIL_COLUMNS   5
#define COALESCED_COLUMNS 5

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static uint64_t parts(uint64_t total, uint64_t size)
{
    return total / size + (total % size != 0);
}

/* How many of @p length steps each thread takes, where @p others threads would be there for each.
 */
static uint64_t steps_of(const meta_plugin_device *device, uint64_t length, uint64_t others,
                         uint64_t most)
{
    const uint64_t enough = parts((uint64_t)device->units * THREADS_PER_UNIT, others);
    const uint64_t steps = enough < length ? length / enough : 1;
    return at_most(steps, most);
}

/* What a thread does: of a stencil a march along one dimension, else some rows. @return how many of
 * these there are. */
static uint64_t set_depth(const meta_plugin_device *device, const gpu_kernel *kernel,
                          meta_gpu_call *call)
{
    const uint64_t columns = (uint64_t)call->space.extent[0], rows = (uint64_t)call->space.rows;
    const uint64_t length = kernel->along ? (uint64_t)call->space.extent[kernel->along] : rows;
    const uint64_t lines = rows / length;
    uint64_t depth = 1;
    if (kernel->along) depth = steps_of(device, length, columns * lines, LONGEST_MARCH);
    else if (columns >> COALESCED_COLUMNS) depth = steps_of(device, length, columns, MOST_ROWS);
    call->depth = (uint32_t)depth;
    call->pieces = (uint32_t)parts(length, depth);
    return lines * parts(length, depth);
}

/* Deal the space out. @return how many blocks it needs. */
static unsigned deal(const meta_plugin_device *device, const gpu_kernel *kernel,
                     meta_gpu_call *call)
{
    const uint64_t columns = (uint64_t)call->space.extent[0];
    const uint64_t units = (uint64_t)device->units;
    const uint64_t lines = set_depth(device, kernel, call);
    const int only_reads = kernel->finish && !kernel->along;
    const uint64_t wanted = units * (only_reads ? REDUCTION_BLOCKS_PER_UNIT : GPU_BLOCKS_PER_UNIT);
    const uint64_t room = kernel->exact ? GPU_MAX_EXACT : GPU_MAX_PARTIALS;
    const uint64_t most = kernel->finish ? at_most(wanted, room) : wanted;
    const uint32_t most_log2 = kernel->along ? STENCIL_COLUMNS : 31;
    uint32_t log2 = 0;
    while ((uint64_t)1 << log2 < columns && 1 << log2 < META_GPU_BLOCK && log2 < most_log2) ++log2;
    const uint64_t wide = at_most(parts(columns, (uint64_t)1 << log2), most);
    const uint64_t high = at_most(parts(lines, META_GPU_BLOCK >> log2), most / wide);
    call->columns_log2 = log2;
    call->wide = (uint32_t)wide;
    call->high = (uint32_t)high;
    return call->wide * call->high;
}

static void set_arguments(const meta_call *from, meta_gpu_call *call)
{
    for (int k = 0; k < META_SPACE_OPERANDS; ++k) call->operand[k] = from->object[k];
    memcpy(&call->scalar, from->scalar, sizeof call->scalar);
    call->space = from->space;
}

static meta_err run_one(meta_plugin_queue *queue, meta_gpu_kernel<1>::type *kernel,
                        const meta_gpu_calls<1> &calls, unsigned blocks)
{
    GPU_TRY_AS(GPU_PREFIX "LaunchKernel", gpu_run(kernel, dim3(blocks), dim3(META_GPU_BLOCK),
                                                  queue->stream, calls, queue->partials));
    return META_OK;
}

static size_t element_bytes(uint32_t type)
{
    return type == META_F64 || type == META_I64 || type == META_U64 ? 8 : 4;
}

/* Combine the partial results, into the result's place on the device or a slot that the device
 * writes through; the queue is in order, so the next reduction cannot overwrite them too early. */
static meta_err finish(meta_plugin_queue *queue, const gpu_kernel *kernel, const meta_call *call,
                       unsigned partials)
{
    const size_t bytes = kernel->exact ? 8 : element_bytes(call->type);
    meta_gpu_calls<1> calls = {};
    meta_gpu_call *combine = &calls.call[0];
    combine->operand[0] = queue->partials;
    combine->space.extent[0] = partials;
    if (call->result_host) {
        GPU_TRY_META(gpu_result_slot(queue, call->result_host, bytes, &combine->operand[1]));
    } else {
        combine->operand[1] = call->result_object;
        combine->space.layout[1].base = (meta_i64)(call->result_offset / bytes);
    }
    return run_one(queue, kernel->finish, calls, 1);
}

static meta_err launch_one(meta_plugin_queue *queue, const gpu_kernel *kernel,
                           const meta_call *call)
{
    meta_gpu_calls<1> calls;
    set_arguments(call, &calls.call[0]);
    const unsigned blocks = deal(queue->device, kernel, &calls.call[0]);
    GPU_TRY_META(run_one(queue, kernel->one, calls, blocks));
    return kernel->finish ? finish(queue, kernel, call, blocks) : META_OK;
}

static meta_err launch_many(meta_plugin_queue *queue, const gpu_kernel *kernel,
                            const meta_call *call, size_t count)
{
    meta_gpu_calls<GPU_MAX_CALLS> calls;
    unsigned blocks = 0;
    for (size_t k = 0; k < count; ++k) {
        set_arguments(&call[k], &calls.call[k]);
        const unsigned needed = deal(queue->device, kernel, &calls.call[k]);
        if (needed > blocks) blocks = needed;
    }
    GPU_TRY_AS(GPU_PREFIX "LaunchKernel",
               gpu_run(kernel->many, dim3(blocks, (unsigned)count), dim3(META_GPU_BLOCK),
                       queue->stream, calls, queue->partials));
    return META_OK;
}

/* How many of the calls, from the first on, can be launched as one. */
static size_t alike(const gpu_kernel *kernel, const meta_call *calls, size_t count)
{
    size_t n = 1;
    if (!kernel->many) return 1;
    while (n < count && n < GPU_MAX_CALLS &&
           gpu_kernel_of(calls[n].kernel, calls[n].type).many == kernel->many)
        ++n;
    return n;
}

static meta_err launch_all(meta_plugin_queue *queue, const meta_call *calls, size_t count)
{
    for (size_t k = 0, n; k < count; k += n) {
        const gpu_kernel kernel = gpu_kernel_of(calls[k].kernel, calls[k].type);
        if (!kernel.one)
            return gpu_host->fail(META_ERR_TYPE, "the %s back end has no kernel %u for type %u",
                                  GPU_TITLE, calls[k].kernel, calls[k].type);
        n = alike(&kernel, &calls[k], count - k);
        if (n == 1) GPU_TRY_META(launch_one(queue, &kernel, &calls[k]));
        else GPU_TRY_META(launch_many(queue, &kernel, &calls[k], n));
    }
    return META_OK;
}

/* The caller may free what was queued of a unit that failed, and expects no result of it. */
static void abandon(meta_plugin_queue *queue)
{
    (void)GPU(StreamSynchronize)(queue->stream);
    gpu_results_drop(queue);
}

meta_err gpu_launch_timed(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                          meta_ticket *ticket, meta_stamp *stamp)
{
    if (ticket) *ticket = NULL;
    if (count == 0) return META_OK;
    GPU_TRY_META(gpu_use(queue->device));
    pthread_mutex_lock(&queue->lock);
    ++queue->sequence;
    gpu_stamp_begin(queue, stamp);
    meta_err error = launch_all(queue, calls, count);
    if (error == META_OK && ticket) error = gpu_ticket_put(queue, ticket);
    gpu_stamp_end(queue, stamp, error != META_OK);
    if (error != META_OK) abandon(queue);
    pthread_mutex_unlock(&queue->lock);
    return error;
}

meta_err gpu_launch(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                    meta_ticket *ticket)
{
    return gpu_launch_timed(queue, calls, count, ticket, NULL);
}
