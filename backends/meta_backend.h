/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_backend.h
 *  The plugin ABI: what a back end gives libmeta, and what libmeta gives it.
 *
 *  A back end is one module, <name>.so, that exports one data symbol, `meta_plugin_v2`, and links
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
#include "meta_kernels.h"

#define META_PLUGIN_MAGIC     0x6174656du /* "meta" */
#define META_PLUGIN_ABI_MAJOR 2           /* a plug-in of another major number is refused */
#define META_PLUGIN_ABI_MINOR 0           /* grows when members are added at the end */

typedef struct meta_plugin_device meta_plugin_device; /* a back end's own */
typedef struct meta_plugin_queue meta_plugin_queue;
typedef struct meta_plugin_kernel meta_plugin_kernel;

/* ------------------------------------------------------------------ kernels */

/** The most operands of a kernel; built-in kernels have at most META_SPACE_OPERANDS. */
#define META_MAX_OPERANDS 32

/** Built-in kernels by number: META_KERNEL_COPY … */
typedef enum meta_kernel_id {
#define META_KERNEL_ENUM(number, NAME, ...) META_KERNEL_##NAME = (number),
    META_KERNELS(META_KERNEL_ENUM)
#undef META_KERNEL_ENUM
#define META_KERNEL_ONE(...) +1
        META_KERNEL_COUNT = META_KERNELS(META_KERNEL_ONE)
#undef META_KERNEL_ONE
} meta_kernel_id;

/** What a kernel does with an operand's elements. ADD: adds to them, in any order. */
typedef enum meta_access {
    META_ACCESS_NONE,
    META_ACCESS_IN,
    META_ACCESS_OUT,
    META_ACCESS_INOUT,
    META_ACCESS_ADD
} meta_access;
/** Which elements around its own a cell touches: none, those along each dimension, those of the
 * whole box, or any of the operand's. */
typedef enum meta_reach {
    META_REACH_POINT,
    META_REACH_STAR,
    META_REACH_BOX,
    META_REACH_WHOLE
} meta_reach;
typedef enum meta_family {
    META_FAMILY_MOVE,
    META_FAMILY_MAP,
    META_FAMILY_REDUCTION,
    META_FAMILY_EXACT
} meta_family;
/** How partial results become one. */
typedef enum meta_combine {
    META_COMBINE_none,
    META_COMBINE_sum,
    META_COMBINE_min,
    META_COMBINE_max,
    META_COMBINE_exact
} meta_combine;

/** The dimensions over which a kernel can reach. */
#define META_REACH_DIMS 4

typedef struct meta_operand_desc {
    uint32_t access;                                     /**< meta_access */
    uint32_t reach;                                      /**< meta_reach */
    uint8_t low[META_REACH_DIMS], high[META_REACH_DIMS]; /**< how far, towards either side */
} meta_operand_desc;

/** What a kernel does with its operands: everything that checks, orders, profiles and places an
 *  operation reads this. */
typedef struct meta_kernel_desc {
    size_t size;
    uint32_t number;  /**< meta_kernel_id */
    const char *name; /**< as in META_KERNELS */
    uint32_t family;  /**< meta_family */
    uint32_t types;   /**< element types that it knows: bit 1 << meta_type */
    uint32_t values;  /**< elements passed by value */
    uint32_t combine; /**< meta_combine */
    uint32_t grid;    /**< dimensions whose strides the body uses itself: they are never merged */
    uint32_t passes;  /**< elements moved to and from memory a cell, at the least */
    uint32_t operands;
    const meta_operand_desc *operand;
} meta_kernel_desc;

/** What a back end makes a kernel object of: a kernel for one element type. */
typedef struct meta_kernel_source {
    size_t size;
    const meta_kernel_desc *desc;
    uint32_t type;    /**< meta_type */
    const char *text; /**< NULL: a built-in kernel, by desc->number */
} meta_kernel_source;

/** Bytes of an element of @p type; 0 where it is no type. */
static inline size_t meta_element_bytes(uint32_t type)
{
#define META_BYTES3(NAME, name, bytes)            (bytes),
#define META_BYTES5(NAME, name, bytes, wide, sum) (bytes),
    static const unsigned char of[] = {META_ARITHMETIC_TYPES(META_BYTES5)
                                           META_SMALL_TYPES(META_BYTES3)};
#undef META_BYTES3
#undef META_BYTES5
    return type < sizeof of ? of[type] : 0;
}

