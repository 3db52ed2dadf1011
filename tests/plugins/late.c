/* SPDX-License-Identifier: BSD-3-Clause */
/** @file late.c
 *  A back end for tests of events that does its work as late as the ABI allows: when it is waited
 * for, when the queue is finished, or after a few tests. A fill with the byte LATE_FAULT fails
 * then. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "late.h"
#include "meta_host_kernels.h"

/* A copy of a call: what a launch points to is gone when its work is done. */
typedef struct kept_call {
    meta_call call;
    meta_space space;
    void *object[META_SPACE_OPERANDS];
    unsigned char value[8];
    meta_result result;
} kept_call;

/* A queue entry. It lives until its work is done and its ticket is released. */
typedef struct item {
    struct item *next;
    kept_call *calls; /* a launch of `count` calls, or a copy */
    size_t count;
    void *to;
    const void *from;
    size_t bytes;
    int tests; /* how often its ticket was tested */
    int done, tracked;
    meta_err error;
} item;

static const meta_host *host;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static item *first, **last = &first; /* both queues of the device share this list */
static meta_err untracked_error;
static char only;
static int times_described;

static meta_err init(const meta_host *libmeta)
{
    host = libmeta;
    return META_OK;
}

static int device_count(char *reason, size_t room)
{
    (void)reason, (void)room;
    return 1;
}

static meta_err device_info(int index, meta_device_desc *desc)
{
    (void)index;
    snprintf(desc->name, sizeof desc->name, "late");
    snprintf(desc->driver, sizeof desc->driver, "described %d times", ++times_described);
    desc->memory = (uint64_t)1 << 30;
    desc->compute_units = desc->has_f64 = desc->is_host = 1;
    return META_OK;
}

static meta_err open_device(int index, const meta_state *state, meta_plugin_device **device)
{
    (void)index, (void)state;
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

/* ------------------------------------------------------------------ the queue; with the lock held
 */

static meta_err fault(void)
{
    return host->fail(META_ERR_DEVICE, "the late device was told to fail");
}

static bool must_fail(const meta_call *call)
{
    return call->desc->number == META_KERNEL_FILL && call->type == META_U8 &&
           *(const unsigned char *)call->values == LATE_FAULT;
}

static void run(item *work)
{
    for (size_t k = 0; k < work->count && work->error == META_OK; ++k) {
        const meta_call *call = &work->calls[k].call;
        if (must_fail(call)) work->error = fault();
        else meta_host_run(call);
    }
    if (work->bytes > 0) memmove(work->to, work->from, work->bytes);
    work->done = 1;
}

static void run_first(void)
{
    item *work = first;
    first = work->next;
    if (!first) last = &first;
    run(work);
    if (work->tracked) return;
    if (untracked_error == META_OK) untracked_error = work->error;
    free(work->calls);
    free(work);
}

static meta_err append(const item *what, meta_ticket *ticket)
{
    item *work = malloc(sizeof *work);
    if (!work) return host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    *work = *what;
    work->tracked = ticket != NULL;
    pthread_mutex_lock(&lock);
    *last = work;
    last = &work->next;
    pthread_mutex_unlock(&lock);
    if (ticket) *ticket = work;
    return META_OK;
}

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
    meta_err error;
    (void)queue;
    pthread_mutex_lock(&lock);
    while (first) run_first();
    error = untracked_error;
    untracked_error = META_OK;
    pthread_mutex_unlock(&lock);
    return error == META_OK ? META_OK : fault();
}

/* There is one list, and it is in order. */
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
    const bool upload = what->kind == META_COPY_H2D;
    (void)queue;
    return append(&(item){.to = upload ? mine : what->host,
                          .from = upload ? what->host : mine,
                          .bytes = what->bytes},
                  what->ticket);
}

static void keep(kept_call *kept, const meta_call *call)
{
    kept->call = *call;
    kept->space = *call->space;
    for (uint32_t k = 0; k < call->desc->operands; ++k) kept->object[k] = call->object[k];
    if (call->desc->values > 0) memcpy(kept->value, call->values, meta_element_bytes(call->type));
    if (call->result) kept->result = *call->result;
    kept->call.space = &kept->space;
    kept->call.object = kept->object;
    kept->call.values = kept->value;
    kept->call.result = &kept->result;
}

static meta_err launch(meta_plugin_queue *queue, const meta_launch *unit)
{
    kept_call *calls = calloc(unit->count, sizeof *calls);
    (void)queue;
    if (!calls) return host->fail(META_ERR_NO_MEMORY, "the host has no memory left");
    for (size_t k = 0; k < unit->count; ++k) keep(&calls[k], meta_launch_call(unit, k));
    return append(&(item){.calls = calls, .count = unit->count}, unit->ticket);
}

/* ------------------------------------------------------------------ tickets */

static meta_err ticket_test(meta_ticket ticket, int *complete)
{
    item *work = ticket;
    meta_err error;
    pthread_mutex_lock(&lock);
    if (!work->done && ++work->tests >= LATE_TESTS)
        while (!work->done) run_first();
    *complete = work->done;
    error = work->done ? work->error : META_OK;
    pthread_mutex_unlock(&lock);
    return error == META_OK ? META_OK : fault();
}

static meta_err ticket_wait(meta_ticket ticket)
{
    item *work = ticket;
    meta_err error;
    pthread_mutex_lock(&lock);
    while (!work->done) run_first();
    error = work->error;
    pthread_mutex_unlock(&lock);
    return error == META_OK ? META_OK : fault();
}

static void ticket_release(meta_ticket ticket)
{
    item *work = ticket;
    pthread_mutex_lock(&lock);
    work->tracked = 0;
    if (work->done) {
        free(work->calls);
        free(work);
    }
    pthread_mutex_unlock(&lock);
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
    .name = "late",
    .description = "work done as late as possible",
    .init = init,
    .ops = &ops,
};
