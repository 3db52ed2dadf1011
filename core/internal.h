/* SPDX-License-Identifier: BSD-3-Clause */
/** @file internal.h
 *  What libmeta_comm needs of the core beyond meta.h. Not installed; both libraries come from one
 *  build, and libmeta_comm checks the version before it uses the table. */
#ifndef META_INTERNAL_H
#define META_INTERNAL_H

#include <stdbool.h>

#include "meta_backend.h"

#define META_CORE_VERSION 5

#ifndef META_TRY
/** Return early with an error. */
#define META_TRY(expression)                           \
    do {                                               \
        const meta_err error_ = (expression);          \
        if (error_ != META_OK) return error_;          \
    } while (0)
#endif

typedef struct meta_device meta_device; /* an open device, the core's own */

/** A checked operand: live memory of one device. */
typedef struct meta_span {
    meta_device *device;
    void *object;    /**< native memory object */
    uint64_t offset; /**< bytes from its beginning */
    uint64_t room;   /**< bytes from there to the end of the buffer */
    char *address;   /**< what the application sees; the data itself where the device is a host one */
    uint64_t before; /**< bytes from the beginning of the buffer, which may lie inside the object */
} meta_span;

/** Device work in flight; .ticket NULL: complete. */
typedef struct meta_pending {
    meta_device *device;
    meta_ticket ticket;
} meta_pending;

/** Called by the core, from an application's thread. */
typedef struct meta_hooks {
    /** Advance messages without waiting; *moved is set to 1 if any made progress. May be called on
     *  any thread; does nothing where MPI must not be called. */
    void (*progress)(int *moved);
    /** Whether this thread may complete messages; META_ERR_STATE with the reason if not. */
    meta_err (*allowed)(void);
    /** Complete all messages; the error of the first untracked one that failed. */
    meta_err (*flush)(void);
    /** A public call is about to queue work on @p device's compute queue: queue before it what
     *  exchanges whose finish was called still owe, waiting for the messages where it must. */
    void (*settle)(meta_device *device);
    /** Print the summary of all ranks. */
    meta_err (*print)(void);
    /** The core is about to finalise: drop everything that uses it. */
    void (*finalize)(void);
} meta_hooks;

/** What is recorded; several at once. */
enum {
    META_PROFILE_SUMMARY = 1, /**< META_PROFILE=summary: printed at the end */
    META_PROFILE_TIMERS = 2,  /**< meta_timers_init(): printed when asked for */
    META_PROFILE_TOOL = 4,    /**< meta_set_tool() */
    META_PROFILE_TRACE = 8    /**< META_PROFILE=trace:FILE */
};

/** Where recorded time went. */
typedef enum meta_profile_where {
    META_WHERE_WORK,    /**< kernels and copies that the application asked for */
    META_WHERE_HALO,    /**< those of halo exchanges */
    META_WHERE_MESSAGE, /**< those of messages and reductions */
    META_WHERE_MEASURE, /**< what the library measures for its own decisions */
    META_WHERE_WIRE,    /**< messages between ranks, from one end to the other */
    META_WHERE_RANGE,   /**< ranges of meta_range_push() */
    META_WHERE_COUNT
} meta_profile_where;

/** One line of a process's summary. */
typedef struct meta_profile_row {
    int where;
    char backend[32]; /**< that ran it; empty where none did */
    char name[64];
    char label[META_LABEL_BYTES]; /**< of the buffer written, or else read; empty: all of that name */
    uint64_t calls, bytes;
    uint64_t timed;       /**< calls of which it is known how long they took, */
    uint64_t timed_bytes; /**< their bytes, */
    double seconds;       /**< their time */
    double could;         /**< bytes that a copy moves in that time; 0 where that is not known */
} meta_profile_row;

/** What a process adds to the summary of all. */
typedef struct meta_profile_share {
    int rank;
    double seconds; /**< since recording began */
    double comm;    /**< in which messages or exchanges were under way, */
    double hidden;  /**< and in which the application's kernels ran meanwhile */
    meta_profile_row *rows;
    size_t count;
} meta_profile_share;

/** A message between ranks, as one end sees it. */
typedef struct meta_profile_passage {
    const char *name; /**< valid for ever, one address for one text */
    uint64_t bytes;
    uint64_t begin, end; /**< from its posting, by meta_core's profile_now() */
    bool out;            /**< from this rank; else to it */
    int peer;            /**< the other rank; negative where there is not one */
    /* Which message it is, for both ends the same; none where flows is false. */
    bool flows;
    uint64_t channel, number;
    uint64_t given; /**< when the sender gave it away, or the receiver had it */
} meta_profile_passage;

/** How this process's clock and that of all ranks go together: what is added to a time is known at
 *  two times, and between them on a line. */