/** The name of @p type, as f64. */
static inline const char *meta_element_name(uint32_t type)
{
#define META_NAME3(NAME, name, bytes)            #name,
#define META_NAME5(NAME, name, bytes, wide, sum) #name,
    static const char *const of[] = {META_ARITHMETIC_TYPES(META_NAME5)
                                         META_SMALL_TYPES(META_NAME3)};
#undef META_NAME3
#undef META_NAME5
    return type < sizeof of / sizeof *of ? of[type] : "an unknown type";
}

/* ------------------------------------------------------------------ work as data */

/** Where a reduction's one element goes: to host memory, complete with the launch's ticket, or,
 * where host is NULL, to byte `offset` of a memory object. An exact sum's META_EXACT_RESULT words
 * always go to the latter, at a multiple of 8. */
typedef struct meta_result {
    void *host;
    void *object;
    uint64_t offset;
} meta_result;

/** One kernel over one iteration space. */
typedef struct meta_call {
    uint32_t size;              /**< bytes of this structure, as the caller knows it */
    uint32_t type;              /**< meta_type of the elements */
    meta_plugin_kernel *kernel; /**< made by this device's kernel_create() */
    const meta_kernel_desc *desc;
    const meta_space *space;   /**< with the layouts of all operands, see meta_call_layout() */
    void *const *object;       /**< the operands' native memory objects: desc->operands of them */
    const void *values;        /**< the elements passed by value, one after the other */
    const meta_result *result; /**< NULL where the kernel is no reduction */
} meta_call;

/** The layout of operand @p k. */
static inline const meta_layout *meta_call_layout(const meta_call *call, uint32_t k)
{
    return (const meta_layout *)(const void *)((const char *)call->space +
                                               offsetof(meta_space, layout)) +
           k;
}
/** Bytes of a space with the layouts of @p operands, which is what a device is passed. */
static inline size_t meta_space_bytes(uint32_t operands)
{
    return offsetof(meta_space, layout) + operands * sizeof(meta_layout);
}

/** A completion of a back end's own; NULL is one that is complete. */
typedef void *meta_ticket;
/** In place of a ticket's address: no ticket is wanted. */
#define META_NO_TICKET ((meta_ticket *)NULL)

/** When work ran, in nanoseconds. Zero before; a back end that cannot tell leaves it so. */
typedef struct meta_stamp {
    void *work;          /**< what stamp_read() is asked with; NULL: the rest is filled in */
    uint64_t begin, end; /**< on CLOCK_MONOTONIC */
} meta_stamp;

/** Kernels that do not depend on each other, queued as one unit. */
typedef struct meta_launch {
    size_t size;
    const meta_call *calls; /**< the first; see meta_launch_call() */
    size_t count;
    size_t stride;       /**< bytes from one to the next */
    meta_ticket *ticket; /**< set to the unit's completion; NULL: none is wanted */
    meta_stamp *stamp;   /**< NULL: not wanted */
} meta_launch;

static inline const meta_call *meta_launch_call(const meta_launch *launch, size_t n)
{
    return (const meta_call *)(const void *)((const char *)launch->calls + n * launch->stride);
}

typedef enum meta_copy_kind { META_COPY_H2D, META_COPY_D2H, META_COPY_PEER } meta_copy_kind;

/** A copy between memory of the queue's device and the host or, META_COPY_PEER, from another device
 * of the same back end. */
typedef struct meta_copy {
    size_t size;
    meta_copy_kind kind;
    void *object; /**< of the queue's device */
    uint64_t offset;
    size_t bytes;
    void *host;               /**< of H2D and D2H */
    meta_plugin_device *peer; /**< of PEER: the device that is read */
    void *peer_object;
    uint64_t peer_offset;
    meta_ticket *ticket; /**< as in meta_launch */
    meta_stamp *stamp;
} meta_copy;

/** A piece of device memory. */
typedef struct meta_memory {
    void
        *address; /**< what the application sees; a plug-in whose device has no addresses of its own
                       reserves address space of the memory's size, so that none are issued twice */
    void *object; /**< the native memory object */
    uint64_t bytes;
} meta_memory;

typedef enum meta_queue_kind {
    META_QUEUE_COMPUTE,
    META_QUEUE_HALO,
    META_QUEUE_COUNT
} meta_queue_kind;
typedef enum meta_log_level {
    META_LOG_OFF,
    META_LOG_WARN,
    META_LOG_INFO,
    META_LOG_DEBUG
} meta_log_level;

