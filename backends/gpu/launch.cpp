/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.cpp
 *  Kernel launches: how an iteration space is mapped to a grid of blocks, how several calls of one
 *  kernel are fused into one launch, and the two passes of a reduction. */
#include "user.h"

#include <cstring>

/* Blocks per multiprocessor of a reduction that only reads: twice what can be resident, since each
 * thread should accumulate many elements. Everything else gets up to GPU_BLOCKS_PER_UNIT. */
#define REDUCTION_BLOCKS_PER_UNIT (2 * META_GPU_RESIDENT)
/* Threads per multiprocessor worth having: twice what can be resident. */
#define THREADS_PER_UNIT 4096
/* The most rows that one thread takes in succession. */
#define MOST_ROWS 16
/* The most cells of a stencil's march, which reads two more planes than it writes; and log2 of the
 * threads across its columns: with eight rows of them in a block, the block's own loads serve most
 * neighbours. */
#define LONGEST_MARCH     64
#define STENCIL_COLUMNS   5
#define COALESCED_COLUMNS 5

static const gpu_kernel *kernel_of(const meta_call *call)
{
    return (const gpu_kernel *)(const void *)call->kernel;
}

/* The dimension that a stencil marches along, see stencil.h: the last of its grid; 0 for every
 * other kernel. */
static uint32_t march_of(const meta_call *call)
{
    return call->desc->grid ? call->desc->grid - 1 : 0;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
}

static uint64_t parts(uint64_t total, uint64_t size)
{
    return total / size + (total % size != 0);
}

/* How many of @p length steps a thread takes where @p others threads run for each step. */
static uint64_t steps_of(const meta_plugin_device *device, uint64_t length, uint64_t others,
                         uint64_t most)
{
    const uint64_t enough = parts((uint64_t)device->units * THREADS_PER_UNIT, others);
    const uint64_t steps = enough < length ? length / enough : 1;
    return at_most(steps, most);
}

/* A mapping, with the pieces of a march. */
struct grid : gpu_mapping {
    uint32_t pieces;
};

/* The most blocks of a launch, which is a reduction where @p partials are not 0. */
static uint64_t most_blocks(const meta_plugin_device *device, int only_reads, uint64_t partials)
{
    const uint64_t wanted = (uint64_t)device->units * (only_reads ? REDUCTION_BLOCKS_PER_UNIT
                                                                  : (uint64_t)GPU_BLOCKS_PER_UNIT);
    return partials ? at_most(wanted, partials) : wanted;
}

/* Map @p space to at most @p most blocks: a thread takes a march along a dimension, or where @p
 * along is 0 some rows. */
static grid map_to_grid(const meta_plugin_device *device, const meta_space *space, uint32_t along,
                        uint64_t most)
{
    const uint64_t columns = (uint64_t)space->extent[0], rows = (uint64_t)space->rows;
    const uint64_t length = along ? (uint64_t)space->extent[along] : rows;
    const uint32_t most_log2 = along ? STENCIL_COLUMNS : 31;
    uint64_t depth = 1;
    uint32_t log2 = 0;
    grid g;
    if (along) depth = steps_of(device, length, columns * (rows / length), LONGEST_MARCH);
    else if (columns >> COALESCED_COLUMNS) depth = steps_of(device, length, columns, MOST_ROWS);
    g.depth = (uint32_t)depth;
    g.pieces = (uint32_t)parts(length, depth);
    const uint64_t lines = rows / length * g.pieces;
    while ((uint64_t)1 << log2 < columns && 1 << log2 < META_GPU_BLOCK && log2 < most_log2) ++log2;
    g.columns_log2 = log2;
    g.wide = (uint32_t)at_most(parts(columns, (uint64_t)1 << log2), most);
    g.high = (uint32_t)at_most(parts(lines, META_GPU_BLOCK >> log2), most / g.wide);
    return g;
}

