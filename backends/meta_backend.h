/* SPDX-License-Identifier: BSD-3-Clause */
/** @file meta_backend.h
 *  The plug-in ABI: what a back end provides to libmeta, and what libmeta provides to it.
 *
 *  A back end is one module, NAME.so, that exports one data symbol, `meta_plugin_v2`, and links
 *  neither to libmeta nor to another back end. The core checks the magic number, the ABI version
 * and the sizes of both tables before it calls any function, never unloads a module, and calls no
 *  function of `ops` before `init` has succeeded.
 *
 *  The core has validated every argument: memory is alive and belongs to the device, iteration
 * spaces stay inside their buffers, are aligned and not empty, and types are known. A back end
 * checks what only it can know: the status of each call to its own runtime.
 *
 *  All functions are thread-safe, except that no two threads create or destroy the same queue,
 * kernel or memory object concurrently.
 *
 *  Sized structures. A structure with a member `size` states how many bytes of it its author knew;
 * a later minor version appends members. The receiver uses an appended member only if `size` covers
 *  it (META_KNOWS), and steps through an array by the stride that comes with it, never by sizeof.
 *  Into a structure that it fills in it writes no more than `size` bytes. Everything in version 2.0 is
 *  always there; structures without `size` never change within a major version. */
#ifndef META_BACKEND_H
#define META_BACKEND_H

/* Compilers judge a program by its own lines. */
#if defined __GNUC__ && !defined META_JUDGE_HEADERS
#pragma GCC system_header
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lang_c.h"
#include "meta.h"
#define META_KERNEL_NO_PASS
#include "meta_kernel.h"
#undef META_KERNEL_NO_PASS
#include "meta_kernels.h"

#define META_PLUGIN_MAGIC     0x6174656du /**< "meta" */
#define META_PLUGIN_ABI_MAJOR 2           /**< plug-ins of another major version are refused */
#define META_PLUGIN_ABI_MINOR 5           /**< counts the times that members were appended */

/** Whether a structure that states its size has @p member: whether its author knew it. */
#define META_KNOWS(structure, member)                                                              \
    ((size_t)((const char *)(&(structure)->member + 1) - (const char *)(structure)) <=             \
     (structure)->size)
/** Return early with an error. */
#define META_TRY(expression)                                                                       \
    do {                                                                                           \
        const meta_err error_ = (expression);                                                      \
        if (error_ != META_OK) return error_;                                                      \
    } while (0)

typedef struct meta_plugin_device meta_plugin_device; /**< a back end's device: opaque, defined there */
typedef struct meta_plugin_queue meta_plugin_queue;   /**< likewise a queue */
typedef struct meta_plugin_kernel meta_plugin_kernel; /**< likewise a kernel */

/* ------------------------------------------------------------------ kernels */

/** Upper bound on a kernel's operands; built-in kernels have at most META_SPACE_OPERANDS. With
 *  META_CHECK=on a program's kernel that a device builds from text has one operand more than arrays:
 *  the buffer to which its checks write. */
#define META_MAX_OPERANDS 33

/** The numbers of the built-in kernels: META_KERNEL_COPY … */
typedef enum meta_kernel_id {
#define META_KERNEL_ENUM(number, NAME, ...) META_KERNEL_##NAME = (number),
    META_KERNELS(META_KERNEL_ENUM)
#undef META_KERNEL_ENUM
#define META_KERNEL_ONE(...) +1
        META_KERNEL_COUNT = META_KERNELS(META_KERNEL_ONE)
#undef META_KERNEL_ONE
} meta_kernel_id;

/** How a kernel accesses an operand. ADD: accumulates into it, in any order. */
typedef enum meta_access {
    META_ACCESS_NONE,  /**< there is no such operand */
    META_ACCESS_IN,    /**< read */
    META_ACCESS_OUT,   /**< written, every element of the space */
    META_ACCESS_INOUT, /**< read and written */
    META_ACCESS_ADD    /**< added to */
} meta_access;
/** A stencil's shape: the element itself, neighbours along each dimension, all neighbours in the
 *  surrounding box, or any element of the operand. ONE: the operand is one element, which all read.
 */
