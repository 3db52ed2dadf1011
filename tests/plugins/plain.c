/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain.c
 *  A complete external back end, the example of doc/plugins.md: one CPU thread on host memory.
 *  Work is complete when the call that queues it returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meta_host_kernels.h"

static const meta_host *host;

static meta_err init(const meta_host *libmeta)
{
    host = libmeta;
    return META_OK;
}

/* ------------------------------------------------------------------ the device */

/* There is one, and it has no state: the device and its queues are this object. */
static char only;

static int device_count(char *reason, size_t room)
{
    (void)reason, (void)room;
    return 1;
}

static meta_err device_info(int index, meta_device_desc *desc)
{
    (void)index;
    snprintf(desc->name, sizeof desc->name, "one thread");
    snprintf(desc->driver, sizeof desc->driver, "none");
    desc->memory = (uint64_t)1 << 30;
    desc->compute_units = 1;
    desc->has_f64 = 1;
    desc->is_host = 1;
    return META_OK;
}

static meta_err open_device(int index, const meta_state *state, meta_plugin_device **device)
{
    (void)index;
    if (state && (state->platform || state->device || state->context || state->queue))
        return host->fail(META_ERR_ARGUMENT, "argument 'state': there are no native objects here");
    *device = (meta_plugin_device *)(void *)&only;
    return META_OK;
}

static void close_device(meta_plugin_device *device)
{
    (void)device;
}

static meta_err state_of(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state)
{
    (void)device, (void)queue, (void)state;
    return META_OK;
}

/* ------------------------------------------------------------------ memory */

static meta_err allocate(meta_plugin_device *device, size_t bytes, meta_memory *memory)
{
    void *address;
    (void)device;
    if (posix_memalign(&address, 64, bytes) != 0)
        return host->fail(META_ERR_NO_MEMORY, "there are no %zu bytes", bytes);
    *memory = (meta_memory){address, address, bytes};
    return META_OK;
}

static void release(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device;
    free(memory->object);
}

static meta_err wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory)
{
    (void)device, (void)kind;
    *memory = (meta_memory){native, native, bytes};
    return META_OK;
}

static void unwrap(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device, (void)memory;
}

/* ------------------------------------------------------------------ the queue */

static meta_err queue_create(meta_plugin_device *device, meta_queue_kind kind,
                             meta_plugin_queue **queue)
{
    (void)kind;
    *queue = (meta_plugin_queue *)(void *)device;
    return META_OK;
}

static void queue_destroy(meta_plugin_queue *queue)
{
    (void)queue;
}

static meta_err queue_finish(meta_plugin_queue *queue)
{
    (void)queue;
    return META_OK;
}

static meta_err queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    (void)queue, (void)earlier;
    return META_OK;
}

static meta_err copy(meta_plugin_queue *queue, meta_copy_kind kind, void *memory, void *object,
                     uint64_t offset, size_t bytes, meta_ticket *ticket)
{
    char *mine = (char *)object + offset;
    (void)queue;
    if (kind == META_COPY_H2D) memmove(mine, memory, bytes);
    else memmove(memory, mine, bytes);
    if (ticket) *ticket = NULL; /* complete */
    return META_OK;
}

static meta_err launch(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                       meta_ticket *ticket)
{
    (void)queue;
    if (ticket) *ticket = NULL;
    for (size_t k = 0; k < count; ++k) {
        const meta_err error = meta_host_run(host, &calls[k]);
        if (error != META_OK) return error;
    }
    return META_OK;
}

/* No ticket but the complete one is ever given out. */
static meta_err ticket_test(meta_ticket ticket, int *complete)
{
    (void)ticket;
    *complete = 1;
    return META_OK;
}

static meta_err ticket_wait(meta_ticket ticket)
{
    (void)ticket;
    return META_OK;
}

static void ticket_release(meta_ticket ticket)
{
    (void)ticket;
}

static const meta_ops ops = {
    .size = sizeof ops,
    .device_count = device_count,
    .device_info = device_info,
    .open = open_device,
    .close = close_device,
    .state = state_of,
    .alloc = allocate,
    .free = release,
    .wrap = wrap,
    .unwrap = unwrap,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_finish = queue_finish,
    .queue_after = queue_after,
    .copy = copy,
    .launch = launch,
    .ticket_test = ticket_test,
    .ticket_wait = ticket_wait,
    .ticket_release = ticket_release,
};

META_API const meta_plugin meta_plugin_v1 = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .size = sizeof meta_plugin_v1,
    .name = "plain", /* of the file as well: plain.so */
    .description = "one thread of the CPU",
    .init = init,
    .ops = &ops,
};