/* Map a call of a built-in kernel. @return how many blocks that needs. */
static unsigned map_call(const meta_plugin_device *device, const meta_call *from,
                         meta_gpu_call *call)
{
    const uint32_t along = march_of(from);
    const int reduces = kernel_of(from)->finish != NULL;
    const uint64_t partials =
        from->desc->combine == META_COMBINE_exact ? GPU_MAX_EXACT : GPU_MAX_PARTIALS;
    const grid g = map_to_grid(device, from->space, along,
                               most_blocks(device, reduces && !along, reduces ? partials : 0));
    call->columns_log2 = g.columns_log2;
    call->wide = g.wide;
    call->high = g.high;
    call->depth = g.depth;
    call->pieces = g.pieces;
    return g.wide * g.high;
}

/* Count the space of a move in elements of 16 bytes, where all rows begin and end at multiples of
 * those in both arrays. */
static void widen(const meta_call *from, meta_gpu_call *call)
{
    const meta_i64 n = 16 / (meta_i64)meta_element_bytes(from->type);
    meta_space *s = &call->space;
    uint64_t elements = (uint64_t)s->extent[0], address = 0;
    call->widened = 0;
    if (from->desc->family != META_FAMILY_MOVE || from->desc->operands != 2) return;
    for (int k = 0; k < 2; ++k) {
        meta_layout *layout = &s->layout[k];
        if (layout->stride[0] != 1) return;
        address |= (uint64_t)(uintptr_t)call->operand[k];
        elements |= (uint64_t)layout->base;
        for (meta_i64 d = 1; d < s->ndim; ++d) elements |= (uint64_t)layout->stride[d];
    }
    if (address % 16 != 0 || elements % (uint64_t)n != 0) return;
    s->extent[0] /= n;
    for (int k = 0; k < 2; ++k) {
        s->layout[k].base /= n;
        for (meta_i64 d = 1; d < s->ndim; ++d) s->layout[k].stride[d] /= n;
    }
    call->widened = 1;
}

/* The core leaves out the layouts of operands that the kernel does not have. */
static void set_arguments(const meta_call *from, meta_gpu_call *call)
{
    const uint32_t operands = from->desc->operands;
    for (uint32_t k = 0; k < META_SPACE_OPERANDS; ++k)
        call->operand[k] = k < operands ? from->object[k] : NULL;
    memset(&call->space.layout, 0, sizeof call->space.layout);
    memcpy(&call->space, from->space, meta_space_bytes(operands));
    call->scalar = 0;
    if (from->desc->values > 0) memcpy(&call->scalar, from->values, meta_element_bytes(from->type));
    widen(from, call);
}

static meta_err run_one(meta_plugin_queue *queue, meta_gpu_kernel<1>::type *kernel,
                        const meta_gpu_calls<1> &calls, unsigned blocks)
{
    GPU_TRY_AS(GPU_PREFIX "LaunchKernel", gpu_run(kernel, dim3(blocks), dim3(META_GPU_BLOCK),
                                                  queue->stream, calls, queue->partials));
    return META_OK;
}

/* The second pass of a reduction: combine @p count partial results into the result's memory object,
 * or into a slot of page-locked memory for one that goes to the host. The queue is in order, so the
 * next reduction cannot overwrite the partial results before this pass has read them. @p placed:
 * the call, of a result with its place, see extremes.h; else NULL. */
static meta_err combine(meta_plugin_queue *queue, meta_gpu_kernel<1>::type *finish,
                        const meta_result *result, size_t bytes, void *partials, unsigned count,
                        const meta_call *placed)
{
    meta_gpu_calls<1> calls = {};
    meta_gpu_call *second = &calls.call[0];
    second->operand[0] = partials;
    if (placed) {
        memcpy(&second->space, placed->space, offsetof(meta_space, layout));
        for (meta_i64 d = 0; d < placed->space->ndim; ++d)
            second->space.layout[0].stride[d] = placed->start[d];
        second->scalar = count;
    } else {
        second->space.extent[0] = count;
    }
    if (result->host) {
        META_TRY(gpu_result_slot(queue, result->host, bytes, &second->operand[1]));
    } else {
        second->operand[1] = result->object;
        second->space.layout[1].base =
            (meta_i64)(result->offset / (placed ? sizeof(meta_i64) : bytes));
    }
    return run_one(queue, finish, calls, 1);
}

