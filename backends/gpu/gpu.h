/* SPDX-License-Identifier: BSD-3-Clause */
/** @file gpu.h
 *  What the files of the CUDA and HIP back end share: its device, queue and ticket types, and error
 *  handling. The functions of the plug-in's table are declared in table.h. */
#ifndef META_GPU_H
#define META_GPU_H

#include "gpurt.h"

#include "lang_gpu.h"

#include "table.h"

#include <pthread.h>

/** A reduction's result that is bound for host memory. It is complete in its page-locked slot when
 *  launch @p sequence completes; the host then copies it to its destination, since an asynchronous
 *  copy from the device to pageable memory would block the caller. */
struct gpu_result {
    uint64_t sequence;
    void *host;
    size_t bytes;
};

/** The most results of a queue that can be in flight. */
#define GPU_RESULTS 256

/** A free list of events. */
struct gpu_events {
    gpu_event *event;
    size_t count, room;
};

/** The reference point of a device's timestamps, in nanoseconds. */
struct gpu_clock {
    gpu_event base; /**< NULL until a timestamp has been read */
    double at;
};

struct meta_plugin_device {
    int ordinal;
    int units;                 /**< multiprocessors */
    gpu_properties properties; /**< asked for once: the call is slow on a GPU */
    gpu_stream adopted;        /**< the application's, or NULL */
    gpu_stream memory;         /**< for stream-ordered allocation and freeing */
#if GPU_HAS_POOLS
    GPU(MemPool_t) pool; /**< NULL: memory is not pooled */
#endif
    pthread_mutex_t lock; /**< guards the members below */
    gpu_events events;    /**< without timing, for tickets */
    gpu_events timed;     /**< with timing, for stamps */
    gpu_clock clock;
};

/** Room for a result of any kind. */
struct gpu_slot {
    uint64_t word[sizeof(meta_extreme_f64) / sizeof(uint64_t)];
};

struct meta_plugin_queue {
    meta_plugin_device *device;
    gpu_stream stream;
    int owned; /**< the library created the stream */
    int given; /**< meta_get_state() handed it to the application */
    /** Device memory: the partial results of one launch, and behind them its arguments where they
     * are too large to be passed by value. */
    void *partials;
    gpu_slot *slots;                 /**< page-locked host memory, one slot per result */
    pthread_mutex_t lock;            /**< serialises launches; guards the members below */
    uint64_t sequence;               /**< number of the latest launch, copy or wait */
    uint64_t finished;               /**< number up to which everything is known to be complete */
    gpu_result results[GPU_RESULTS]; /**< a ring buffer, oldest first; its index is the slot's */
    size_t first, count;
};

/** A completion: an event recorded after a launch or a copy. */
struct gpu_ticket {
    meta_plugin_queue *queue;
    gpu_event event;
    uint64_t sequence;
};

/* error.cpp */
/** Set the error message for a runtime call that returned @p status. @return its meta_err. */
meta_err gpu_fail(gpu_status status, const char *call);
/** Log a failure that cannot be returned. */
void gpu_warn(gpu_status status, const char *call);

/** Return from the function if a runtime call fails: GPU_TRY(SetDevice, (0)). */
#define GPU_TRY(name, arguments)                                                                   \
    do {                                                                                           \
        const gpu_status try_ = GPU(name) arguments;                                               \
        if (try_ != GPU(Success)) return gpu_fail(try_, GPU_PREFIX #name);                         \
    } while (0)
/** The same for a wrapper of gpurt.h, with the name of the runtime call that it makes. */
#define GPU_TRY_AS(call, expression)                                                               \
    do {                                                                                           \
        const gpu_status try_ = (expression);                                                      \
        if (try_ != GPU(Success)) return gpu_fail(try_, call);                                     \
    } while (0)
/** Make a call and log its failure. */
#define GPU_NOTE(name, arguments)                                                                  \
    do {                                                                                           \
        const gpu_status note_ = GPU(name) arguments;                                              \
        if (note_ != GPU(Success)) gpu_warn(note_, GPU_PREFIX #name);                              \
    } while (0)

/* device.cpp */
/** Make @p device the calling thread's current device. */
meta_err gpu_use(const meta_plugin_device *device);
/** A stream of the current device that does not wait for the default stream; @p urgent: of the
 *  highest priority, otherwise of the lowest. */
meta_err gpu_stream_create(int urgent, gpu_stream *stream);

/* memory.cpp */
meta_err gpu_pool_open(meta_plugin_device *device);
void gpu_pool_close(meta_plugin_device *device);
/** Let @p device access @p peer's pool directly, if the hardware can. */
void gpu_pool_share(const meta_plugin_device *peer, const meta_plugin_device *device);

/* queue.cpp */
/** An event without timing from the free list, or a new one. */
meta_err gpu_event_take(meta_plugin_device *device, gpu_event *event);
/** Return it to the free list, recorded or not. */
void gpu_event_keep(meta_plugin_device *device, gpu_event event);
/** Record a ticket after everything queued so far. Call with the queue's lock held, as all of the
 *  following. */
meta_err gpu_ticket_put(meta_plugin_queue *queue, meta_ticket *ticket);
/** Record timing events around what is queued between the two calls. @p stamp may be NULL. */
void gpu_stamp_begin(meta_plugin_queue *queue, meta_stamp *stamp);
void gpu_stamp_end(meta_plugin_queue *queue, meta_stamp *stamp);
/** Release the stamp of work that failed or has no ticket. */
void gpu_stamp_drop(meta_stamp *stamp);
/** Reserve a slot for a result of the current launch. */
meta_err gpu_result_slot(meta_plugin_queue *queue, void *host, size_t bytes, void **slot);
/** Cancel the results of the current launch. */
void gpu_results_drop(meta_plugin_queue *queue);

#endif
