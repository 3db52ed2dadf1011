/* SPDX-License-Identifier: BSD-3-Clause */
/** @file launch.c
 *  Launches: to the device that the policy chooses, or the next one where it cannot run them. */
#include "auto/auto.h"
#include "auto/worker.h"

#include <stdlib.h>

/* The calls of a launch as they are launched on a device, with what they touch. */
typedef struct bound {
    meta_auto_range *range;
    size_t ranges;
    meta_call *call;
    void **object;             /**< of one call after the other */
    meta_result *where;        /**< likewise */
    void *own;                 /**< memory for these; NULL: it is of the stack */
    meta_auto_host_range host; /* covers all results in host memory; may include bytes between */
    const meta_call *refused;  /**< whose kernel the device refuses; NULL: none */
} bound;

/* Memory of the stack does for any one call, and for the faces of an exchange. */
enum { FEW = 24, FEW_RANGES = META_AUTO_RANGES > 2 * FEW ? META_AUTO_RANGES : 2 * FEW };
typedef struct few {
    meta_auto_range range[FEW_RANGES];
    meta_call call[FEW];
    void *object[FEW_RANGES];
    meta_result where[FEW_RANGES];
} few;

static bool make_room(bound *b, few *f, const meta_launch *launch)
{
    size_t objects = 0, results = 0;
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_kernel_desc *desc = meta_launch_call(launch, n)->desc;
        objects += desc->operands;
        results += meta_auto_results(desc);
    }
    const size_t ranges = objects + results;
    *b = (bound){.range = f->range, .call = f->call, .object = f->object, .where = f->where};
    if (launch->count <= FEW && ranges <= FEW_RANGES) return true;
    b->own = malloc(ranges * sizeof *b->range + launch->count * sizeof *b->call +
                    results * sizeof *b->where + objects * sizeof *b->object);
    if (!b->own) return false;
    b->range = b->own;
    b->call = (meta_call *)(void *)(b->range + ranges);
    b->where = (meta_result *)(void *)(b->call + launch->count);
    b->object = (void **)(void *)(b->where + results);
    return true;
}

static void look_at(const meta_launch *launch, bound *b)
{
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        b->ranges += (size_t)meta_auto_touched(call, b->range + b->ranges);
        meta_auto_add_results(call, &b->host);
    }
}

/* With META_CHECK=on a program's kernel notes what is wrong in a buffer, which is an operand more,
 * on devices that have no other place for it. A call without it runs the kernel without checks. */
static meta_err object_of(meta_device *device, const meta_kernel_desc *desc, uint32_t type,
                          meta_plugin_kernel **kernel)
{
    if (desc->family != META_FAMILY_USER || desc->number == META_USER_CHECKED_NUMBER ||
        !meta_user_is_checked(device))
        return meta_kernel_object(device, desc, type, kernel);
    struct meta_kernel_state *state = meta_user_of(desc);
    const uint32_t form = meta_user_form(state, device) & ~(uint32_t)META_USER_CHECKED;
    return meta_user_object_as(device, state, form, kernel);
}

static meta_err bind_kernels(const meta_launch *launch, bound *b, meta_device *device)
{
    for (size_t n = 0; n < launch->count; ++n) {
        meta_call *call = &b->call[n];
        *call = *meta_launch_call(launch, n);
        if (__builtin_expect(call->desc->number == META_USER_CHECKED_NUMBER, 0))
            call->desc = meta_user_desc_on(call->desc, meta_user_is_checked(device));
        const meta_err error = object_of(device, call->desc, call->type, &call->kernel);
        if (error == META_OK) continue;
        if (error != META_ERR_NO_MEMORY) b->refused = meta_launch_call(launch, n);
        return error;
    }
    return META_OK;
}