static meta_err launch_one(meta_plugin_queue *queue, const meta_call *call)
{
    const gpu_kernel *kernel = kernel_of(call);
    meta_gpu_calls<1> calls;
    set_arguments(call, &calls.call[0]);
    const unsigned blocks = map_call(queue->device, call, &calls.call[0]);
    META_TRY(run_one(queue, kernel->one, calls, blocks));
    if (!kernel->finish) return META_OK;
    return combine(queue, kernel->finish, call->result,
                   call->desc->combine == META_COMBINE_exact ? 8 : meta_element_bytes(call->type),
                   queue->partials, blocks, NULL);
}

/* ------------------------------------------------------------------ the application's kernels */

/* Arguments that are too large to be passed by value are copied behind the partial results. The
 * queue is in order, so that no launch before this one still reads its own there. */
static meta_err run_user(meta_plugin_queue *queue, const gpu_user_kernel *kernel,
                         const meta_call *call, const grid *g)
{
    const size_t bytes = gpu_program_bytes(call->desc);
    void *const arguments = __builtin_alloca(bytes); /* up to GPU_PROGRAM_BYTES */
    void *passed = arguments;
    gpu_program_arguments(call, g, arguments);
    if (kernel->passing == GPU_IN_MEMORY && GPU_IS_GPU) {
        passed = (char *)queue->partials + GPU_PARTIALS_BYTES;
        GPU_TRY(MemcpyAsync, (passed, arguments, bytes, GPU(MemcpyHostToDevice), queue->stream));
    }
    return gpu_code_run(&kernel->code, g->wide * g->high,
                        kernel->team ? meta_team_items(kernel->team) : META_GPU_BLOCK,
                        queue->stream, kernel->passing, passed, bytes, queue->partials);
}

/* A block computes one team at a time. */
static grid map_teams(const meta_kernel_team *team, const meta_space *space, uint64_t most)
{
    grid g = {};
    g.wide = (uint32_t)at_most((uint64_t)meta_team_count_all(team, space), most);
    g.high = 1;
    return g;
}

/* The partial results of each result are behind those of the one before. */
static meta_err launch_user(meta_plugin_queue *queue, const meta_call *call)
{
    const gpu_user_kernel *kernel = static_cast<const gpu_user_kernel *>(kernel_of(call));
    const uint32_t results = call->desc->results;
    const uint64_t room = GPU_PARTIALS_BYTES / sizeof(uint64_t);
    const uint64_t partials = results ? at_most(GPU_MAX_PARTIALS, room / kernel->words) : 0;
    const uint64_t most = most_blocks(queue->device, kernel->only_reads, partials);
    const grid g = kernel->team ? map_teams(kernel->team, call->space, most)
                                : map_to_grid(queue->device, call->space, 0, most);
    const unsigned blocks = g.wide * g.high;
    uint64_t *of_result = (uint64_t *)queue->partials;
    META_TRY(run_user(queue, kernel, call, &g));
    for (uint32_t k = 0; k < results; ++k) {
        const gpu_user_result *r = &kernel->result[k];
        META_TRY(combine(queue, r->finish, &call->result[k], r->bytes, of_result, blocks,
                         r->has_place ? call : NULL));
        of_result += (size_t)r->words * blocks;
    }
    return META_OK;
}

/* ------------------------------------------------------------------ a unit of calls */

