/* SPDX-License-Identifier: BSD-3-Clause */
/** @file core.h
 *  What the files of libmeta share among themselves. */
#ifndef META_CORE_H
#define META_CORE_H

#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Here the functions are defined that meta.h makes macros of. */
#define META_NO_PLACES
#include "internal.h"
#include "module.h"
#include "profile.h"

/** Return early with an error. */
#define META_TRY(expression)                           \
    do {                                               \
        const meta_err error_ = (expression);          \
        if (error_ != META_OK) return error_;          \
    } while (0)
/** Begin a public function: the library must have been started. */
#define META_ENTER() META_TRY(meta_enter(__func__))
/** An output argument must be given. */
#define META_NEED(argument)                                                             \
    do {                                                                                \
        if ((argument) == NULL)                                                         \
            return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", #argument);    \
    } while (0)
/** A descriptor that grows: the caller's size must hold what the first version had. */
#define META_NEED_DESC(desc, INIT)                                                              \
    do {                                                                                        \
        META_NEED(desc);                                                                        \
        if ((desc)->size < sizeof *(desc))                                                      \
            return meta_fail(META_ERR_ARGUMENT, "argument '%s' has size %zu: set it to " #INIT, \
                             #desc, (desc)->size);                                              \
    } while (0)

/* error.c */
meta_err meta_fail(meta_err code, const char *format, ...) __attribute__((format(printf, 2, 3)));
meta_err meta_fail_as(meta_err code, const char *message);
void meta_call_name(const char *call);
/** A copy of this thread's message for an operation that outlives the call; NULL where none fits. */
char *meta_error_copy(void);

/* log.c */
void meta_log(meta_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void meta_log_set(meta_log_level level);
void meta_log_rank(int rank);
/** Write to the file @p name, or where it is NULL to the standard error stream. */
void meta_log_file(const char *name);
/** It is settled which rank this is. */
void meta_log_settle(void);

/* env.c */
const char *meta_variable(const char *name);
meta_err meta_env_read(void);

/* life.c */
meta_err meta_enter(const char *call);
int meta_started(void);
/** How often the library has been started: thread-local state of an earlier life is stale. */
unsigned meta_life(void);

/* topology.c */
void meta_cores_mine(meta_cores *cores);
int meta_threads(void);
void meta_threads_set(int share);
/** The threads a process would get that shares a node with @p node_size − 1 others. */
int meta_threads_of(int node_size);
meta_err meta_threads_read(void);

/** The cores near the device with this PCI address. @return false where that is not known. */
bool meta_cores_near(const char *pci, meta_cores *cores);

/* plugin.c */
typedef struct meta_backend {
    char name[32];
    meta_mode mode;
    bool looked_for;            /**< the members below are settled */
    bool usable;
    bool started;               /**< its init succeeded */
    const meta_plugin *plugin;  /**< NULL where it could not be loaded */
    meta_ops ops;               /**< the plugin's, zero where it has none */
    char path[1024], reason[256];
    int devices;
    meta_device **device;       /**< `devices` of them */
} meta_backend;
/** The back end called @p name, looked for; NULL where no plugin has that name and it is none of the
 *  known ones. */
meta_backend *meta_backend_named(const char *name);
meta_backend *meta_backend_of(meta_mode mode);
meta_backend *meta_backend_at(int index);
int meta_backends(void);
void meta_backends_close(void);

/* pool.c: device memory, kept when it is freed for what is allocated next */
typedef struct meta_block meta_block;
typedef struct meta_pool {
    pthread_mutex_t lock;
    uint64_t limit, kept, blocks, held, held_peak, reused, made, returned; /**< see meta_pool_desc */
    meta_block *youngest, *oldest;
    meta_block *class[64 * 8];
} meta_pool;
meta_err meta_pool_read(void);
void meta_pool_open(meta_device *device);
/** Nothing of it may be in use. */
void meta_pool_close(meta_device *device);
/** At least @p bytes. */
meta_err meta_pool_get(meta_device *device, uint64_t bytes, meta_block **block);
const meta_memory *meta_block_memory(const meta_block *block);
/** Work on it is complete. */
void meta_pool_put(meta_device *device, meta_block *block);
/** It is no longer the library's, and not given back. */
void meta_pool_leave(meta_device *device, meta_block *block);
/** Memory that is not pooled; what pools and staging keep goes back before it is refused. */
meta_err meta_device_memory(meta_device *device, uint64_t bytes, meta_memory *memory);
/** Give back what pools and staging keep on all devices. @return whether there was any */
bool meta_kept_release(void);

/* device.c */
/** Added to a time of the device's clock it is one of the host's; settled by profile.c. */
typedef struct meta_device_clock {
    bool known;
    int64_t offset;
    uint64_t end[META_QUEUE_COUNT]; /**< of the latest work of each queue */
} meta_device_clock;
struct meta_device {
    meta_backend *backend;
    int index;
    pthread_mutex_t lock; /**< opening, queues, staging */
    _Atomic bool open;
    meta_plugin_device *plugin;
    meta_plugin_queue *_Atomic queue[META_QUEUE_COUNT]; /**< made when first used */
    meta_device_desc desc;
    _Atomic uint64_t allocated, peak, buffers;
    meta_pool pool;
    struct meta_staging *staging; /**< free blocks */
    uint64_t staging_kept;        /**< bytes in them */
    struct meta_exact_store *exact; /**< of reproducible sums; NULL until there was one */
    meta_device_clock clock;        /**< how its clock and the host's go together */
    /** Bytes a second; 0: not measured, less: not to be had. */
    double copy_limit[META_LIMIT_COUNT];
};
meta_err meta_device_find(int index, meta_mode mode, meta_device **device);
meta_err meta_device_open(meta_device *device, const meta_state *state);
meta_err meta_device_current(meta_device **device);
meta_err meta_device_queue(meta_device *device, meta_queue_kind kind, meta_plugin_queue **queue);
meta_err meta_device_finish(meta_device *device);
int meta_device_is_host(const meta_device *device);
meta_err meta_device_desc_of(const meta_device *device, meta_device_desc *desc);
bool meta_any_device_open(void);
void meta_devices_forget(void);
/** Call @p function on every open device; the first error. */
meta_err meta_devices_each(meta_err (*function)(meta_device *));
meta_device *meta_device_new(meta_backend *backend, int index);
void meta_device_free(meta_device *device);

/* job.c */
meta_err meta_job_read(void);
meta_err meta_job_choose(int rank, int node_rank, int node_size, meta_mode *mode, int *index);
meta_err meta_job_device(meta_device **device);
int meta_job_node_size(void);
int meta_job_rank(void);
int meta_job_size(void);
void meta_job_forget(void);

/* deal.c */
/** The cores of each rank of this node; all ranks say the same. */
meta_err meta_deal_cores(const meta_cores *cores, int ranks);
/** Which of the first @p devices of @p backend a rank of the node takes. */
int meta_deal(const meta_backend *backend, int devices, int node_rank, int node_size);
void meta_deal_forget(void);

/* note.c: what people call a buffer, and where it came and went */
/** Where in a program a call stands. */
typedef struct meta_site {
    char file[48]; /**< the end of its path; empty where only the caller is known */
    int line;
    const void *caller; /**< the address that the call returns to */
} meta_site;
typedef struct meta_note {
    char label[META_LABEL_BYTES];
    bool wrapped;
    meta_site made, gone;
    struct meta_note *next; /**< of those that are not in use */
} meta_note;
/** What meta_here() said for the call at hand, and where that returns to: with META_CHECK=1 in the
 *  program, otherwise in whatever called, which may be the Fortran binding. */
void meta_site_take(meta_site *site, const void *caller);
#define META_SITE_TAKE(site) meta_site_take(site, __builtin_return_address(0))
/** NULL: none. */
void meta_label_copy(char to[META_LABEL_BYTES], const char *label);
enum { META_NOTE_ROOM = 352 };
/** ` ("density", allocated at solver.c:41)`, to stand behind the mention of a buffer, or nothing; with
 *  where it was @p freed. @return words */
const char *meta_note_text(const meta_note *note, bool freed, char words[META_NOTE_ROOM]);

/** The last part of a path, which says most. */
const char *meta_file_name(const char *path);

/* caller.c */
/** The program's call that led to this one, outside libmeta's own shared libraries, or @p caller where
 *  that cannot be told. It unwinds the stack, which takes microseconds. */
const void *meta_caller_outside(const void *caller);

/* registry.c */
typedef struct meta_allocation {
    meta_memory memory;
    meta_memory_kind kind;
    meta_device *device;
    int holds;
    uint64_t front;    /**< bytes of the object before the buffer */
    uint64_t guard;    /**< bytes of guard on both sides */
    meta_block *block; /**< of META_MEMORY_DEVICE: where the buffer lies */
    meta_note *note;   /**< the registry's own, NULL where there is none */
} meta_allocation;
/** @p made: where the program asked for it; NULL where it did not. */
meta_err meta_registry_add(const meta_allocation *allocation, const meta_site *made);
/** Take the buffer that begins at @p ptr and is of @p kind out; META_ERR_STATE while it is held. */
meta_err meta_registry_take(void *ptr, meta_memory_kind kind, const char *name,
                            const meta_site *gone, meta_allocation *taken);
/** The note of the live buffer behind @p ptr in words, as meta_note_text(). */
const char *meta_registry_words(const void *ptr, char words[META_NOTE_ROOM]);
/** The buffer that holds @p ptr; false where none does. */
bool meta_registry_find(const void *ptr, meta_allocation *found);
void meta_registry_hold(const void *ptr, int change);
/** The buffer with byte @p at of a device's memory object; false where none has. */
bool meta_registry_object(const meta_device *device, const void *object, uint64_t at,
                          meta_allocation *found);
/** What a buffer is called that has bytes of a memory object. */
typedef struct meta_called {
    const void *object;
    uint64_t first, end;          /**< its bytes of the object */
    char label[META_LABEL_BYTES]; /**< empty where it has none, or there is no such buffer */
} meta_called;
/** Whether any buffer may have a label. */
bool meta_registry_labelled(void);
/** What the buffer with byte @p at of a device's memory object is called. */
void meta_registry_label(const meta_device *device, const void *object, uint64_t at,
                         meta_called *called);
/** Call @p function for every buffer; it must not come back to the registry. */
void meta_registry_each(void (*function)(const meta_allocation *, void *), void *with);
/** Take any buffer out, for the end of the library's life, with its note in words; false when there is
 *  none left. */
bool meta_registry_drain(meta_allocation *taken, char words[META_NOTE_ROOM]);
void meta_registry_forget(void);
/** Live device memory at @p ptr: META_ERR_POINTER says what is there instead. */
meta_err meta_span_at(const void *ptr, const char *name, meta_span *span);
/** @p ptr may be used as host memory of @p bytes. */
meta_err meta_host_range(const void *ptr, uint64_t bytes, const char *name);

/* box.c: from boxes and faces to checked operands and iteration spaces */
meta_err meta_type_check(meta_type type, size_t *bytes);
meta_err meta_type_arithmetic(meta_type type, size_t *bytes);
meta_err meta_box_check(const meta_box *box, const char *name);
bool meta_box_empty(const meta_box *box);
/** The lowest and highest element index a face touches (of a face with elements). */
meta_err meta_face_reach(const meta_face *face, const char *name, int64_t *low, int64_t *high);
meta_err meta_face_count(const meta_face *face, const char *name, int64_t *count);
void meta_face_of_box(meta_face *face, const meta_box *box);
/** A span of `count` elements, or of a face's, at @p ptr. */
meta_err meta_resolve(const void *ptr, int64_t count, meta_type type, const char *name,
                      meta_span *span);
meta_err meta_resolve_face(const void *ptr, const meta_face *face, meta_type type,
                           const char *name, meta_span *span);
meta_err meta_resolve_box(const void *ptr, const meta_box *box, meta_type type, const char *name,
                          meta_span *span);
meta_err meta_resolve_any(const void *ptr, int64_t count, meta_type type, const char *name,
                          int *is_device, meta_span *span);
meta_err meta_same_device(const meta_span *a, const char *name_a, const meta_span *b,
                          const char *name_b);
/** The elements @p low_a…@p high_a from span a and those from b share no byte. */
meta_err meta_no_overlap(const meta_span *a, int64_t low_a, int64_t high_a, const char *name_a,
                         const meta_span *b, int64_t low_b, int64_t high_b, const char *name_b,
                         size_t bytes);
meta_err meta_no_overlap_face(const meta_span *packed, int64_t count, const meta_span *buf,
                              const meta_face *face, meta_type type);

/* exact.c: reproducible sums */
meta_err meta_reproducible_read(void);
int meta_is_reproducible(void);
/** Whether a sum of @p type on @p device is to be exact; META_ERR_UNSUPPORTED where it cannot. */
meta_err meta_exact_wanted(const meta_device *device, meta_type type, bool *exact);
/** Queue @p calls, one after the other; the last one is an exact sum, which goes rounded to its
 *  result and is remembered for the element at @p address. */
meta_err meta_exact_queue(meta_device *device, const meta_call *calls, size_t count,
                          const void *address, meta_pending *pending);
/** Forget the sums behind the elements in a range of addresses. */
void meta_exact_forget(const void *address, uint64_t bytes);
/** See internal.h. */
void *meta_exact_pin(const void *address);
void meta_exact_unpin(void *pinned);
void meta_exact_limbs(const void *pinned, const void *value, meta_type type, int64_t *limbs);
void meta_exact_element(int64_t *limbs, meta_type type, void *value);
void meta_exact_close(meta_device *device);

/* submit.c: calls as data, queued and followed */
/** A call over the elements of @p face in operand 0; further operands by meta_call_operand(). */
void meta_call_begin(meta_call *call, meta_kernel_id kernel, meta_type type, const meta_face *face);
/** Operand @p k is @p span with the strides of @p face, or packed where @p face is NULL. */
void meta_call_operand(meta_call *call, int k, const meta_span *span, const meta_face *face);
/** Merge dimensions that are contiguous in all @p operands and drop those of extent 1. */
void meta_call_compact(meta_call *call, int operands);
meta_err meta_submit(meta_device *device, const meta_call *calls, size_t count, meta_event *done);
/** The same of calls that end in an exact sum for the element at @p address. */
meta_err meta_submit_exact(meta_device *device, const meta_call *calls, size_t count,
                           const void *address, meta_event *done);
meta_err meta_submit_copy(meta_device *device, meta_copy_kind kind, void *host,
                          const meta_span *span, size_t bytes, meta_event *done);
/** A successful operation without anything to do. */
meta_err meta_submit_nothing(meta_event *done);
meta_err meta_launch(meta_device *device, meta_queue_kind queue, const meta_call *calls,
                     size_t count, meta_pending *pending);
meta_err meta_copy_on(meta_device *device, meta_queue_kind queue, meta_copy_kind kind, void *host,
                      const meta_span *span, size_t bytes, meta_pending *pending);
/** The same; @p comm: for libmeta_comm, not for a call of the application's own. */
meta_err meta_launch_of(bool comm, meta_device *device, meta_queue_kind queue,
                        const meta_call *calls, size_t count, meta_pending *pending);
meta_err meta_copy_of(bool comm, meta_device *device, meta_queue_kind queue, meta_copy_kind kind,
                      void *host, const meta_span *span, size_t bytes, meta_pending *pending);
/** A launch on a queue that has been made, which is not looked at. */
meta_err meta_launch_at_once(bool comm, meta_device *device, meta_queue_kind queue,
                             const meta_call *calls, size_t count, meta_ticket *wanted);
meta_err meta_queue_after(meta_device *device, meta_queue_kind queue, meta_queue_kind earlier);
meta_err meta_pending_test(const meta_pending *pending, int *complete);
meta_err meta_pending_wait(const meta_pending *pending);
void meta_pending_release(meta_pending *pending);

/* move.c */
/** A call of @p kernel on the elements of @p shape, from one operand to another; a face that is NULL
 *  is packed. *empty is 1 where there are no elements, and then nothing to launch. */
meta_err meta_pair_call(meta_call *call, meta_kernel_id kernel, const meta_face *shape,
                        const char *name, const meta_span *dst, const meta_face *dst_face,
                        const meta_span *src, const meta_face *src_face, meta_type type, int *empty);
meta_err meta_face_call(meta_call *call, meta_kernel_id kernel, const meta_span *packed,
                        const meta_span *buf, const meta_face *face, meta_type type, int *empty);
meta_err meta_copy_call(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                        const meta_span *src, const meta_face *src_face, meta_type type,
                        int *empty);
meta_err meta_add_call(meta_call *call, const meta_span *dst, const meta_face *dst_face,
                       const meta_span *src, const meta_face *src_face, meta_type type, int *empty);

/* memory.c */
meta_err meta_scratch(meta_device *device, size_t bytes, void **ptr);
/** The same for the program, which asked for it at @p made. */
meta_err meta_buffer(meta_device *device, size_t bytes, const meta_site *made, void **ptr);
void meta_scratch_free(void *ptr);
void meta_scratch_leave(void *ptr);
void meta_release_allocation(const meta_allocation *allocation);

/* check.c and compare.c: META_CHECK=1 */
meta_err meta_check_read(void);
extern bool meta_check_on; /**< settled by meta_check_read() */
static inline int meta_checked(void)
{
    return __builtin_expect(meta_check_on, 0) != 0;
}
/** Bytes of guard on each side of a new buffer; 0 where nothing is checked. */
uint64_t meta_check_guard(uint64_t bytes);
/** Set the guards of a new buffer, and all of it to no value. */
meta_err meta_check_made(const meta_allocation *a);
/** Look at the guards of a live buffer. META_ERR_BOUNDS tells what was written beside it. */
meta_err meta_check_guards(const meta_allocation *a);
/** The same of one that has left the registry; device memory goes into quarantine, whatever is
 *  returned. */
meta_err meta_check_gone(const meta_allocation *a);
/** Look at all guards, and at all memory in quarantine; the first error. */
meta_err meta_check_all(void);
meta_err meta_quarantine_release(void);
/** The same for want of memory; what is found is a warning. @return whether there was any */
bool meta_quarantine_some(void);
/** A launch, complete, between two looks at its buffers. */
meta_err meta_launch_compared(bool comm, meta_device *device, meta_queue_kind queue,
                              const meta_call *calls, size_t count, meta_ticket *ticket);

/* leak.c */
/** Name what was never freed, and give it back. */
void meta_leaks_release(void);

/* staging.c */
meta_err meta_staging_get(meta_device *device, size_t bytes, void **host);
void meta_staging_put(meta_device *device, void *host);
/** Give the free blocks back. @return whether there were any */
bool meta_staging_trim(meta_device *device);
/** Host memory as meta_host_alloc gives it. */
meta_err meta_host_memory(meta_device *device, size_t bytes, void **host);
void meta_host_memory_free(meta_device *device, void *host, size_t bytes);

/* event.c */
meta_err meta_event_new(meta_event *event);
/** The event follows @p pending, which it takes over. */
void meta_event_follow(meta_event event, const meta_pending *pending);
void meta_event_complete(meta_event event, meta_err status, const char *message);
/** Forget an event that was never given out. */
void meta_event_drop(meta_event event);
/** Advance messages and call due callbacks. */
void meta_progress(void);
void meta_events_forget(void);
void meta_hooks_set(const meta_hooks *hooks);
const meta_hooks *meta_hooks_get(void);

#endif
