/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu.h
 *  What the files of the CUDA and HIP back end share: its device, queue and ticket, and error
 *  wording. The functions of the plugin's table are in table.h. */
#ifndef META_GPU_H
#define META_GPU_H

#include "gpurt.h"

#include "lang_gpu.h"

#include "table.h"

#include <pthread.h>

/** A result on its way to host memory: complete in its slot when launch @p sequence is, and then
 *  delivered by the host, since a device's own copy to pageable memory would block the caller. */
struct gpu_result {
    uint64_t sequence;
    void *host;
    size_t bytes;
};

/** How many results of a queue can be under way at once. */
#define GPU_RESULTS 256

/** Unused events, kept for the next ticket. */
struct gpu_events {
    gpu_event *event;
    size_t count, room;
};

/** What times of events are counted from, in nanoseconds. */
struct gpu_clock {
    gpu_event base; /**< NULL before the first time was read */
    double at;
};

struct meta_plugin_device {
    int ordinal;
    int units;          /**< multiprocessors */
    gpu_stream adopted; /**< the application's, NULL where there is none */
    gpu_stream memory;  /**< on which memory is allocated and freed */
#if GPU_HAS_POOLS
    GPU(MemPool_t) pool; /**< NULL where memory is not pooled */
#endif
    pthread_mutex_t lock; /**< of the events and the clock */
    gpu_events events;
    gpu_events timed; /**< those that keep the time */
    gpu_clock clock;
};

struct meta_plugin_queue {
    meta_plugin_device *device;
    gpu_stream stream;
    int owned;                       /**< the stream is the library's */
    int given;                       /**< and the application has it, too */
    void *partials;                  /**< device memory: the partial results of one reduction */
    uint64_t *slots;                 /**< page-locked host memory: one for each result */
    pthread_mutex_t lock;            /**< of the order of launches, and of what follows */
    uint64_t sequence;               /**< of the latest launch, copy or wait */
    uint64_t finished;               /**< of the latest that was waited for with all before it */
    gpu_result results[GPU_RESULTS]; /**< a ring, oldest first, each in the slot of its number */
    size_t first, count;
};

/** A completion: an event behind a launch or a copy. */
struct gpu_ticket {
    meta_plugin_queue *queue;
    gpu_event event;
    uint64_t sequence;
};

/* error.cpp */
/** Word the failure of a call of the runtime. */
meta_err gpu_fail(gpu_status status, const char *call);
/** Log the failure of a call that nobody can be told of. */
void gpu_warn(gpu_status status, const char *call);

/** Return from the function with an error where a call of the runtime fails:
 *  GPU_TRY(SetDevice, (0)). */
#define GPU_TRY(name, arguments)                                                                   \
    do {                                                                                           \
        const gpu_status try_ = GPU(name) arguments;                                               \
        if (try_ != GPU(Success)) return gpu_fail(try_, GPU_PREFIX #name);                         \
    } while (0)
/** The same for a function of gpurt.h, with the name of the call that it makes. */
#define GPU_TRY_AS(call, expression)                                                               \
    do {                                                                                           \
        const gpu_status try_ = (expression);                                                      \
        if (try_ != GPU(Success)) return gpu_fail(try_, call);                                     \
    } while (0)
#define GPU_TRY_META(expression)                                                                   \
    do {                                                                                           \
        const meta_err try_ = (expression);                                                        \
        if (try_ != META_OK) return try_;                                                          \
    } while (0)
/** Go on where a call fails, and log it. */
#define GPU_NOTE(name, arguments)                                                                  \
    do {                                                                                           \
        const gpu_status note_ = GPU(name) arguments;                                              \
        if (note_ != GPU(Success)) gpu_warn(note_, GPU_PREFIX #name);                              \
    } while (0)

/* device.cpp */
/** Make @p device the calling thread's. */
meta_err gpu_use(const meta_plugin_device *device);

/* memory.cpp */
meta_err gpu_pool_open(meta_plugin_device *device);
void gpu_pool_close(meta_plugin_device *device);

/* queue.cpp */
meta_err gpu_event_take(meta_plugin_device *device, gpu_event *event);
void gpu_event_keep(meta_plugin_device *device, gpu_event event);
/** Put a ticket behind what was queued last; with the queue's lock held. */
meta_err gpu_ticket_put(meta_plugin_queue *queue, meta_ticket *ticket);
/** Keep the time before and after what is queued between the two calls, unless @p stamp is NULL; with
 *  the queue's lock held. */
void gpu_stamp_begin(meta_plugin_queue *queue, meta_stamp *stamp);
void gpu_stamp_end(meta_plugin_queue *queue, meta_stamp *stamp, int failed);
/** A slot for a result of the next launch; with the queue's lock held. */
meta_err gpu_result_slot(meta_plugin_queue *queue, void *host, size_t bytes, void **slot);
/** Forget the results of the latest launch; with the queue's lock held. */
void gpu_results_drop(meta_plugin_queue *queue);

#endif