typedef enum meta_reach {
    META_REACH_POINT, /**< the element itself */
    META_REACH_STAR,  /**< neighbours along each dimension */
    META_REACH_BOX,   /**< all neighbours in the surrounding box */
    META_REACH_WHOLE, /**< any element of the operand */
    META_REACH_ONE    /**< its only element */
} meta_reach;
/** What a kernel does with its operands, and the types for which it is compiled. */
typedef enum meta_family {
    META_FAMILY_MOVE,      /**< moves elements: for each size */
    META_FAMILY_MAP,       /**< computes elements: for each arithmetic type */
    META_FAMILY_REDUCTION, /**< computes one element: for each arithmetic type */
    META_FAMILY_EXACT,     /**< computes an exact sum: for each floating-point type */
    META_FAMILY_USER       /**< a kernel of the program's, see meta_kernel.h */
} meta_family;
/** How a reduction combines partial results. */
typedef enum meta_combine {
    META_COMBINE_none,   /**< it is no reduction */
    META_COMBINE_sum,    /**< their sum */
    META_COMBINE_min,    /**< the least */
    META_COMBINE_max,    /**< the greatest */
    META_COMBINE_exact,  /**< their exact sum */
    META_COMBINE_min_at, /**< since 2.2, only of a program's kernel: with the place, see extremes.h */
    META_COMBINE_max_at  /**< likewise */
} meta_combine;

/** The dimensions along which a stencil can have neighbours. */
#define META_REACH_DIMS 4

/** How a kernel uses an operand. */
typedef struct meta_operand_desc {
    uint32_t access;               /**< meta_access */
    uint32_t reach;                /**< meta_reach */
    uint8_t low[META_REACH_DIMS];  /**< stencil radius towards lower indices */
    uint8_t high[META_REACH_DIMS]; /**< and towards higher ones */
    uint32_t own_type; /**< 0: elements of the call's type; else 1 + their meta_type */
} meta_operand_desc;

/** A result of a kernel of the program's. */
typedef struct meta_result_desc {
    uint32_t combine; /**< META_COMBINE_sum, _min, _max or, since version 2.2, _exact, _min_at, _max_at */
    uint32_t type;    /**< meta_type; of an exact sum that of the element it is rounded to */
} meta_result_desc;

/** A kernel's properties. Bounds checks, dependences, profiles and placement are derived from them.
 */
typedef struct meta_kernel_desc {
    size_t size;      /**< of this structure */
    uint32_t number;  /**< meta_kernel_id */
    const char *name; /**< as in META_KERNELS */
    uint32_t family;  /**< meta_family */
    uint32_t types;   /**< supported element types: a set of bits 1 << meta_type */
    uint32_t values;  /**< elements passed by value; for META_FAMILY_USER, words of 8 bytes */
    uint32_t combine; /**< meta_combine */
    uint32_t grid;    /**< dimensions of the grid that the body indexes itself, which are
                           never merged: 2 or 3 for a stencil, else 0 */
    uint32_t passes;  /**< least memory traffic per cell, in elements */
    uint32_t operands;                /**< their number */
    const meta_operand_desc *operand; /**< each of them */
    uint32_t results; /**< of META_FAMILY_USER; others have one if `combine` is not none */
    const meta_result_desc *result; /**< each of them */
} meta_kernel_desc;

/** What a kernel object is made from: a kernel and one element type. */
typedef struct meta_kernel_source {
    size_t size;                  /**< of this structure */
    const meta_kernel_desc *desc; /**< outlives the kernel object */
    uint32_t type;                /**< meta_type */
    const char *text;             /**< kernel source; NULL: the built-in kernel desc->number */
    const meta_kernel *user;      /**< of META_FAMILY_USER: with its CPU code */
    uint32_t is_checked;          /**< use META_KERNEL_CHECKED */
} meta_kernel_source;

/** Bytes of an element of @p type; 0 if there is no such type. */
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

/** The name of @p type: f64 … */
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

/** Whether a result says where it lies: a meta_extreme_f64 and the like. */
static inline int meta_has_place(uint32_t combine)
{
    return combine == META_COMBINE_min_at || combine == META_COMBINE_max_at;
}

/** Bytes of a result of a program's kernel. */
static inline size_t meta_result_bytes(const meta_result_desc *result)
{
    return meta_has_place(result->combine) ? sizeof(meta_extreme_f64)
                                           : meta_element_bytes(result->type);
}