/* Calls [first, first + count) of the unit as one launch, with a row of blocks for each. */
static meta_err launch_fused(meta_plugin_queue *queue, const meta_launch *launch, size_t first,
                             size_t count)
{
    meta_gpu_calls<GPU_MAX_CALLS> calls;
    unsigned blocks = 0;
    for (size_t k = 0; k < count; ++k) {
        const meta_call *call = meta_launch_call(launch, first + k);
        set_arguments(call, &calls.call[k]);
        const unsigned needed = map_call(queue->device, call, &calls.call[k]);
        if (needed > blocks) blocks = needed;
    }
    GPU_TRY_AS(GPU_PREFIX "LaunchKernel",
               gpu_run(kernel_of(meta_launch_call(launch, first))->many,
                       dim3(blocks, (unsigned)count), dim3(META_GPU_BLOCK), queue->stream, calls,
                       queue->partials));
    return META_OK;
}

/* How many calls, from number @p first on, can be fused. */
static size_t alike(const meta_launch *launch, size_t first)
{
    const gpu_kernel *kernel = kernel_of(meta_launch_call(launch, first));
    size_t n = 1;
    if (!kernel->many) return 1;
    while (first + n < launch->count && n < GPU_MAX_CALLS &&
           kernel_of(meta_launch_call(launch, first + n))->many == kernel->many)
        ++n;
    return n;
}

static meta_err launch_all(meta_plugin_queue *queue, const meta_launch *launch)
{
    for (size_t k = 0, n; k < launch->count; k += n) {
        const meta_call *call = meta_launch_call(launch, k);
        n = alike(launch, k);
        if (!kernel_of(call)->one) META_TRY(launch_user(queue, call));
        else if (n == 1) META_TRY(launch_one(queue, call));
        else META_TRY(launch_fused(queue, launch, k, n));
    }
    return META_OK;
}

/* The caller may free the memory that a failed unit's kernels use, and expects no result of it. */
static void abandon(meta_plugin_queue *queue)
{
    (void)GPU(StreamSynchronize)(queue->stream);
    gpu_results_drop(queue);
}

/* ------------------------------------------------------------------ kernel objects */

/* The object of a built-in kernel points into the table of compiled kernels: nothing is made,
 * nothing looked up at launch, and there is nothing to destroy. */
meta_err gpu_kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                           meta_plugin_kernel **kernel)
{
    if (source->user) {
        gpu_user_kernel *made;
        META_TRY(gpu_user_create(device, source, &made));
        *kernel = (meta_plugin_kernel *)static_cast<gpu_kernel *>(made);
        return META_OK;
    }
    if (source->text)
        return gpu_host->fail(META_ERR_UNSUPPORTED,
                              "the %s back end does not compile kernel source text", GPU_TITLE);
    if (source->desc->number >= META_KERNEL_COUNT)
        return gpu_host->fail(META_ERR_UNSUPPORTED, "the %s back end has no kernel %u (%s)",
                              GPU_TITLE, source->desc->number, source->desc->name);
    const gpu_kernel *found = gpu_kernel_of(source->desc->number, source->type);
    if (!found)
        return gpu_host->fail(META_ERR_TYPE, "the %s back end has no kernel %s for type %s",
                              GPU_TITLE, source->desc->name, meta_element_name(source->type));
    *kernel = (meta_plugin_kernel *)const_cast<gpu_kernel *>(found);
    return META_OK;
}

void gpu_kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    gpu_kernel *found = (gpu_kernel *)(void *)kernel;
    if (!found->one) gpu_user_destroy(device, static_cast<gpu_user_kernel *>(found));
}

/* ------------------------------------------------------------------ launches */

meta_err gpu_launch(meta_plugin_queue *queue, const meta_launch *launch)
{
    if (launch->ticket) *launch->ticket = NULL;
    if (launch->count == 0) return META_OK;
    META_TRY(gpu_use(queue->device));
    pthread_mutex_lock(&queue->lock);
    ++queue->sequence;
    gpu_stamp_begin(queue, launch->stamp);
    meta_err error = launch_all(queue, launch);
    /* Recorded before the ticket: whoever has waited for that can read the times. */
    if (error == META_OK) gpu_stamp_end(queue, launch->stamp);
    if (error == META_OK && launch->ticket) error = gpu_ticket_put(queue, launch->ticket);
    if (error != META_OK) {
        gpu_stamp_drop(launch->stamp);
        abandon(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    return error;
}