typedef struct meta_trace_clock {
    uint64_t time[2];
    double offset[2];
    uint64_t base; /**< of all ranks: when the trace begins */
    double within; /**< nanoseconds by which a time may be wrong; 0 for the clock of all itself */
} meta_trace_clock;

/** Takes whole lines of a trace, at most META_TRACE_PIECE bytes of them. */
typedef void meta_trace_sink(void *with, const char *text, size_t bytes);
#define META_TRACE_PIECE (256 << 10)

#define META_MAX_CPUS 4096
/** CPU cores as bits, by their number on the node. */
typedef struct meta_cores {
    uint64_t bits[META_MAX_CPUS / 64];
} meta_cores;

typedef struct meta_core {
    uint32_t version; /**< META_CORE_VERSION */
    size_t size;

    /* errors and log */
    /** Begin a public call: remember its name for messages. @return META_ERR_INIT if not started. */
    meta_err (*enter)(const char *call);
    meta_err (*fail)(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /** Make @p message, worded completely elsewhere, this thread's last error. */
    meta_err (*fail_as)(meta_err code, const char *message);
    void (*log)(meta_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
    const char *(*variable)(const char *name);

    int (*checked)(void); /**< META_CHECK=1 */

    /* the job */
    int (*started)(void); /**< whether meta_init() is in force */
    void (*cores)(meta_cores *mine); /**< those this process may run on */
    /** Those of each rank of this node; before the first device is opened. */
    meta_err (*set_node_cores)(const meta_cores *cores, int ranks);
    void (*set_threads)(int threads); /**< share of them; META_THREADS and OMP_NUM_THREADS win */
    void (*set_hooks)(const meta_hooks *hooks); /**< NULL takes them away */

    /* checked operands; @p name is the argument's, for messages */
    meta_err (*check_type)(meta_type type, size_t *bytes);
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

    /* work: build calls, queue them, follow them. A NULL pending means untracked. */
    /** META_KERNEL_PACK (packed ← buf) or META_KERNEL_UNPACK (buf ← packed); *empty is 1 if the face
     *  has no elements and there is nothing to launch. */
    meta_err (*face_call)(meta_call *call, meta_kernel_id kernel, const meta_span *packed,
                          const meta_span *buf, const meta_face *face, meta_type type, int *empty);
    /** META_KERNEL_COPY of a face to another one of equal sizes. */
    meta_err (*copy_call)(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                          const meta_span *src, const meta_face *src_face, meta_type type,
                          int *empty);
    /** META_KERNEL_AXPY with alpha 1: the elements of @p dst_face become their sum with those of
     *  @p src_face, or where that is NULL with as many that lie one behind the other. */
    meta_err (*add_call)(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                         const meta_span *src, const meta_face *src_face, meta_type type,
                         int *empty);
    meta_err (*launch)(meta_device *device, meta_queue_kind queue, const meta_call *calls,
                       size_t count, meta_pending *pending);
    meta_err (*copy)(meta_device *device, meta_queue_kind queue, meta_copy_kind kind, void *host,
                     const meta_span *span, size_t bytes, meta_pending *pending);
    meta_err (*queue_after)(meta_device *device, meta_queue_kind queue, meta_queue_kind earlier);
    meta_err (*pending_test)(const meta_pending *pending, int *complete);
    meta_err (*pending_wait)(const meta_pending *pending);
    void (*pending_release)(meta_pending *pending);

    /* reproducible sums: an exact sum is META_EXACT_WORDS words, to be added word by word */
    int (*reproducible)(void); /**< whether they are asked for */
    /** Keep the exact sum that meta_reduce() and the like left behind the element at @p address, which
     *  may still be queued; NULL where there is none. Unpin it in the end. */
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
    /** What this thread queues from now on is a measurement of the library's own, or (false) not. */
    void (*profile_measuring)(bool on);
    /** A message or an exchange of several begins to be under way (+1), or it has ended (-1). */
    void (*profile_comm)(int change);
    void (*profile_message)(const meta_profile_passage *passage);
    /** Wait for all devices, then what this process has counted; its rows are to be given to free(). */
    meta_err (*profile_share)(meta_profile_share *share);
    void (*profile_print)(const meta_profile_share *share, int count);
    void (*profile_forget)(void); /**< count from zero */
    uint64_t (*trace_began)(void); /**< when it began to trace */
    /** This process's part of the trace. */
    meta_err (*trace_text)(const meta_trace_clock *clock, meta_trace_sink *sink, void *with);
    /** The file of META_PROFILE, which one process writes; false where it cannot be, of which people
     *  have been told. */
    bool (*trace_open)(void);
    meta_trace_sink *trace_put;
    void (*trace_close)(void);
    void (*trace_done)(void); /**< nothing is traced any more */
} meta_core;

#ifdef __cplusplus
extern "C" META_API const meta_core meta_core_table;
#else
META_API extern const meta_core meta_core_table;
#endif

#endif