/** Bytes of a partial result of @p type: sums accumulate in a wider type. */
static inline size_t meta_partial_bytes(uint32_t combine, uint32_t type)
{
#define META_SUM_BYTES(NAME, name, bytes, wide, sum) sizeof(meta_##sum),
    static const unsigned char sums[] = {META_ARITHMETIC_TYPES(META_SUM_BYTES)};
#undef META_SUM_BYTES
    if (combine == META_COMBINE_exact) return META_EXACT_WORDS * sizeof(meta_i64);
    if (meta_has_place(combine)) return 2 * sizeof(meta_i64); /* a value and its cell's number */
    return combine == META_COMBINE_sum ? sums[type] : meta_element_bytes(type);
}

/** The words of 8 bytes that a partial result of a program's kernel takes on a device. */
static inline uint32_t meta_partial_words(const meta_result_desc *result)
{
    return result->combine == META_COMBINE_exact ? META_EXACT_WORDS
           : meta_has_place(result->combine)     ? 2
                                                 : 1;
}
/** How many of a program's kernel's results are exact sums. */
static inline uint32_t meta_exact_results(const meta_kernel_desc *desc)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < desc->results; ++k)
        count += desc->result[k].combine == META_COMBINE_exact;
    return count;
}

/** The built-in reduction that combines as @p combine, META_COMBINE_sum, _min, _max or _exact,
 * says. */
static inline uint32_t meta_reduction_of(uint32_t combine)
{
    return combine == META_COMBINE_sum     ? (uint32_t)META_KERNEL_REDUCE_SUM
           : combine == META_COMBINE_min   ? (uint32_t)META_KERNEL_REDUCE_MIN
           : combine == META_COMBINE_exact ? (uint32_t)META_KERNEL_EXACT_SUM
                                           : (uint32_t)META_KERNEL_REDUCE_MAX;
}

/* Parameters of a program's kernel. */
/** Whether a parameter is an array. A SCALAR is one of one element, with strides of 0. */
static inline int meta_parameter_is_array(const meta_kernel_parameter *p)
{
    return p->kind < META_PARAMETER_VALUE;
}
/** Whether a parameter is a result. */
static inline int meta_parameter_is_result(const meta_kernel_parameter *p)
{
    return p->kind > META_PARAMETER_VALUE;
}
/** Whether a parameter is a sum whose additions round. */
static inline int meta_parameter_is_real_sum(const meta_kernel_parameter *p)
{
    return p->kind == META_PARAMETER_SUM && (p->type == META_F64 || p->type == META_F32);
}
/** The words of 8 bytes that a value takes. Behind all values follows the box's start. */
static inline uint32_t meta_parameter_words(const meta_kernel_parameter *p)
{
    return (p->bytes + 7) / 8;
}

/** The most words that a kernel's text takes one by one, as `META_USER_WORD(k)`: with 32 arrays they fit in
 *  the 1 KiB of arguments that every OpenCL device takes. Of more it has `META_USER_WORDS_PARAMETER` instead,
 *  with its comma if it is anything, and reaches them by `META_USER_WORD_AT(k)`. */
#define META_WORDS_BY_VALUE 64
/** Whether the words of such a kernel's values are in memory. */
static inline int meta_words_in_memory(const meta_kernel_desc *desc)
{
    return desc->values > META_WORDS_BY_VALUE;
}

/* Teams of cells, see meta_kernel_team.h. */
/** The team of a kernel, which may be NULL; NULL if it has none or is of a header without teams. */
static inline const meta_kernel_team *meta_kernel_team_of(const meta_kernel *kernel)
{
    return kernel && META_KNOWS(kernel, team) ? kernel->team : NULL;
}
/** The members of a team that no edge cuts. */
static inline uint32_t meta_team_members(const meta_kernel_team *team)
{
    return team->extent[0] * team->extent[1] * team->extent[2];
}
/** The members of a team, rounded up to a power of two: the work items of a group that computes teams. */
static inline uint32_t meta_team_items(const meta_kernel_team *team)
{
    uint32_t items = 1;
    while (items < meta_team_members(team)) items *= 2;
    return items;
}
/** The bytes of a team's memory. */
static inline uint64_t meta_team_bytes(const meta_kernel_team *team)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < team->shareds; ++k)
        bytes += (uint64_t)team->shared[k].bytes * team->shared[k].count;
    return bytes;
}
/** The bytes of a team's memory, and of what combines its members' results: one for each of the
 * members, rounded up to a power of two. */
