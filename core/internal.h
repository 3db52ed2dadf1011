/* SPDX-License-Identifier: BSD-3-Clause */
/** @file internal.h
 *  What libmeta_comm needs of the core beyond meta.h. Not installed; both libraries come from one
 *  build, and libmeta_comm checks the version before it uses the table. */
#ifndef META_INTERNAL_H
#define META_INTERNAL_H

#include <stdbool.h>

#include "base/hooks.h"
#include "base/plain.h"
#include "base/sized.h"
#include "device/cores.h"
#include "kernels/operation.h"
#include "memory/span.h"
#include "queue/pending.h"
#include "record/share.h"

#define META_CORE_VERSION 11

typedef struct meta_core {
    uint32_t version; /**< META_CORE_VERSION */
    size_t size;

    /* errors and log */
    /** Begin a public call: remember its name for messages. leave() ends it, also where it failed.
     *  @return META_ERR_INIT if not started */
    meta_err (*enter)(const char *call);
    void (*leave)(void);
    /** Whether a public call may begin now. Its name is remembered for messages. */
    meta_err (*ready)(const char *call);
    /** Whether this thread is in a public function. */
    bool (*in_call)(void);
    /** Public functions that this thread calls are parts of @p call for messages, until it is NULL.
     */
    void (*hold_call)(const char *call);
    meta_err (*fail)(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /** Make @p message, worded completely elsewhere, this thread's last error. */
    meta_err (*fail_as)(meta_err code, const char *message);
    uint64_t (*failures)(void); /**< how often this thread's last error was set */
    void (*log)(meta_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));
    const char *(*variable)(const char *name);
    bool (*is_secure)(void); /**< this process has more rights than its user */

    /** Structures of programs that begin with their size: see base/sized.h. */
    meta_err (*sized_get)(void *own, size_t now, const void *given, size_t least, const char *name,
                          const char *init);
    meta_err (*sized_need)(const void *given, size_t least, size_t now, const char *name,
                           const char *init);

    int (*checked)(void); /**< META_CHECK=on */

    /* the job */
    int (*started)(void);            /**< whether meta_init() is in force */
    void (*cores)(meta_cores *mine); /**< those this process may run on */
    /** Those of each rank of this node; before the first device is opened. */
    meta_err (*set_node_cores)(const meta_cores *cores, int ranks);
    void (*set_threads)(int threads); /**< share of them; META_THREADS and OMP_NUM_THREADS win */
    void (*set_hooks)(const meta_hooks *hooks); /**< NULL takes them away */

    /* checked operands; @p name is the argument's, for messages */
    meta_err (*check_type)(meta_type type, const char *name, size_t *bytes);
    meta_err (*check_op)(meta_op op);
    meta_err (*check_box)(const meta_box *box, const char *name);
    /** A device buffer of at least @p count elements at @p ptr. */
    meta_err (*resolve)(const void *ptr, int64_t count, meta_type type, const char *name,
                        meta_span *span);
    /** A device buffer at @p ptr that holds every element of @p face. */
    meta_err (*resolve_face)(const void *ptr, const meta_face *face, meta_type type,
                             const char *name, meta_span *span);
    /** Host memory, or a device buffer: then *is_device is 1 and the span is filled in. */
    meta_err (*resolve_any)(const void *ptr, int64_t count, meta_type type, const char *name,
                            int *is_device, meta_span *span);
    /** Where a buffer begins a grid, @p box must be one of an array of its shape. The span is that
     * of resolve(), which fails with META_ERR_BOUNDS only after it has filled it in. */
    meta_err (*check_shape)(const meta_span *span, const meta_box *box, meta_type type,
                            const char *name);
    meta_err (*same_device)(const meta_span *a, const char *name_a, const meta_span *b,
                            const char *name_b);
    meta_err (*no_overlap)(const meta_span *packed, int64_t count, const meta_span *buf,
                           const meta_face *face, meta_type type);
    /** While held, meta_free and meta_unwrap of the buffer behind @p ptr return META_ERR_STATE. */
    void (*hold)(const void *ptr);
    void (*release)(const void *ptr);

    /* devices */
    meta_err (*current_device)(meta_device **device);
    meta_err (*device_info)(const meta_device *device, meta_device_desc *desc);
    int (*is_host)(const meta_device *device);

    /* memory: device scratch is a plain buffer of the registry; staging is pooled host memory */
    meta_err (*scratch)(meta_device *device, size_t bytes, void **ptr);
    void (*scratch_free)(void *ptr);
    /** Forget it without giving the memory back, because MPI may still read it. */
    void (*scratch_leave)(void *ptr);
    meta_err (*staging)(meta_device *device, size_t bytes, void **host);
    void (*staging_free)(meta_device *device, void *host);

    /* work: operations made without regard to a device, bound to one, queued and followed */
    /** Begin a move of the elements of @p shape: META_KERNEL_PACK, _UNPACK, _COPY, or
     * META_KERNEL_AXPY, which adds. An operand is the section @p dst or @p src, or where that is
     * NULL as many elements packed. false: there are no elements, and nothing is to be launched. */
    bool (*move_begin)(meta_builtin *move, meta_kernel_id kernel, meta_type type,
                       const meta_face *dst, const meta_face *src);
    /** Its operands lie at @p dst and @p src, on one device. It may have been copied before, but
     * must stay where it is from now on until it is launched. */
    meta_err (*move_bind)(meta_builtin *move, const meta_span *dst, const meta_span *src);
    /** Queue @p count bound moves, one behind the other in memory, as one unit. */
    meta_err (*launch)(meta_device *device, meta_queue_kind queue, meta_builtin *moves,
                       size_t count, meta_pending *pending);
    /** Copy @p bytes between host memory and a span. A NULL pending means untracked, here as above.
     */
    meta_err (*copy)(meta_device *device, meta_queue_kind queue, meta_copy_kind kind, void *host,
                     const meta_span *span, size_t bytes, meta_pending *pending);
    meta_err (*queue_after)(meta_device *device, meta_queue_kind queue, meta_queue_kind earlier);
    meta_err (*pending_test)(const meta_pending *pending, int *complete);
    meta_err (*pending_wait)(const meta_pending *pending);
    void (*pending_release)(meta_pending *pending);

    /* reproducible sums: an exact sum is META_EXACT_WORDS words, to be added word by word */
    int (*reproducible)(void); /**< whether they are asked for */
    /** Keep the exact sum that meta_reduce() and the like left behind the element at @p address,
     * which may still be queued; NULL where there is none. Unpin it in the end. */
    void *(*exact_pin)(const void *address);
    void (*exact_unpin)(void *pinned);
    /** The exact sum of @p pinned, which is complete, where it rounds to the element at @p value;
     *  otherwise, and where @p pinned is NULL, that element itself. */
    void (*exact_limbs)(const void *pinned, const void *value, meta_type type, int64_t *limbs);
    /** Round the sum of exact sums to the element at @p value. */
    void (*exact_element)(int64_t *limbs, meta_type type, void *value);
    /** What lies at these addresses is no longer what was summed. */
    void (*exact_forget)(const void *address, uint64_t bytes);

    /* events that comm completes */
    meta_err (*event_new)(meta_event *event);
    /** Complete it; @p message (may be NULL) becomes the last error of whoever waits. No-op for
     *  META_EVENT_NULL and for an event that was freed. */
    void (*event_complete)(meta_event event, meta_err status, const char *message);

    /* what is recorded of a run */
    const _Atomic int *profiling; /**< the flags META_PROFILE_* that are on */
    void (*profile_want)(int flags);
    uint64_t (*profile_now)(void); /**< nanoseconds */
    /** What this thread queues from now on is a measurement of the library's own, or (false) not.
     */
    void (*profile_measuring)(bool on);
    /** A message or an exchange of several begins to be under way (+1), or it has ended (-1). */
    void (*profile_comm)(int change);
    void (*profile_message)(const meta_profile_passage *passage);
    /** Wait for all devices, then what this process has counted; its rows are to be given to
     * free(). */
    meta_err (*profile_share)(meta_profile_share *share);
    /** For each of the flags META_PROFILE_SUMMARY and META_PROFILE_JSON. */
    void (*profile_report)(const meta_profile_share *share, int count, int flags);
    void (*profile_forget)(void);  /**< count from zero */
    uint64_t (*trace_began)(void); /**< when it began to trace */
    /** This process's part of the trace. */
    meta_err (*trace_text)(const meta_trace_clock *clock, meta_trace_sink *sink, void *with);
    /** The file of META_PROFILE, which one process writes; false where it cannot be, of which
     * people have been told. */
    bool (*trace_open)(void);
    meta_trace_sink *trace_put;
    void (*trace_close)(void);
    void (*trace_done)(void); /**< nothing is traced any more */

    /** Call @p beat about every half second, on any thread, while this process compiles or waits
     * for another one that does; also before the hooks are set, and after. */
    void (*set_compiling)(void (*beat)(void));
} meta_core;

#ifdef __cplusplus
extern "C" META_API const meta_core meta_core_table;
#else
META_API extern const meta_core meta_core_table;
#endif

#endif
