/* SPDX-License-Identifier: BSD-3-Clause */
/** @file backend.c
 *  META_MODE=auto as a back end: what the rooms above launch and copy goes to one of the devices.
 *
 *  Buffers order work by themselves: what touches the same bytes runs in the order in which it was
 * queued. Host memory is ordered for each queue: work that reads or writes some runs behind earlier
 * work that does. */
#include "auto/auto.h"

#include <stdlib.h>

/* One of the two queues: on each lane the last work that used host memory. */
struct meta_plugin_queue {
    meta_queue_kind kind;
    uint64_t host[META_SLABS_LANES];
};

/* A kernel object stands for those of the devices, which are made where it is launched. */
struct meta_plugin_kernel {
    const meta_kernel_desc *desc;
};

/* A ticket: work, mostly of one lane. */
typedef struct ticket {
    size_t count;
    meta_auto_work *work[];
} ticket;

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
    const meta_err error = meta_auto_finish();
    unlock();
    return error;
}

static meta_err queue_after(meta_plugin_queue *queue, meta_plugin_queue *earlier)
{
    lock();
    for (int k = 0; k < 2 * meta_auto.devices; ++k)
        if (earlier->host[k] > queue->host[k]) queue->host[k] = earlier->host[k];
    unlock();
    return META_OK;
}

static meta_err queue_wait(meta_plugin_queue *queue, meta_ticket of)
{
    const ticket *t = of;
    lock();
    for (size_t k = 0; t && k < t->count; ++k) {
        const meta_auto_work *w = t->work[k];
        if (w->number > queue->host[w->lane]) queue->host[w->lane] = w->number;
    }
    unlock();
    return META_OK;
}

/* Behind the queue's earlier work with host memory. */
static meta_err order_host(const meta_plugin_queue *queue, meta_auto_lane *lane)
{
    for (int k = 0; k < 2 * meta_auto.devices; ++k)
        if (queue->host[k] > meta_auto.done[k])
            META_TRY(meta_auto_order(lane, meta_mark_of(k, queue->host[k])));
    return META_OK;
}

/* ------------------------------------------------------------------ tickets */

static meta_err ticket_test(meta_ticket of, int *complete)
{
    const ticket *t = of;
    meta_err first = META_OK;
    *complete = 1;
    lock();
    for (size_t k = 0; t && k < t->count; ++k) {
        int one;
        const meta_err error = meta_auto_test(t->work[k], &one);
        *complete &= one;
        if (first == META_OK) first = error;
    }
    unlock();
    return first;
}

static meta_err ticket_wait(meta_ticket of)
{
    const ticket *t = of;
    meta_err first = META_OK;
    lock();
    for (size_t k = 0; t && k < t->count; ++k) {
        const meta_err error = meta_auto_wait_work(t->work[k]);
        if (first == META_OK) first = error;
    }
    unlock();
    return first;
}

static void ticket_release(meta_ticket of)
{
    ticket *t = of;
    if (!t) return;
    lock();
    for (size_t k = 0; k < t->count; ++k) meta_auto_drop(t->work[k]);
    unlock();
    free(t);
}

/* Add work to a ticket, which may be NULL; without memory for it the work is waited for. */
static meta_err add_work(ticket **t, meta_auto_work *work)
{
    if (!work) return META_OK;
    const size_t count = *t ? (*t)->count : 0;
    ticket *larger = realloc(*t, sizeof *larger + (count + 1) * sizeof(meta_auto_work *));
    if (!larger) {
        const meta_err error = meta_auto_wait_work(work);
        meta_auto_drop(work);
        return error;
    }
    larger->work[count] = work;
    larger->count = count + 1;
    *t = larger;
    return META_OK;
}

/* ------------------------------------------------------------------ stamps */

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

/* Hand a stamp of @p ops on to whoever asked for one, and to what learns from it. */
static void share_stamp(const meta_ops *ops, const meta_stamp *stamp, meta_stamp *asked,
                        const meta_auto_sample *sample)
{
    const int users = (asked != NULL) + (sample != NULL);
    if (users == 0) return;
    if (!stamp->work && asked) *asked = *stamp;
    meta_auto_stamp *shared = meta_auto_share(ops, stamp, users);
    if (!shared) {
        if (stamp->work) ops->stamp_release(stamp->work);
        return;
    }
    if (asked && stamp->work) asked->work = shared;
    else if (asked) meta_auto_stamp_drop(shared);
    if (sample) meta_auto_sampled(sample, shared);
}

/* ------------------------------------------------------------------ copies */