static inline uint64_t meta_team_bytes_all(const meta_kernel *kernel)
{
    uint64_t item = 0;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        const int has_place =
            p->kind == META_PARAMETER_MIN_AT || p->kind == META_PARAMETER_MAX_AT;
        if (has_place) item = 2 * sizeof(meta_u64);
        else if (meta_parameter_is_result(p) && item == 0) item = sizeof(meta_u64);
    }
    return meta_team_bytes(kernel->team) + item * meta_team_items(kernel->team);
}
/** How many teams lie along dimension @p d of @p space. */
static inline meta_i64 meta_team_count(const meta_kernel_team *team, const meta_space *space, int d)
{
    const meta_i64 side = d < META_KERNEL_TEAM_DIMS ? team->extent[d] : 1;
    return d < space->ndim ? (space->extent[d] + side - 1) / side : 1;
}
/** How many teams there are in all. */
static inline meta_i64 meta_team_count_all(const meta_kernel_team *team, const meta_space *space)
{
    meta_i64 count = 1;
    for (int d = 0; d < space->ndim; ++d) count *= meta_team_count(team, space, d);
    return count;
}

/* ------------------------------------------------------------------ launches and copies */

/** The destination of a reduction's result, one element of the call's type, or where it has a place a
 *  meta_extreme_f64 or the like: host memory, written
 * when the launch's ticket completes, or, if host is NULL, a memory object at byte `offset`. An
 * exact sum's META_EXACT_RESULT 64-bit words always go to a memory object, at a multiple of 8. */
typedef struct meta_result {
    void *host;      /**< host memory, or NULL */
    void *object;    /**< the memory object, where host is NULL */
    uint64_t offset; /**< in the object */
} meta_result;

/** Where the result goes on a device whose memory is the host's. */
static inline void *meta_result_memory(const meta_result *result)
{
    return result->host ? result->host : (char *)result->object + result->offset;
}

/** What a back end may want to know of a call; bits of meta_call.hints. */
typedef enum meta_call_hint {
    META_CALL_FOR_ANOTHER = 1 /**< another process of this node reads operand 0 next, and this one
                                   does not: it may be stored past this core's caches */
} meta_call_hint;

/** One kernel applied to one iteration space. */
typedef struct meta_call {
    uint32_t size; /**< of this structure, in bytes */
    uint32_t type; /**< meta_type of the elements */
    meta_plugin_kernel
        *kernel; /**< made by kernel_create() of the queue's device for desc and type */
    const meta_kernel_desc *desc; /**< of the kernel */
    const meta_space *space; /**< with a layout per operand, at least META_SPACE_OPERANDS of them */
    void *const *object;     /**< native memory objects of the operands: desc->operands of them */
    const void *values;      /**< the desc->values elements or words passed by value, contiguous */
    const meta_result *result; /**< NULL unless the kernel is a reduction; an array of desc->results
                                    for META_FAMILY_USER */
    const meta_i64 *start; /**< since 2.2, of META_FAMILY_USER: the box's, in all of its dimensions */
    uint32_t hints; /**< since 2.5: of meta_call_hint; they change no result. Use meta_call_hints() */
} meta_call;

/** The hints of a call, of which a library before 2.5 gives none. */
static inline uint32_t meta_call_hints(const meta_call *call)
{
    return META_KNOWS(call, hints) ? call->hints : 0;
}

/** The layout of operand @p k. */
static inline const meta_layout *meta_call_layout(const meta_call *call, uint32_t k)
{
    return (const meta_layout *)(const void *)((const char *)call->space +
                                               offsetof(meta_space, layout)) +
           k;
}
/** Bytes of a space with @p operands layouts. */
static inline size_t meta_space_bytes(uint32_t operands)
{
    return offsetof(meta_space, layout) + operands * sizeof(meta_layout);
}

/** A handle to the completion of queued work, defined by the back end; NULL is complete. */
typedef void *meta_ticket;
/** Passed instead of a ticket's address: no ticket is wanted. */
#define META_NO_TICKET ((meta_ticket *)NULL)

/** When work ran. Initialised to zero, which a back end without timestamps leaves in place. */
typedef struct meta_stamp {
    void *work;     /**< argument of stamp_read(); NULL: begin and end are valid already */
    uint64_t begin; /**< nanoseconds on CLOCK_MONOTONIC */
    uint64_t end;   /**< likewise */
} meta_stamp;