/* For checks of GET() in code for the CPU: what the core knows of a buffer holds for its copy. */
static void tell_checks(const meta_call *call, void *const *object)
{
    for (uint32_t k = 0; k < call->desc->operands; ++k) {
        const meta_operand_desc *o = &call->desc->operand[k];
        if (o->reach != META_REACH_WHOLE) continue;
        const size_t bytes = meta_element_bytes(o->own_type ? o->own_type - 1 : call->type);
        const size_t offset = (size_t)meta_call_layout(call, k)->base * bytes;
        meta_user_expect_also((char *)call->object[k] + offset, (char *)object[k] + offset);
    }
}

static void bind_objects(const meta_launch *launch, bound *b, int d)
{
    void **object = b->object;
    meta_result *where = b->where;
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        const uint32_t results = meta_auto_results(call->desc);
        for (uint32_t k = 0; k < call->desc->operands; ++k)
            object[k] = ((meta_auto_buffer *)call->object[k])->copy[d].object;
        for (uint32_t k = 0; k < results; ++k) {
            where[k] = call->result[k];
            if (!where[k].host)
                where[k].object = ((meta_auto_buffer *)where[k].object)->copy[d].object;
        }
        if (__builtin_expect(meta_check_on, 0)) tell_checks(call, object);
        b->call[n].object = object;
        if (results) b->call[n].result = where;
        object += call->desc->operands;
        where += results;
    }
}

/* Launch on device @p d. *tried: the launch reached the device, whose error is then the call's. */
static meta_err launch_on(meta_plugin_queue *queue, const meta_launch *launch, bound *b, int d,
                          meta_auto_ticket **t, bool *tried)
{
    meta_auto_lane *lane = meta_auto_lane_of(d, queue->kind);
    meta_device *device = lane->of->device;
    const meta_ops *ops = lane->of->ops;
    meta_plugin_queue *real;
    meta_ticket own = NULL;
    meta_stamp stamp = {0};
    meta_auto_sample sample;
    meta_auto_work *work = NULL;
    META_TRY(bind_kernels(launch, b, device));
    meta_worker_decide(lane->of, meta_auto.chosen);
    META_TRY(meta_auto_acquire(lane, b->range, b->ranges));
    if (b->host.begin) META_TRY(meta_auto_order_host(queue, lane, b->host));
    META_TRY(meta_auto_queue(lane, &real));
    bind_objects(launch, b, d);
    const bool wanted = meta_cost_wanted(launch, d, &sample);
    meta_launch mine = *launch;
    mine.calls = b->call;
    mine.stride = sizeof *b->call;
    mine.ticket = &own;
    mine.stamp = wanted || launch->stamp ? &stamp : NULL;
    *tried = true;
    META_TRY(meta_auto_check_device(lane, ops->launch(real, &mine)));
    meta_auto.expected = meta_auto.chosen;
    const meta_mark mark = meta_auto_queued(lane, own, launch->ticket ? &work : NULL);
    if (b->host.begin) {
        queue->host[meta_auto_lane_number(lane)] = meta_mark_number(mark);
        meta_auto_note_results(lane, b->host);
    }
    meta_auto_commit(b->range, b->ranges, d, mark);
    meta_auto_hand_stamp(ops, &stamp, launch->stamp, wanted ? &sample : NULL);
    meta_ran_on = device;
    return meta_auto_ticket_add(t, work);
}

/* The devices that may run it: those that can hold pinned operands, which is one at most. */
static uint32_t where_allowed(const bound *b)
{
    uint32_t among = meta_auto_usable();
    for (size_t k = 0; k < b->ranges; ++k) among &= meta_auto_allowed(b->range[k].buffer);
    return among;
}