/* A part of a copy, on one device. */
static meta_err copy_part(meta_plugin_queue *queue, const meta_copy *all,
                          const meta_auto_range *range, int d, ticket **t)
{
    meta_auto_lane *lane = meta_auto_lane_of(d, queue->kind);
    const meta_ops *ops = &lane->of->device->backend->ops;
    meta_plugin_queue *real;
    meta_ticket own = NULL;
    meta_stamp stamp = {0};
    meta_auto_work *work = NULL;
    META_TRY(meta_auto_acquire(lane, range, 1));
    META_TRY(order_host(queue, lane));
    META_TRY(meta_auto_queue(lane, &real));
    const meta_copy part = {.size = sizeof part,
                            .kind = all->kind,
                            .object = range->buffer->copy[d].object,
                            .offset = range->begin,
                            .bytes = range->end - range->begin,
                            .host = (char *)all->host + (range->begin - all->offset),
                            .ticket = &own,
                            .stamp = all->stamp ? &stamp : NULL};
    const meta_err error = ops->copy(real, &part);
    if (error == META_ERR_DEVICE) meta_auto_fails(meta_auto_lane_number(lane), lane->last + 1);
    META_TRY(error);
    const meta_mark mark = meta_auto_queued(lane, own, all->ticket ? &work : NULL);
    queue->host[meta_auto_lane_number(lane)] = meta_mark_number(mark);
    meta_auto_commit(range, 1, d, mark);
    share_stamp(ops, &stamp, all->stamp, NULL);
    meta_ran_on = lane->of->device;
    return add_work(t, work);
}

static uint32_t allowed(const meta_auto_buffer *b)
{
    return b->pinned >= 0 ? UINT32_C(1) << b->pinned : meta_auto_usable();
}

/* A copy on device @p d, or on another one if it has no memory for the buffer or fails. */
static meta_err copy_anywhere(meta_plugin_queue *queue, const meta_copy *copy,
                              const meta_auto_range *range, int d, ticket **t)
{
    uint32_t among = allowed(range->buffer);
    for (;;) {
        const meta_err error = copy_part(queue, copy, range, d, t);
        const bool fails = error == META_ERR_DEVICE && meta_auto.failed >> d & 1;
        among &= ~(UINT32_C(1) << d);
        if ((error != META_ERR_NO_MEMORY && !fails) || !among) return error;
        d = meta_auto_choose_copy(range, among);
    }
}

/* From where the bytes are: if they are on several devices, as many parts. */
static meta_err copy_out(meta_plugin_queue *queue, const meta_copy *copy, ticket **t)
{
    meta_auto_buffer *b = copy->object;
    const uint64_t end = copy->offset + copy->bytes;
    for (uint64_t at = copy->offset; at < end;) {
        const meta_auto_slab *slab = &b->slabs->slab[meta_slabs_find(b->slabs, at)];
        meta_auto_range range = {b, at, slab->end < end ? slab->end : end, .reads = true};
        const int d = meta_auto_choose_copy(&range, allowed(b));
        /* The next slabs as well, as far as they are there. */
        size_t k = (size_t)(slab - b->slabs->slab) + 1;
        while (range.end < end && b->slabs->slab[k].valid >> d & 1) {
            range.end = b->slabs->slab[k].end < end ? b->slabs->slab[k].end : end;
            ++k;
        }
        at = range.end;
        META_TRY(copy_anywhere(queue, copy, &range, d, t));
    }
    return META_OK;
}

static meta_err copy_in(meta_plugin_queue *queue, const meta_copy *copy, ticket **t)
{
    meta_auto_buffer *b = copy->object;
    const meta_auto_range range = {b, copy->offset, copy->offset + copy->bytes, .writes = true};
    return copy_anywhere(queue, copy, &range, meta_auto_choose_copy(&range, allowed(b)), t);
}

/* A part of the work failed: complete what is queued of it. @return the error, @p error */
static meta_err abandon(ticket *t, meta_err error)
{
    if (!t) return error;
    char *message = meta_error_copy();
    for (size_t k = 0; k < t->count; ++k) {
        meta_auto_wait_work(t->work[k]);
        meta_auto_drop(t->work[k]);
    }
    free(t);
    if (message) meta_fail_as(error, message);
    free(message);
    return error;
}

static meta_err copy(meta_plugin_queue *queue, const meta_copy *c)
{
    ticket *t = NULL;
    if (c->ticket) *c->ticket = NULL;
    if (c->bytes == 0) return META_OK;
    lock();
    ++meta_auto.calls;
    const meta_err error =
        c->kind == META_COPY_H2D ? copy_in(queue, c, &t) : copy_out(queue, c, &t);
    meta_cost_copied(c->object, c->bytes);
    if (error != META_OK) abandon(t, error);
    else if (c->ticket) *c->ticket = t;
    unlock();
    return error;
}