/* ------------------------------------------------------------------ the two tables */

/** What the core offers a plug-in. Valid for ever after init. */
typedef struct meta_host {
    size_t size;
    /** Set the error message: returns @p code, so `return host->fail(META_ERR_DEVICE, "clFoo: %s",
     * why)`. The core puts the public call's name in front. */
    meta_err (*fail)(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /** Write to the log, where META_LOG allows the level; each warning is printed once. */
    void (*log)(meta_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    /** How many CPU threads this process should compute with, at least 1. */
    int (*threads)(void);
    /** The value of a META_* variable of the core's table, NULL where it is not set. */
    const char *(*variable)(const char *name);
    /** Whether stamps will be asked for: a queue that is made now may have to be prepared for it.
     */
    int (*timing)(void);
} meta_host;

/** What a back end can do. Members may be missing at the end (see size) or NULL where it says
 *  "optional". Functions that return meta_err set their message through host->fail. Structures that
 *  they are given have a size: those of a later minor number are longer. */
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

    /** Make a kernel for an element type, the device's for as long as it is open; compiling may
     * happen here. META_ERR_TYPE where the device lacks the type, META_ERR_UNSUPPORTED for a
     * built-in kernel of a later libmeta, and for a text where the back end compiles none. */
    meta_err (*kernel_create)(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel);
    /** Optional. Nothing that uses it is in flight. */
    void (*kernel_destroy)(meta_plugin_device *device, meta_plugin_kernel *kernel);

    /** An in-order queue: scratch memory that one launch used may be the next one's. The compute
     *  queue is created first and once. */
    meta_err (*queue_create)(meta_plugin_device *device, meta_queue_kind kind,
                             meta_plugin_queue **queue);
    void (*queue_destroy)(meta_plugin_queue *queue);
    /** Wait for everything queued. @return the first error of it that no ticket reported. */
    meta_err (*queue_finish)(meta_plugin_queue *queue);
    /** Everything queued on @p queue from now on runs after everything on @p earlier, a queue of
     * the same device, until now; the host does not wait. */
    meta_err (*queue_after)(meta_plugin_queue *queue, meta_plugin_queue *earlier);
    /** Everything queued on @p queue from now on runs after the work of @p ticket, which is of any
     * queue of this back end; the host does not wait. META_ERR_UNSUPPORTED where the device of the
     * one cannot wait for that of the other: the core then waits on the host. */
    meta_err (*queue_wait)(meta_plugin_queue *queue, meta_ticket ticket);

    /** Queue a copy; of META_COPY_PEER only where copy_peer says so. */
    meta_err (*copy)(meta_plugin_queue *queue, const meta_copy *copy);
    /** Whether @p device can read @p peer's memory by META_COPY_PEER; optional: it cannot. */
    int (*copy_peer)(meta_plugin_device *device, meta_plugin_device *peer);
    meta_err (*launch)(meta_plugin_queue *queue, const meta_launch *launch);

    /** Completion of a ticket: whether, wait for, and give back (complete or not). Test and wait
     *  return the work's error; they leave the ticket valid. */
    meta_err (*ticket_test)(meta_ticket ticket, int *complete);
    meta_err (*ticket_wait)(meta_ticket ticket);
    void (*ticket_release)(meta_ticket ticket);

    /** Whether the work of a stamp has ended; then when it began and ended, on a clock of the
     * device that counts nanoseconds from anywhere, or 0 and 0 where it cannot be told. Optional,
     * as is stamp_release, where a stamp never has work. */
    int (*stamp_read)(void *work, uint64_t *begin, uint64_t *end);
    /** Give it back, read or not; before its queue is destroyed. */
    void (*stamp_release)(void *work);
} meta_ops;

typedef struct meta_plugin {
    uint32_t magic; /**< META_PLUGIN_MAGIC */
    uint16_t abi_major, abi_minor;
    size_t size;      /**< of this structure */
    const char *name; /**< as in META_MODE, and the file's name without .so */
    const char *description;
    meta_err (*init)(const meta_host *host);
    void (*fini)(void);
    const meta_ops *ops;
} meta_plugin;

/* The one symbol a plug-in defines: META_API const meta_plugin meta_plugin_v2 = {…}; */
#ifdef __cplusplus
extern "C" META_API const meta_plugin meta_plugin_v2;
#else
META_API extern const meta_plugin meta_plugin_v2;
#endif

#endif
