/* SPDX-License-Identifier: BSD-3-Clause */
/** @file backend.c
 *  META_MODE=auto as a back end: its table. What the rooms above launch and copy goes to one of the
 * devices. */
#include "auto/auto.h"
#include "auto/share.h"

#include <stdlib.h>

/* A kernel object stands for those of the devices, which are made where it is launched. */
struct meta_plugin_kernel {
    const meta_kernel_desc *desc;
};

static char only; /* the device has no state of its own beside meta_auto */

static void lock(void)
{
    pthread_mutex_lock(&meta_auto.lock);
}
static void unlock(void)
{
    pthread_mutex_unlock(&meta_auto.lock);
}

/* ------------------------------------------------------------------ the device */

static meta_err init(const meta_host *host)
{
    (void)host;
    return META_OK;
}

static int device_count(char *reason, size_t room)
{
    return meta_auto_any(reason, room);
}

static meta_err device_info(int index, meta_device_desc *desc)
{
    (void)index;
    return meta_auto_describe(desc);
}

static meta_err open_device(int index, const meta_state *state, meta_plugin_device **device)
{
    (void)index;
    if (state && (state->platform || state->device || state->context || state->queue))
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'state': META_AUTO stands for several devices: set the state of "
                         "one of them");
    *device = (meta_plugin_device *)(void *)&only;
    return meta_auto_open();
}

static void close_device(meta_plugin_device *device)
{
    (void)device;
    meta_auto_close();
}

static meta_err state_of(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state)
{
    (void)device, (void)queue, (void)state;
    return meta_fail(META_ERR_UNSUPPORTED,
                     "META_AUTO stands for several devices: ask for the state "
                     "of one of them");
}

/* ------------------------------------------------------------------ memory */

static meta_err allocate(meta_plugin_device *device, size_t bytes, meta_memory *memory)
{
    (void)device;
    lock();
    const meta_err error = meta_auto_alloc(bytes, memory);
    unlock();
    return error;
}

static void release(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device;
    lock();
    meta_cost_leave(memory->object);
    meta_auto_free(memory);
    unlock();
}

static meta_err wrap(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory)
{
    (void)device;
    lock();
    const meta_err error = meta_auto_wrap(native, bytes, kind, memory);
    unlock();
    return error;
}

static void unwrap(meta_plugin_device *device, const meta_memory *memory)
{
    (void)device;
    lock();
    meta_cost_leave(memory->object);
    meta_auto_unwrap(memory);
    unlock();
}

/* Of the first device that has page-locked memory; NULL: none. */
static const meta_device *locking(void)
{
    for (int d = 0; d < meta_auto.devices; ++d)
        if (meta_auto.device[d].device->backend->ops.host_alloc) return meta_auto.device[d].device;
    return NULL;
}

static meta_err host_alloc(meta_plugin_device *device, size_t bytes, void **ptr)
{
    enum { PAGE = 4096 };
    const meta_device *of = locking();
    (void)device;
    if (of) return of->backend->ops.host_alloc(of->plugin, bytes, ptr);
    *ptr = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    return *ptr ? META_OK : meta_fail(META_ERR_NO_MEMORY, "the host has no %zu bytes", bytes);
}

static void host_free(meta_plugin_device *device, void *ptr, size_t bytes)
{
    const meta_device *of = locking();
    (void)device;
    if (of) of->backend->ops.host_free(of->plugin, ptr, bytes);
    else free(ptr);
}

/* ------------------------------------------------------------------ kernels */

static meta_err kernel_create(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel)
{
    (void)device;
    *kernel = malloc(sizeof **kernel);
    if (!*kernel) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a kernel");
    (*kernel)->desc = source->desc;
    return META_OK;
}

static void kernel_destroy(meta_plugin_device *device, meta_plugin_kernel *kernel)
{
    (void)device;
    free(kernel);
}

/* ------------------------------------------------------------------ queues */

static meta_err queue_create(meta_plugin_device *device, meta_queue_kind kind,
                             meta_plugin_queue **queue)
{
    (void)device;
    *queue = calloc(1, sizeof **queue);
    if (!*queue) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a queue");
    (*queue)->kind = kind;
    return META_OK;
}

static void queue_destroy(meta_plugin_queue *queue)
{
    lock();
    meta_auto_finish();
    unlock();
    free(queue);
}

static meta_err queue_finish(meta_plugin_queue *queue)
{
    (void)queue;
    lock();
    meta_auto_finish_apart();
    const meta_err error = meta_auto_finish();
    meta_share_waited();
    unlock();
    return error;
}

static meta_err queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    lock();
    meta_auto_queue_after(queue, earlier);
    unlock();
    return META_OK;
}

static meta_err queue_wait(meta_plugin_queue *queue, meta_ticket ticket)
{
    lock();
    meta_auto_queue_wait(queue, ticket);
    unlock();
    return META_OK;
}

static meta_err copy(meta_plugin_queue *queue, const meta_copy *c)
{
    lock();
    const meta_err error = meta_auto_copy_on(queue, c);
    unlock();
    return error;
}

static meta_err launch(meta_plugin_queue *queue, const meta_launch *l)
{
    lock();
    const meta_err error = meta_auto_launch_on(queue, l);
    unlock();
    return error;
}

/* ------------------------------------------------------------------ tickets and stamps */

static meta_err ticket_test(meta_ticket ticket, int *complete)
{
    lock();
    const meta_err error = meta_auto_ticket_test(ticket, complete);
    unlock();
    return error;
}

static meta_err ticket_wait(meta_ticket ticket)
{
    lock();
    const meta_err error = meta_auto_ticket_wait(ticket);
    unlock();
    return error;
}

static void ticket_release(meta_ticket ticket)
{
    lock();
    meta_auto_ticket_free(ticket);
    unlock();
}

static int stamp_read(void *work, uint64_t *begin, uint64_t *end)
{
    meta_auto_stamp *s = work;
    lock();
    const bool known = meta_auto_stamp_read(s);
    if (known) *begin = s->stamp.begin, *end = s->stamp.end;
    unlock();
    return known;
}

static void stamp_release(void *work)
{
    lock();
    meta_auto_stamp_drop(work);
    unlock();
}

/* ------------------------------------------------------------------ the table */

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
    .host_alloc = host_alloc,
    .host_free = host_free,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
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
    .stamp_read = stamp_read,
    .stamp_release = stamp_release,
};

const meta_plugin meta_auto_plugin = {
    .magic = META_PLUGIN_MAGIC,
    .abi_major = META_PLUGIN_ABI_MAJOR,
    .abi_minor = META_PLUGIN_ABI_MINOR,
    .size = sizeof(meta_plugin),
    .name = "auto",
    .description = "several devices, of which libmeta chooses one for each call",
    .init = init,
    .ops = &ops,
};