/* ------------------------------------------------------------------ launches */

/* The calls of a launch as they are launched on a device, with what they touch. */
typedef struct bound {
    meta_auto_range *range;
    size_t ranges;
    meta_call *call;
    void **object;      /**< META_MAX_OPERANDS for each call */
    meta_result *where; /**< META_KERNEL_PARAMETERS for each call */
    bool uses_host;
} bound;

/* Most launches have one call, and then memory of the stack does. */
enum { FEW = 1 };
typedef struct few {
    meta_auto_range range[FEW * META_AUTO_RANGES];
    meta_call call[FEW];
    void *object[FEW * META_MAX_OPERANDS];
    meta_result where[FEW * META_KERNEL_PARAMETERS];
} few;

static bool make_room(bound *b, few *f, size_t count)
{
    *b = (bound){f->range, 0, f->call, f->object, f->where, false};
    if (count <= FEW) return true;
    b->range = malloc(count * META_AUTO_RANGES * sizeof *b->range);
    b->call = malloc(count * sizeof *b->call);
    b->object = malloc(count * META_MAX_OPERANDS * sizeof *b->object);
    b->where = malloc(count * META_KERNEL_PARAMETERS * sizeof *b->where);
    return b->range && b->call && b->object && b->where;
}

static void give_room(bound *b, const few *f)
{
    if (b->call == f->call) return;
    free(b->range);
    free(b->call);
    free(b->object);
    free(b->where);
}

static uint32_t results_of(const meta_kernel_desc *desc)
{
    if (desc->results) return desc->results;
    return desc->combine != META_COMBINE_none;
}

static void look_at(const meta_launch *launch, bound *b)
{
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        b->ranges += (size_t)meta_auto_touched(call, b->range + b->ranges);
        for (uint32_t k = 0; k < results_of(call->desc); ++k)
            b->uses_host |= call->result[k].host != NULL;
    }
}

/* With META_CHECK=on a program's kernel is built without the checks of the device's own: what they
 * note has no place here. Those of the CPU's code need none. */
static meta_err object_of(meta_device *device, const meta_kernel_desc *desc, uint32_t type,
                          meta_plugin_kernel **kernel)
{
    if (desc->family != META_FAMILY_USER || !meta_user_is_checked(device))
        return meta_kernel_object(device, desc, type, kernel);
    struct meta_kernel_state *state = meta_user_of(desc);
    const uint32_t form = meta_user_form(state, device) & ~(uint32_t)META_USER_CHECKED;
    return meta_user_object_as(device, state, form, kernel);
}

static meta_err bind_kernels(const meta_launch *launch, bound *b, meta_device *device)
{
    for (size_t n = 0; n < launch->count; ++n) {
        b->call[n] = *meta_launch_call(launch, n);
        const meta_call *call = &b->call[n];
        META_TRY(object_of(device, call->desc, call->type, &b->call[n].kernel));
    }
    return META_OK;
}

static void bind_objects(const meta_launch *launch, bound *b, int d)
{
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        void **object = b->object + n * META_MAX_OPERANDS;
        meta_result *where = b->where + n * META_KERNEL_PARAMETERS;
        const uint32_t results = results_of(call->desc);
        for (uint32_t k = 0; k < call->desc->operands; ++k)
            object[k] = ((meta_auto_buffer *)call->object[k])->copy[d].object;
        for (uint32_t k = 0; k < results; ++k) {
            where[k] = call->result[k];
            if (!where[k].host)
                where[k].object = ((meta_auto_buffer *)where[k].object)->copy[d].object;
        }
        b->call[n].object = object;
        if (results) b->call[n].result = where;
    }
}

