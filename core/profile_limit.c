/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_limit.c
 *  What a device's kernels are compared with: how fast it copies its own memory, measured once when
 *  somebody asks. */
#include "core.h"

enum { MOST = 64 << 20, LEAST = 1 << 20, ROUNDS = 5 };

/* Nanoseconds of one copy; by the device's clock where it tells. */
static meta_err time_copy(meta_device *device, const meta_call *call, uint64_t *nanoseconds)
{
    const meta_ops *ops = &device->backend->ops;
    meta_plugin_queue *queue = device->queue[META_QUEUE_COMPUTE];
    meta_stamp stamp = {0};
    meta_ticket ticket = NULL;
    const uint64_t began = meta_profile_now();
    META_TRY(ops->launch_timed ? ops->launch_timed(queue, call, 1, &ticket, &stamp)
                               : ops->launch(queue, call, 1, &ticket));
    meta_pending pending = {device, ticket};
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

/* The best of some, after one that brings the pages in. */
static meta_err time_copies(meta_device *device, void *to, void *from, size_t bytes, double *speed)
{
    const meta_face line = {.count = 1, .size = {(int64_t)(bytes / 8)}, .stride = {1}};
    uint64_t least = UINT64_MAX, taken;
    meta_span dst, src;
    meta_call call;
    int empty;
    META_TRY(meta_span_at(to, "to", &dst));
    META_TRY(meta_span_at(from, "from", &src));
    META_TRY(meta_copy_call(&call, &dst, &line, &src, &line, META_U64, &empty));
    for (int round = 0; round <= ROUNDS; ++round) {
        META_TRY(time_copy(device, &call, &taken));
        if (round > 0 && taken > 0 && taken < least) least = taken;
    }
    *speed = 2e9 * (double)bytes / (double)least;
    return META_OK;
}

static meta_err measure(meta_device *device, size_t bytes, double *speed)
{
    void *to, *from;
    META_TRY(meta_scratch(device, bytes, &to));
    meta_err error = meta_scratch(device, bytes, &from);
    if (error == META_OK) {
        error = time_copies(device, to, from, bytes, speed);
        meta_scratch_free(from);
    }
    meta_scratch_free(to);
    return error;
}

double meta_profile_limit(meta_device *device)
{
    if (device->copy_limit == 0) {
        device->copy_limit = -1;
        for (size_t bytes = MOST; bytes >= LEAST && device->copy_limit < 0; bytes /= 4)
            if (measure(device, bytes, &device->copy_limit) != META_OK) device->copy_limit = -1;
        if (device->copy_limit > 0)
            meta_log(META_LOG_INFO, "%s:%d copies its memory at %.1f GB/s, read and written",
                     device->backend->name, device->index, device->copy_limit * 1e-9);
    }
    return device->copy_limit > 0 ? device->copy_limit : 0;
}