/** Calls that do not depend on each other, queued as one unit. */
typedef struct meta_launch {
    size_t size;            /**< of this structure */
    const meta_call *calls; /**< an array: use meta_launch_call() */
    size_t count;           /**< the number of calls */
    size_t stride;          /**< bytes from one call to the next */
    meta_ticket *ticket;    /**< set to the unit's completion; NULL: not wanted */
    meta_stamp *stamp;      /**< NULL: not wanted */
} meta_launch;

/** Call number @p n of a launch. */
static inline const meta_call *meta_launch_call(const meta_launch *launch, size_t n)
{
    return (const meta_call *)(const void *)((const char *)launch->calls + n * launch->stride);
}

/** The direction of a copy. */
typedef enum meta_copy_kind {
    META_COPY_H2D, /**< from the host */
    META_COPY_D2H, /**< to the host */
    META_COPY_PEER /**< from another device of the back end */
} meta_copy_kind;

/** A copy between the queue's device and the host, or with META_COPY_PEER to the queue's device
 * from another device of the same back end. */
typedef struct meta_copy {
    size_t size;              /**< of this structure */
    meta_copy_kind kind;      /**< the direction */
    void *object;             /**< a memory object of the queue's device */
    uint64_t offset;          /**< in the object */
    size_t bytes;             /**< to be copied */
    void *host;               /**< for H2D and D2H */
    meta_plugin_device *peer; /**< for PEER: the source device */
    void *peer_object;        /**< its memory object */
    uint64_t peer_offset;     /**< in that object */
    meta_ticket *ticket;      /**< as in meta_launch */
    meta_stamp *stamp;        /**< likewise */
} meta_copy;

/** A piece of device memory. */
typedef struct meta_memory {
    /** What the application sees. If the device's memory has no host addresses, reserve a range of
     *  address space of the same size, so that no address is issued twice. */
    void *address;
    void *object;   /**< the native memory object */
    uint64_t bytes; /**< its size */
} meta_memory;

/** What a queue is for. */
typedef enum meta_queue_kind {
    META_QUEUE_COMPUTE, /**< the program's work */
    META_QUEUE_HALO,    /**< packing and copies of halo exchanges */
    META_QUEUE_COUNT    /**< the number of kinds */
} meta_queue_kind;
/** How much is logged: META_LOG. */
typedef enum meta_log_level {
    META_LOG_OFF,  /**< nothing */
    META_LOG_WARN, /**< what may be wrong */
    META_LOG_INFO, /**< what was chosen, and why */
    META_LOG_DEBUG /**< more than that */
} meta_log_level;

/* ------------------------------------------------------------------ the two tables */

/** Code to be compiled once and kept for later runs, see meta_host.cached. The code depends on
 *  nothing but the facts: the program's text, its language, the options, the compiler's build, the
 * driver, the device's architecture. */
typedef struct meta_cached {
    size_t size;             /**< of this structure */
    const char *kind;        /**< what the code is: letters, with which its file's name begins */
    const char *title;       /**< for messages: "kernel wave for f64" */
    const char *const *fact; /**< texts; NULL counts as empty */
    uint32_t facts;          /**< their number */
    /** The last so many facts say only which compiler it was. Where none is found, that is where
     *  build() returns META_ERR_UNSUPPORTED, and with META_JIT=load, code that another build of the
     *  compiler made from the same facts is loaded, and so it always is from META_KERNEL_PATH. */
    uint32_t compiler_facts;
    void *with; /**< passed to the functions */
    /** Load @p code, which is intact. An error means that the device refuses it: it is compiled
     *  anew. @p code is valid during the call only. */
    meta_err (*load)(void *with, const void *code, size_t bytes);
    /** Compile and load. Set @p code, of malloc(), to what is to be kept; NULL: nothing is. */
    meta_err (*build)(void *with, void **code, size_t *bytes);
} meta_cached;