/* Launch on device @p d. *tried: the launch reached the device, whose error is then the call's. */
static meta_err launch_on(meta_plugin_queue *queue, const meta_launch *launch, bound *b, int d,
                          ticket **t, bool *tried)
{
    meta_auto_lane *lane = meta_auto_lane_of(d, queue->kind);
    meta_device *device = lane->of->device;
    const meta_ops *ops = &device->backend->ops;
    meta_plugin_queue *real;
    meta_ticket own = NULL;
    meta_stamp stamp = {0};
    meta_auto_sample sample;
    meta_auto_work *work = NULL;
    META_TRY(bind_kernels(launch, b, device));
    META_TRY(meta_auto_acquire(lane, b->range, b->ranges));
    if (b->uses_host) META_TRY(order_host(queue, lane));
    META_TRY(meta_auto_queue(lane, &real));
    bind_objects(launch, b, d);
    const bool wanted = meta_cost_wanted(launch, d, &sample);
    meta_launch mine = *launch;
    mine.calls = b->call;
    mine.stride = sizeof *b->call;
    mine.ticket = &own;
    mine.stamp = wanted || launch->stamp ? &stamp : NULL;
    *tried = true;
    META_TRY(ops->launch(real, &mine));
    const meta_mark mark = meta_auto_queued(lane, own, launch->ticket ? &work : NULL);
    if (b->uses_host) queue->host[meta_auto_lane_number(lane)] = meta_mark_number(mark);
    meta_auto_commit(b->range, b->ranges, d, mark);
    share_stamp(ops, &stamp, launch->stamp, wanted ? &sample : NULL);
    meta_ran_on = device;
    return add_work(t, work);
}

/* The devices that may run it: those that can hold pinned operands, which is one at most. */
static uint32_t where_allowed(const bound *b)
{
    uint32_t among = meta_auto_usable();
    for (size_t k = 0; k < b->ranges; ++k) among &= allowed(b->range[k].buffer);
    return among;
}

static meta_err kept_apart(const bound *b)
{
    const meta_auto_buffer *first = NULL, *other = NULL;
    char one[48], two[48];
    for (size_t k = 0; k < b->ranges; ++k) {
        const meta_auto_buffer *buffer = b->range[k].buffer;
        if (buffer->pinned < 0) continue;
        if (!first) first = buffer;
        else if (buffer->pinned != first->pinned) other = buffer;
    }
    return meta_fail(META_ERR_WRONG_DEVICE,
                     "the buffer at %p is kept on %s and that at %p on %s, by meta_wrap() or "
                     "meta_native(): copy one of them, or call meta_native_end() first",
                     first->address, meta_auto_name(first->pinned, one), other->address,
                     meta_auto_name(other->pinned, two));
}

/* A device that lacks the kernel, its type or memory is left out. */
static bool leaves_out(meta_err error)
{
    return error == META_ERR_NO_MEMORY || error == META_ERR_TYPE || error == META_ERR_UNSUPPORTED;
}

meta_err meta_auto_prepare(const meta_kernel_desc *desc, uint32_t type)
{
    meta_err error = META_OK;
    bool any = false;
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_plugin_kernel *unused;
        const meta_err one = object_of(meta_auto.device[d].device, desc, type, &unused);
        if (one != META_OK && !leaves_out(one)) return one;
        if (one == META_OK) any = true;
        else error = one;
    }
    return any ? META_OK : error;
}

static meta_err launch_somewhere(meta_plugin_queue *queue, const meta_launch *launch, bound *b,
                                 ticket **t)
{
    meta_auto_choice choice = {launch, b->range, b->ranges, where_allowed(b)};
    if (!meta_auto_usable())
        return meta_fail(META_ERR_DEVICE, "all devices of META_MODE=auto have failed");
    if (!choice.among) return kept_apart(b);
    for (;;) {
        bool tried = false;
        const int d = meta_auto_choose(&choice);
        const meta_err error = launch_on(queue, launch, b, d, t, &tried);
        choice.among &= ~(UINT32_C(1) << d);
        if (tried && error == META_ERR_DEVICE) {
            const meta_auto_lane *lane = meta_auto_lane_of(d, queue->kind);
            meta_auto_fails(meta_auto_lane_number(lane), lane->last + 1);
        } else if (tried || !leaves_out(error)) {
            return error;
        }
        if (error == META_OK || !choice.among) return error;
        if (!tried && error != META_ERR_NO_MEMORY) meta_cost_refused(d);
    }
}

static meta_err launch(meta_plugin_queue *queue, const meta_launch *l)
{
    few on_stack;
    bound b;
    ticket *t = NULL;
    meta_err error;
    if (l->ticket) *l->ticket = NULL;
    if (l->count == 0) return META_OK;
    lock();
    ++meta_auto.calls;
    if (make_room(&b, &on_stack, l->count)) {
        look_at(l, &b);
        error = launch_somewhere(queue, l, &b, &t);
    } else {
        error = meta_fail(META_ERR_NO_MEMORY, "the host has no memory for %zu calls", l->count);
    }
    give_room(&b, &on_stack);
    if (error != META_OK) abandon(t, error);
    else if (l->ticket) *l->ticket = t;
    unlock();
    return error;
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
