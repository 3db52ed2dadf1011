/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_backend.h
 *  The plugin ABI: what a back end gives libmeta, and what libmeta gives it.
 *
 *  A back end is one module, <name>.so, that exports one data symbol, `meta_plugin_v1`, and links
 *  neither to libmeta nor to another back end. The core checks magic, ABI and size before it calls
 *  anything, never unloads a module, and calls no function of `ops` before `init` succeeded.
 *
 *  Every operand has been checked by the core when it arrives: a back end sees only live memory of
 *  its own device, spaces inside their buffers, aligned, with at least one element, and known
 *  types. It checks what only it can know: the status of every call of its own runtime.
 *
 *  All functions may be called from any thread at once, except that one queue or one memory object
 *  is never created and destroyed by two threads at once. */
#ifndef META_BACKEND_H
#define META_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "lang_c.h"
#include "meta.h"

#define META_PLUGIN_MAGIC 0x6174656du /* "meta" */
#define META_PLUGIN_ABI_MAJOR 1       /* a plugin of another major number is refused */
#define META_PLUGIN_ABI_MINOR 1       /* grows when members are added at the end */

/** Kernels by number: META_KERNEL_COPY … */
typedef enum meta_kernel_id {
#define META_KERNEL_ENUM3(NAME, name, operands) META_KERNEL_##NAME,
#define META_KERNEL_ENUM4(NAME, name, operands, finish) META_KERNEL_##NAME,
    META_MOVE_KERNELS(META_KERNEL_ENUM3) META_MAP_KERNELS(META_KERNEL_ENUM3)
        META_REDUCTION_KERNELS(META_KERNEL_ENUM4)
            META_EXACT_KERNELS(META_KERNEL_ENUM4) META_KERNEL_COUNT
#undef META_KERNEL_ENUM3
#undef META_KERNEL_ENUM4
} meta_kernel_id;

/** Whether kernel @p id is one of META_EXACT_KERNELS. */
static inline int meta_kernel_is_exact(uint32_t id)
{
    return id == META_KERNEL_EXACT_SUM || id == META_KERNEL_EXACT_DOT;
}

/** One kernel launch as data. */
typedef struct meta_call {
    uint32_t kernel; /**< meta_kernel_id */
    uint32_t type;   /**< meta_type of the elements */
    meta_space space;
    void *object[META_MAX_OPERANDS]; /**< native memory objects; bases in space count from them */
    unsigned char scalar[8];         /**< fill value or alpha, in the element's representation */
    /** Where a reduction's one element of `type` goes: to host memory, complete with the launch's
     *  ticket, or, where result_host is NULL, to byte result_offset of result_object. An exact sum's
     *  META_EXACT_RESULT words always go to the latter, at a multiple of 8. */
    void *result_host;
    void *result_object;
    uint64_t result_offset;
} meta_call;

/** What the core knows of a piece of device memory. */
typedef struct meta_memory {
    void *address; /**< what the application sees; a plugin whose device has no addresses of its own
                        reserves address space of the memory's size, so that none are issued twice */
    void *object;  /**< the native memory object */
    uint64_t bytes;
} meta_memory;

typedef struct meta_plugin_device meta_plugin_device; /* a back end's own */
typedef struct meta_plugin_queue meta_plugin_queue;

/** A completion of a back end's own; NULL is one that is complete. */
typedef void *meta_ticket;
/** In place of a ticket's address: no ticket is wanted. */
#define META_NO_TICKET ((meta_ticket *)NULL)

typedef enum meta_copy_kind { META_COPY_H2D, META_COPY_D2H } meta_copy_kind;
typedef enum meta_queue_kind { META_QUEUE_COMPUTE, META_QUEUE_HALO, META_QUEUE_COUNT } meta_queue_kind;
typedef enum meta_log_level { META_LOG_OFF, META_LOG_WARN, META_LOG_INFO, META_LOG_DEBUG } meta_log_level;

/** When a launch or a copy ran, in nanoseconds. */
typedef struct meta_stamp {
    void *work;          /**< what stamp_read() is asked with; NULL: the rest is filled in */
    uint64_t begin, end; /**< on CLOCK_MONOTONIC; both 0 where it cannot be told */
} meta_stamp;

