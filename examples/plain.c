/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain.c
 *  A complete back end, the worked example of doc/plugins.md: one CPU thread, whose device memory
 * is host memory. All work is synchronous: it is complete when the call that queues it returns. */
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

/* There is one device and it has no state: this object stands for it and its queues. */
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
        return host->fail(META_ERR_ARGUMENT,
                          "argument 'state': this back end has no native objects");
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
        return host->fail(META_ERR_NO_MEMORY, "the host has no %zu bytes left", bytes);
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

/* ------------------------------------------------------------------ kernels */

static meta_err kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel)
{
    (void)device;
    return meta_host_kernel_create(host, source, kernel);
}

/* ------------------------------------------------------------------ queues, copies and launches */

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

/* Work is complete when the call that queues it returns: there is nothing to order. */
static meta_err queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    (void)queue, (void)earlier;
    return META_OK;
}

static meta_err queue_wait(meta_plugin_queue *queue, meta_ticket ticket)
{
    (void)queue, (void)ticket;
    return META_OK;
}

static meta_err copy(meta_plugin_queue *queue, const meta_copy *what)
{
    char *mine = (char *)what->object + what->offset;
    (void)queue;
    if (what->kind == META_COPY_H2D) memmove(mine, what->host, what->bytes);
    else memmove(what->host, mine, what->bytes);
    if (what->ticket) *what->ticket = NULL; /* complete */
    return META_OK;
}

static meta_err launch(meta_plugin_queue *queue, const meta_launch *unit)
{
    (void)queue;
    for (size_t k = 0; k < unit->count; ++k) meta_host_run(meta_launch_call(unit, k));
    if (unit->ticket) *unit->ticket = NULL;
    return META_OK;
}

/* The only ticket ever returned is NULL, the complete one. */
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
    .kernel_create = kernel_create,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_finish = queue_finish,
    .queue_after = queue_after,
    .queue_wait = queue_wait,
    .copy = copy,
    .launch = launch,
    .ticket_test = ticket_test,
    .ticket_wait = ticket_wait,
    .ticket_release = ticket_release,
};

META_API const meta_plugin meta_plugin_v2 = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .size = sizeof meta_plugin_v2,
    .name = "plain", /* the file is plain.so */
    .description = "one CPU thread",
    .init = init,
    .ops = &ops,
};