/** The core's services to a plug-in. Valid until the process ends. */
typedef struct meta_host {
    size_t size; /**< of this structure */
    /** Set the error message and return @p code: `return host->fail(META_ERR_DEVICE, "clFoo: %s",
     *  why)`. The core prefixes the name of the public function. */
    meta_err (*fail)(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /** Log a message, if META_LOG enables the level; each warning is logged once. */
    void (*log)(meta_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    /** The number of CPU threads that this process should use, at least 1. */
    int (*threads)(void);
    /** The value of a META_* environment variable that the core knows; NULL if it is not set. */
    const char *(*variable)(const char *name);
    /** Whether timestamps will be requested; some runtimes must know when a queue is created. */
    int (*timing)(void);
    /** Since 2.1. Load code from the cache or, if it is not there, compile it; META_JIT may forbid
     * either. One process of a node compiles while the others wait for it. @return the last error
     * of build(), or META_ERR_UNSUPPORTED if it may not be called */
    meta_err (*cached)(const meta_cached *what);
    /** Since 2.4. Addresses for a buffer of @p bytes whose memory has none: a multiple of 256, where
     * nothing else is, and where an access by the host faults. */
    meta_err (*addresses_take)(size_t bytes, void **address);
    /** Since 2.4. Give them back, with the same @p bytes. */
    void (*addresses_give)(void *address, size_t bytes);
} meta_host;

/** Load or compile code by host->cached(); without it, of an older library, compile it and keep none. */
static inline meta_err meta_host_cached(const meta_host *host, const meta_cached *what)
{
    void *code = NULL;
    size_t bytes = 0;
    meta_err err;
    if (META_KNOWS(host, cached) && host->cached) return host->cached(what);
    err = what->build(what->with, &code, &bytes);
    free(code);
    return err;
}

/** How a back end lets META_CHECK=on check what programs' kernels access (see meta_ops.checks). */
typedef enum meta_access_checks {
    /** It runs their CPU code, and where meta_kernel_source.is_checked is set that of META_KERNEL_CHECKED. */
    META_CHECKS_CPU = 1,
    /** It builds their text, also one that checks: with one operand more, see META_MAX_OPERANDS. */
    META_CHECKS_TEXT = 2
} meta_access_checks;

/** A back end's functions. A member is NULL only where it says "optional"; a plug-in built for an
 *  earlier minor version lacks members at the end (see size), which are then all optional.
 * Functions that return meta_err set the message with host->fail. */
typedef struct meta_ops {
    size_t size; /**< of this structure */

    /** The number of devices. If 0, set @p reason to a sentence that says why; -1 if the host has no
     *  memory to find them: they are asked for again. */
    int (*device_count)(char *reason, size_t room);
    /** Describe device @p index without opening it; the core fills in mode and backend. */
    meta_err (*device_info)(int index, meta_device_desc *desc);
    /** Open a device, on the application's native objects in @p state unless it is NULL. */
    meta_err (*open)(int index, const meta_state *state, meta_plugin_device **device);
    /** Close it; all of its queues, kernels and memory are gone. */
    void (*close)(meta_plugin_device *device);
    /** The native objects in use on @p device, with those of @p queue. */
    meta_err (*state)(meta_plugin_device *device, meta_plugin_queue *queue, meta_state *state);

    /** Allocate device memory; META_ERR_NO_MEMORY if there is none. No other allocation may begin
     *  where this one ends: the address one past a buffer is no buffer's. */
    meta_err (*alloc)(meta_plugin_device *device, size_t bytes, meta_memory *memory);
    /** Free memory from alloc. All work that uses it is complete. */
    void (*free)(meta_plugin_device *device, const meta_memory *memory);
    /** Use memory of the application, see meta_wrap(). */
    meta_err (*wrap)(meta_plugin_device *device, void *native, size_t bytes, meta_native_kind kind,
                     meta_memory *memory);
    /** End a wrap. All work that uses the memory is complete. */
    void (*unwrap)(meta_plugin_device *device, const meta_memory *memory);
    /** Optional: page-locked host memory, with a gap behind it as for alloc(). Without it the core
     *  uses aligned host memory. */
    meta_err (*host_alloc)(meta_plugin_device *device, size_t bytes, void **ptr);
    /** Free memory from host_alloc(). */
    void (*host_free)(meta_plugin_device *device, void *ptr, size_t bytes);

    /** Create a kernel object for one element type; this is where to compile. The core caches it
     * and uses it for all launches while the device is open. META_ERR_TYPE if the device does not
     * support the type; META_ERR_UNSUPPORTED for a built-in kernel that the back end does not know
     * (of a later libmeta), and for source text if it compiles none. */
    meta_err (*kernel_create)(meta_plugin_device *device, const meta_kernel_source *source,
                              meta_plugin_kernel **kernel);
    /** Optional. No launch of the kernel is in flight. */
    void (*kernel_destroy)(meta_plugin_device *device, meta_plugin_kernel *kernel);

    /** Create an in-order queue: launches may reuse each other's scratch memory. The compute queue
     * is created first and only once. */
    meta_err (*queue_create)(meta_plugin_device *device, meta_queue_kind kind,
                             meta_plugin_queue **queue);
    /** Destroy a queue, whose work is complete. */
    void (*queue_destroy)(meta_plugin_queue *queue);
    /** Wait for all queued work. @return its first error that no ticket has reported. */
    meta_err (*queue_finish)(meta_plugin_queue *queue);
    /** A barrier between two queues of a device: work queued on @p queue after this call runs after
     * all work queued on @p earlier before it. The host does not wait. */
    meta_err (*queue_after)(meta_plugin_queue *queue, meta_plugin_queue *earlier);
    /** Work queued on @p queue after this call runs after the work of @p ticket, which is of any
     * queue of any device of this back end. The host does not wait, and the ticket may be released
     * at once. META_ERR_UNSUPPORTED if the one device cannot wait for the other: the core then
     * waits on the host. */
    meta_err (*queue_wait)(meta_plugin_queue *queue, meta_ticket ticket);

    /** Queue a copy; META_COPY_PEER only between devices that copy_peer() accepts. */
    meta_err (*copy)(meta_plugin_queue *queue, const meta_copy *copy);
    /** Optional: whether META_COPY_PEER can copy to @p device from @p peer. Without it there are no
     *  copies between devices. */
    int (*copy_peer)(meta_plugin_device *device, meta_plugin_device *peer);
    /** Queue the calls of a launch. The arrays that it points to are valid only during this call; a
     *  result's host memory is valid until the launch completes. */
    meta_err (*launch)(meta_plugin_queue *queue, const meta_launch *launch);

    /** Test whether a ticket's work is complete; if so, return the work's error. The ticket stays
     * valid. */
    meta_err (*ticket_test)(meta_ticket ticket, int *complete);
    /** Wait for a ticket's work and return its error. The ticket stays valid. */
    meta_err (*ticket_wait)(meta_ticket ticket);
    /** Release a ticket, complete or not. */
    void (*ticket_release)(meta_ticket ticket);

    /** Whether the work of a stamp has completed. If so, set its begin and end in nanoseconds on
     * any monotonic clock of the device, or to 0 if they are unknown. Optional, with stamp_release,
     * if the back end never sets a stamp's work. */
    int (*stamp_read)(void *work, uint64_t *begin, uint64_t *end);
    /** Release a stamp, read or not, before its queue is destroyed. */
    void (*stamp_release)(void *work);

    /** Optional, since 2.3: the time in nanoseconds on the clock of the stamps, for a back end whose
     * time is not the host's CLOCK_MONOTONIC: a simulation. */
    uint64_t (*now)(void);
    /** Optional, since 2.5: bits of meta_access_checks. Without one, kernels of programs run as they are with
     * META_CHECK=on, and libmeta warns once that their AT(), GET() and SHARED() are not checked there. */
    uint32_t checks;
} meta_ops;

/** A back end. */
typedef struct meta_plugin {
    uint32_t magic;          /**< META_PLUGIN_MAGIC */
    uint16_t abi_major;      /**< META_PLUGIN_ABI_MAJOR */
    uint16_t abi_minor;      /**< META_PLUGIN_ABI_MINOR */
    size_t size;             /**< of this structure */
    const char *name;        /**< as in META_MODE, and the file's name without .so */
    const char *description; /**< a sentence */
    meta_err (*init)(const meta_host *host); /**< before anything else; again after fini() */
    void (*fini)(void);                      /**< after everything else; may be NULL */
    const meta_ops *ops;                     /**< its functions */
} meta_plugin;

/** The only symbol that a plug-in exports: META_API const meta_plugin meta_plugin_v2 = {…}; */
#ifdef __cplusplus
extern "C" META_API const meta_plugin meta_plugin_v2;
#else
META_API extern const meta_plugin meta_plugin_v2;
#endif

#endif