/** What the core offers a plugin. Valid for ever after init. */
typedef struct meta_host {
    size_t size;
    /** Word an error: returns @p code, so `return host->fail(META_ERR_DEVICE, "clFoo: %s", why)`.
     *  The core puts the public call's name in front. */
    meta_err (*fail)(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /** Write to the log, where META_LOG allows the level; each warning is printed once. */
    void (*log)(meta_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /** How many CPU threads this process should compute with, at least 1. */
    int (*threads)(void);
    /** The value of a META_* variable of the core's table, NULL where it is not set. */
    const char *(*variable)(const char *name);

    /* since ABI 1.1 */
    /** Whether work is timed from now on: a queue that is made now may have to be prepared for it. */
    int (*timing)(void);
} meta_host;

/** What a back end can do. Members may be missing at the end (see size) or NULL where it says
 *  "optional". Functions that return meta_err word their error through host->fail. */
typedef struct meta_ops {
    size_t size;

    /** How many devices there are. For 0, @p reason says why in a sentence. */
    int (*device_count)(char *reason, size_t room);
    /** Describe device @p index; mode and backend are filled in by the core. Opens nothing. */
    meta_err (*device_info)(int index, meta_device_desc *desc);
    /** Open a device, with the application's native objects in @p state or NULL for own ones. */
    meta_err (*open)(int index, const meta_state *state, meta_plugin_device **device);
    void (*close)(meta_plugin_device *device);
    /** The native objects in use, for the queue given. */
    meta_err (*state)(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state);

    meta_err (*alloc)(meta_plugin_device *device, size_t bytes, meta_memory *memory);
    /** Free what alloc gave; work queued on it has been waited for. */
    void (*free)(meta_plugin_device *device, const meta_memory *memory);
    meta_err (*wrap)(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory);
    void (*unwrap)(meta_plugin_device *device, const meta_memory *memory);
    /** Page-locked host memory; optional: the core then takes aligned host memory. */
    meta_err (*host_alloc)(meta_plugin_device *device, size_t bytes, void **ptr);
    void (*host_free)(meta_plugin_device *device, void *ptr, size_t bytes);

    /** An in-order queue. The compute queue is created first and once. */
    meta_err (*queue_create)(meta_plugin_device *device, meta_queue_kind kind,
                             meta_plugin_queue **queue);
    void (*queue_destroy)(meta_plugin_queue *queue);
    /** Wait for everything queued. @return the first error of it that no ticket reported. */
    meta_err (*queue_finish)(meta_plugin_queue *queue);
    /** Everything queued on @p queue from now on runs after everything on @p earlier until now;
     *  the host does not wait. */
    meta_err (*queue_after)(meta_plugin_queue *queue, meta_plugin_queue *earlier);

    /** Queue a copy of @p bytes between host memory and a memory object. */
    meta_err (*copy)(meta_plugin_queue *queue, meta_copy_kind kind, void *host, void *object,
                     uint64_t offset, size_t bytes, meta_ticket *ticket);
    /** Queue @p count kernels that do not depend on each other, as one unit with one ticket. */
    meta_err (*launch)(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                       meta_ticket *ticket);

    /** Completion of a ticket: whether, wait for, and give back (complete or not). Test and wait
     *  return the work's error; they leave the ticket valid. */
    meta_err (*ticket_test)(meta_ticket ticket, int *complete);
    meta_err (*ticket_wait)(meta_ticket ticket);
    void (*ticket_release)(meta_ticket ticket);

    /* since ABI 1.1, optional: when work ran, by the device's own clock */
    /** As copy and launch; what is queued leaves *stamp, which is zero before. Both or none. */
    meta_err (*copy_timed)(meta_plugin_queue *queue, meta_copy_kind kind, void *host, void *object,
                           uint64_t offset, size_t bytes, meta_ticket *ticket, meta_stamp *stamp);
    meta_err (*launch_timed)(meta_plugin_queue *queue, const meta_call *calls, size_t count,
                             meta_ticket *ticket, meta_stamp *stamp);
    /** Whether the work of a stamp has ended; then when it began and ended, on a clock of the device
     *  that counts nanoseconds from anywhere, or 0 and 0 where it cannot be told. May be absent, as
     *  may stamp_release, where a stamp never has work. */
    int (*stamp_read)(void *work, uint64_t *begin, uint64_t *end);
    /** Give it back, read or not; before its queue is destroyed. */
    void (*stamp_release)(void *work);
} meta_ops;

typedef struct meta_plugin {
    uint32_t magic; /**< META_PLUGIN_MAGIC */
    uint16_t abi_major, abi_minor;
    size_t size; /**< of this structure */
    const char *name; /**< as in META_MODE, and the file's name without .so */
    const char *description;
    meta_err (*init)(const meta_host *host);
    void (*fini)(void);
    const meta_ops *ops;
} meta_plugin;

/* The one symbol a plugin defines: META_API const meta_plugin meta_plugin_v1 = {…}; */
#ifdef __cplusplus
extern "C" META_API const meta_plugin meta_plugin_v1;
#else
META_API extern const meta_plugin meta_plugin_v1;
#endif

#endif
