/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_limit.c
 *  Reference bandwidths: how fast a device copies its own memory, and from and to host memory of
 *  meta_host_alloc()'s kind, each measured once on demand. */
#include "record/record.h"
#include "schedule/schedule.h"

#include <string.h>

enum { MOST = 64 << 20, LEAST = 1 << 20, ROUNDS = 5 };

/* A copy within the device, or between it and the host. */
typedef struct trial {
    meta_device *device;
    meta_limit which;
    uint64_t bytes;
    meta_builtin own;
    meta_span span;
    void *host;
} trial;

/* Nanoseconds of one copy; by the device's clock where it has time stamps. */
static meta_err time_copy(const trial *t, uint64_t *nanoseconds)
{
    const meta_ops *ops = &t->device->backend->ops;
    meta_plugin_queue *queue = t->device->queue[META_QUEUE_COMPUTE];
    meta_stamp stamp = {0};
    meta_ticket ticket = NULL;
    const meta_launch launch = {.size = sizeof launch,
                                .calls = &t->own.op.call,
                                .count = 1,
                                .ticket = &ticket,
                                .stamp = &stamp};
    const meta_copy copy = {.size = sizeof copy,
                            .kind = t->which == META_LIMIT_H2D ? META_COPY_H2D : META_COPY_D2H,
                            .object = t->span.object,
                            .offset = t->span.offset,
                            .bytes = t->bytes,
                            .host = t->host,
                            .ticket = &ticket,
                            .stamp = &stamp};
    const uint64_t began = meta_profile_now();
    META_TRY(t->which == META_LIMIT_OWN ? ops->launch(queue, &launch) : ops->copy(queue, &copy));
    meta_pending pending = {t->device, ticket};
    const meta_err error = meta_pending_wait(&pending);
    *nanoseconds = meta_profile_now() - began;
    meta_pending_release(&pending);
    if (stamp.work) {
        if (!ops->stamp_read(stamp.work, &stamp.begin, &stamp.end)) stamp.end = stamp.begin;
        ops->stamp_release(stamp.work);
    }
    if (stamp.end > stamp.begin) *nanoseconds = stamp.end - stamp.begin;
    return error;
}

/* The best of ROUNDS, after one that faults the pages in. */
static meta_err time_copies(const trial *t, double *speed)
{
    const double bytes = (t->which == META_LIMIT_OWN ? 2.0 : 1.0) * (double)t->bytes;
    uint64_t least = UINT64_MAX, taken;
    for (int round = 0; round <= ROUNDS; ++round) {
        META_TRY(time_copy(t, &taken));
        if (round > 0 && taken > 0 && taken < least) least = taken;
    }
    *speed = 1e9 * bytes / (double)least;
    return META_OK;
}

static meta_err time_own(trial *t, void *to, double *speed)
{
    const meta_face line = {.count = 1, .size = {(int64_t)(t->bytes / 8)}, .stride = {1}};
    meta_operation *op = &t->own.op;
    void *from;
    META_TRY(meta_scratch(t->device, t->bytes, &from));
    meta_operation_begin(&t->own, META_KERNEL_COPY, META_U64, &line);
    meta_err error = meta_operand_set(op, 0, to, &line, "to");
    if (error == META_OK) error = meta_operand_set(op, 1, from, &line, "from");
    if (error == META_OK) error = meta_place(op);
    if (error == META_OK) error = meta_bind(op);
    if (error == META_OK) error = time_copies(t, speed);
    meta_scratch_free(from);
    return error;
}

static meta_err measure(meta_device *device, meta_limit which, uint64_t bytes, double *speed)
{
    trial t = {.device = device, .which = which, .bytes = bytes};
    void *buffer;
    META_TRY(meta_scratch(device, bytes, &buffer));
    meta_err error = meta_span_at(buffer, "to", &t.span);
    if (error == META_OK && which == META_LIMIT_OWN) {
        error = time_own(&t, buffer, speed);
    } else if (error == META_OK) {
        error = meta_host_memory(device, bytes, &t.host);
        if (error == META_OK) {
            memset(t.host, 1, bytes); /* untouched pages all map to the zero page */
            error = time_copies(&t, speed);
            meta_host_memory_free(device, t.host, bytes);
        }
    }
    meta_scratch_free(buffer);
    return error;
}

double meta_profile_limit(meta_device *device, meta_limit which)
{
    static const char *const words[] = {"copies its memory", "is copied to from the host",
                                        "is copied from to the host"};
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    double limit = device->record->copy_limit[which];
    if (limit == 0) {
        limit = -1;
        for (uint64_t bytes = MOST; bytes >= LEAST && limit < 0; bytes /= 4)
            if (measure(device, which, bytes, &limit) != META_OK) limit = -1;
        device->record->copy_limit[which] = limit;
        if (limit > 0)
            meta_log(META_LOG_INFO, "%s:%d %s at %.1f GB/s%s", device->backend->name, device->index,
                     words[which], limit * 1e-9,
                     which == META_LIMIT_OWN ? ", read and written" : "");
    }
    pthread_mutex_unlock(&lock);
    return limit > 0 ? limit : 0;
}
