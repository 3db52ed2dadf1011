/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plugin.c
 *  The OpenMP back end: one device, the CPU cores of this process, which uses host memory. Work is
 *  synchronous, complete when the call that queues it returns, and so is every ticket. */
#include "openmp.h"

#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const meta_host *openmp_host;

static meta_err init(const meta_host *host)
{
    openmp_host = host;
    const meta_err error = openmp_variant_choose();
    return error != META_OK ? error : stream_begin();
}

static void fini(void) {}

/* ------------------------------------------------------------------ the device */

static int device_count(char *reason, size_t room)
{
    (void)reason, (void)room;
    return 1;
}

static void processor_name(char *name, size_t room)
{
    char line[256];
    FILE *info = fopen("/proc/cpuinfo", "r");
    snprintf(name, room, "CPU");
    while (info && fgets(line, sizeof line, info)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += strspn(value, ": \t");
        snprintf(name, room, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (info) fclose(info);
}

static meta_err device_info(int index, meta_device_desc *desc)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    (void)index;
    processor_name(desc->name, sizeof desc->name);
    snprintf(desc->driver, sizeof desc->driver, "OpenMP %d, compiled by %s, %s kernels", _OPENMP,
             __VERSION__, openmp_variant_name());
    desc->memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    desc->compute_units = openmp_host->threads();
    desc->has_f64 = 1;
    desc->is_host = 1;
    desc->is_gpu = 0;
    return META_OK;
}

/* The only device is stateless, so this object is the handle of the device and of its queues. */
static char only;

static meta_err open_device(int index, const meta_state *state, meta_plugin_device **device)
{
    (void)index;
    if (state && (state->platform || state->device || state->context || state->queue))
        return openmp_host->fail(META_ERR_ARGUMENT, "argument 'state': the OpenMP back end has no "
                                                    "native objects, its members must be NULL");
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

/* ------------------------------------------------------------------ the queues */

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

/* Every ticket is complete. */
static meta_err queue_wait(meta_plugin_queue *queue, meta_ticket ticket)
{
    (void)queue, (void)ticket;
    return META_OK;
}

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
    .alloc = openmp_alloc,
    .free = openmp_free,
    .wrap = openmp_wrap,
    .unwrap = openmp_unwrap,
    .host_alloc = NULL, /* the core's aligned allocation suffices */
    .host_free = NULL,
    .kernel_create = openmp_kernel_create,
    .kernel_destroy = openmp_kernel_destroy,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_finish = queue_finish,
    .queue_after = queue_after,
    .queue_wait = queue_wait,
    .copy = openmp_copy,
    .launch = openmp_launch,
    .ticket_test = ticket_test,
    .ticket_wait = ticket_wait,
    .ticket_release = ticket_release,
    .checks = META_CHECKS_CPU,
};

META_API const meta_plugin meta_plugin_v2 = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .size = sizeof(meta_plugin),
    .name = "openmp",
    .description = "CPU cores of this process, by OpenMP",
    .init = init,
    .fini = fini,
    .ops = &ops,
};