static meta_err kept_apart(const bound *b)
{
    const meta_auto_buffer *first = NULL, *other = NULL;
    char one[48], two[48];
    for (size_t k = 0; k < b->ranges; ++k) {
        const meta_auto_buffer *buffer = b->range[k].buffer;
        if (buffer->pinned < 0) continue;
        if (meta_auto.failed >> buffer->pinned & 1) return meta_auto_kept_on_failed(buffer);
        if (!first) first = buffer;
        else if (buffer->pinned != first->pinned) other = buffer;
    }
    return meta_fail(META_ERR_WRONG_DEVICE,
                     "the buffer at %p is kept on %s and that at %p on %s, by meta_wrap() or "
                     "meta_native(): copy one of them, or call meta_native_end() first",
                     first->address, meta_auto_name(first->pinned, one), other->address,
                     meta_auto_name(other->pinned, two));
}

/* If all have refused it, they are asked again, for their reason. */
static uint32_t without_refused(const meta_launch *launch, uint32_t among)
{
    const uint32_t left = among & ~meta_auto_refused_by(launch);
    return left ? left : among;
}

meta_err meta_auto_prepare(const meta_kernel_desc *desc, uint32_t type)
{
    const meta_call call = {.desc = desc, .type = type};
    meta_err error = META_OK;
    bool any = false;
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_plugin_kernel *unused;
        const meta_err one = object_of(meta_auto.device[d].device, desc, type, &unused);
        if (one == META_OK) any = true;
        else error = one;
        if (one == META_OK || one == META_ERR_NO_MEMORY) continue;
        pthread_mutex_lock(&meta_auto.lock);
        meta_auto_refuse(&call, d, one);
        pthread_mutex_unlock(&meta_auto.lock);
    }
    return any ? META_OK : error;
}

static meta_err launch_somewhere(meta_plugin_queue *queue, const meta_launch *launch, bound *b,
                                 meta_auto_ticket **t)
{
    const meta_auto_why usual =
        queue->kind == META_QUEUE_HALO ? META_AUTO_WHY_HALO : META_AUTO_WHY_OPERAND;
    meta_auto_choice choice = {launch, b->range, b->ranges, where_allowed(b)};
    if (!choice.among) return kept_apart(b);
    if (__builtin_expect(meta_auto.refused > 0, 0))
        choice.among = without_refused(launch, choice.among);
    for (;;) {
        bool tried = false;
        int d;
        meta_auto.why = usual; /* the choice may have a reason of its own */
        META_TRY(meta_auto_choose(&choice, &d));
        if (__builtin_expect(meta_accounted & META_ACCOUNT_DECISIONS, 0))
            meta_account_decide(launch, queue->kind, meta_explained(), d);
        const meta_err error = launch_on(queue, launch, b, d, t, &tried);
        const bool fails = error == META_ERR_DEVICE && meta_auto.failed >> d & 1;
        choice.among &= meta_auto_usable() & ~(UINT32_C(1) << d);
        if (b->refused) {
            meta_auto_refuse(b->refused, d, error);
            meta_cost_refused(d);
            b->refused = NULL;
        } else if (!fails && (tried || error != META_ERR_NO_MEMORY)) {
            return error;
        }
        if (!choice.among) return error;
    }
}

meta_err meta_auto_launch_on(meta_plugin_queue *queue, const meta_launch *l)
{
    few on_stack;
    bound b;
    meta_auto_ticket *t = NULL;
    meta_err error;
    if (l->ticket) *l->ticket = NULL;
    if (l->count == 0) return META_OK;
    META_TRY(meta_auto_any_left());
    ++meta_auto.calls;
    meta_auto.chosen = 0;
    if (make_room(&b, &on_stack, l)) {
        look_at(l, &b);
        meta_auto.call = l->calls;
        error = launch_somewhere(queue, l, &b, &t);
        meta_auto.call = NULL;
    } else {
        error = meta_fail(META_ERR_NO_MEMORY, "the host has no memory for %zu calls", l->count);
    }
    free(b.own);
    if (error != META_OK) meta_auto_ticket_abandon(t, error);
    /* Whether the program waits for results is of interest though they are there. */
    else if (l->ticket) *l->ticket = t || !b.host.begin ? t : &meta_auto_complete;
    return error;
}
