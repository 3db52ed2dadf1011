/* SPDX-License-Identifier: BSD-3-Clause */
/** @file auto.h
 *  META_MODE=auto: a device that stands for several. Its buffers are addresses behind which each
 *  device has a copy where it needs one; what is launched on it goes to the device that a policy
 *  chooses, once the bytes that it reads are there.
 *
 *  To the rooms above it is a back end like others, whose table is in backend.c. */
#ifndef META_AUTOMATIC_H
#define META_AUTOMATIC_H

#include "auto/account.h"
#include "auto/learned.h"
#include "auto/slabs.h"
#include "auto/times.h"
#include "kernels/kernels.h"

/* ------------------------------------------------------------------ machine.c, devices.c */

/** Queued work that may not be complete, or whose error nobody has seen. */
typedef struct meta_auto_work {
    int users; /**< the lane while it may not be complete, and tickets */
    int lane;
    uint64_t number;
    const meta_ops *ops;
    meta_ticket ticket;
    bool complete;
    bool is_spoilt; /**< it runs behind work that has failed */
    meta_err error;
    uint64_t expected; /**< nanoseconds; 0: not known */
    char *message;
    struct meta_auto_work *next; /**< queued behind it on its lane; of free ones any */
} meta_auto_work;

/** Work of a lane from number @p from on runs behind work @p number of another one, for which no
 * host waits. */
typedef struct meta_auto_behind {
    int lane;
    uint64_t number, from;
} meta_auto_behind;
enum { META_AUTO_BEHIND = 32 };

/** A queue of a device: what is queued there runs in order. */
typedef struct meta_auto_lane {
    struct meta_auto_device *of;
    meta_queue_kind kind;
    meta_plugin_queue *queue;
    uint64_t last;                     /**< number of the work queued last */
    meta_auto_work *first, *end;       /**< that may not be complete */
    size_t pending;                    /**< how many */
    uint64_t queued;                   /**< expected nanoseconds of those */
    uint64_t waited[META_SLABS_LANES]; /**< it runs behind work up to this number of that lane */
    meta_auto_behind behind[META_AUTO_BEHIND]; /**< work that may not be complete */
    int behinds;
    meta_err error; /**< of work that no ticket reports */
    char *message;
} meta_auto_lane;

typedef struct meta_auto_device {
    meta_device *device;
    const meta_ops *ops; /**< its back end's, or the worker's that stands before it */
    int number;          /**< in the machine, and bit in sets of devices */
    bool is_host;        /**< an object is an address of the host's */
    bool is_cpu;         /**< it computes on the cores of the caller */
} meta_auto_device;

/** The devices among which is chosen, and all state; guarded by the lock, which the functions here
 *  expect to be held. */
typedef struct meta_auto_machine {
    pthread_mutex_t
        lock; /**< recursive: memory that is short is looked for in pools of this room */
    int devices;
    meta_auto_device device[META_SLABS_DEVICES];
    meta_auto_lane lane[META_SLABS_LANES]; /**< 2 n + kind: of device n */
    uint64_t done[META_SLABS_LANES];       /**< work up to this number is complete */
    struct meta_auto_buffer *newest;       /**< list of all buffers */
    uint64_t shapes;                       /**< number of the shape met last */
    uint64_t calls;                        /**< launches and copies so far: the age of copies */
    uint64_t elsewhere;                    /**< that when a device other than the cores got work */
    uint32_t peers[META_SLABS_DEVICES];    /**< from which devices one can copy to this one */
    uint32_t failed;                       /**< devices that are no longer used */
    meta_times *times;
    uint64_t chosen, expected; /**< nanoseconds of the launch whose device was chosen, and of what
                                  is queued next; 0: not known */
    uint64_t learned;          /**< times so far */
    int attention; /**< so many launches are timed, because a time was unlike what was expected */
    bool is_fixed; /**< META_LEARN=read: nothing is timed or tried, so decisions can be repeated */
    meta_auto_why why;       /**< of what is copied between devices now, */
    const meta_call *call;   /**< for which launch, its first call; NULL: none */
    size_t operand;          /**< and for which of its operands */
    uint64_t (*clock)(void); /**< of a back end with one of its own; NULL: CLOCK_MONOTONIC */
} meta_auto_machine;
extern meta_auto_machine meta_auto;

/** Check the syntax of META_AUTO_DEVICES and META_POLICY. */
meta_err meta_auto_read(void);
/** Whether there is a device to choose; otherwise the reason why not. */
bool meta_auto_any(char *reason, size_t room);
/** Describe the machine: names of its devices, memory of all. */
meta_err meta_auto_describe(meta_device_desc *desc);
/** Open the devices. */
meta_err meta_auto_open(void);
void meta_auto_close(void);
/** Nanoseconds on the clock by which the devices are timed. */
uint64_t meta_auto_now(void);
/** "cuda:0" */
const char *meta_auto_name(int number, char text[48]);

/* ------------------------------------------------------------------ lane.c */

static inline meta_auto_lane *meta_auto_lane_of(int device, meta_queue_kind kind)
{
    return &meta_auto.lane[2 * device + (int)kind];
}
static inline int meta_auto_lane_number(const meta_auto_lane *lane)
{
    return (int)(lane - meta_auto.lane);
}
/** The lane's queue, created on first use. */
meta_err meta_auto_queue(meta_auto_lane *lane, meta_plugin_queue **queue);
/** Work was queued. @p work, unless NULL, gets a share of it, to be given to meta_auto_drop(). */
meta_mark meta_auto_queued(meta_auto_lane *lane, meta_ticket ticket, meta_auto_work **work);
/** Expected nanoseconds until what is queued on a device is complete. */
uint64_t meta_auto_backlog(int device);
/** What is queued on @p lane from now on runs behind the work of @p mark. */
meta_err meta_auto_order(meta_auto_lane *lane, meta_mark mark);
/** Wait for the work of @p mark; its error is reported by whoever has a share of it. */
void meta_auto_wait(meta_mark mark);
/** Find out what is complete. */
void meta_auto_poll(meta_auto_lane *lane);
meta_err meta_auto_test(meta_auto_work *work, int *complete);
meta_err meta_auto_wait_work(meta_auto_work *work);
/** The same for a function that holds the lock and has nothing in hand: other threads get it
 *  meanwhile. */
meta_err meta_auto_wait_apart(meta_auto_work *work);
void meta_auto_drop(meta_auto_work *work);
/** Wait for all work. @return the first error that no ticket has reported */
meta_err meta_auto_finish(void);
/** Wait for the work queued so far as meta_auto_wait_apart() does. */
void meta_auto_finish_apart(void);
void meta_auto_lanes_close(void);

/* ------------------------------------------------------------------ buffer.c, room.c, native.c */

typedef struct meta_auto_cluster meta_auto_cluster; /* see cost.c */
enum { META_AUTO_DIMS = sizeof((meta_layout *)0)->stride / sizeof *((meta_layout *)0)->stride };

/** A buffer's memory on a device. */
typedef struct meta_auto_copy {
    meta_block *block; /**< NULL: none */
    void *object;      /**< of the block, or what is wrapped; NULL: there is no copy */
    uint64_t used;     /**< meta_auto.calls when it was last used */
} meta_auto_copy;

/** Elements of a buffer with others between them, as a call's box. */
typedef struct meta_auto_shape {
    uint64_t number; /**< never that of another shape; 0: none */
    int64_t base, extent[META_AUTO_DIMS], stride[META_AUTO_DIMS];
    int64_t bytes; /**< of an element */
} meta_auto_shape;
enum { META_AUTO_SHAPES = 4 };

typedef struct meta_auto_buffer {
    void *address; /**< reserved; of a wrapped one the host's array */
    uint64_t bytes;
    int pinned; /**< the only device that may use it; -1: any */
    meta_slabs *slabs;
    meta_auto_cluster *cluster; /**< NULL: no call has used it */
    meta_memory wrapped;        /**< of a wrapped one */
    int users;                  /**< calls that are being bound, and moves to make room */
    int bound_to; /**< the device where such a call runs; -1: none of the copies may go */
    meta_auto_shape shape[META_AUTO_SHAPES]; /**< those written last, the last one first */
    meta_auto_copy copy[META_SLABS_DEVICES];
    struct meta_auto_buffer *older, *newer;
} meta_auto_buffer;

meta_err meta_auto_alloc(size_t bytes, meta_memory *memory);
void meta_auto_free(const meta_memory *memory);
meta_err meta_auto_wrap(void *native, size_t bytes, meta_native_kind kind, meta_memory *memory);
void meta_auto_unwrap(const meta_memory *memory);
/** Wait for the work that uses the copy on device @p d. */
void meta_auto_wait_copy(const meta_auto_buffer *buffer, int d);
/** See meta_memory_hooks; these take the lock. */
meta_err meta_auto_pin(void *buffer, void **object);
void meta_auto_unpin(void *buffer);
meta_device *meta_auto_pinned(void *buffer);
/** Give @p buffer a copy on device @p d, at the cost of copies used less recently if need be. */
meta_err meta_auto_place(meta_auto_buffer *buffer, int d);

/* ------------------------------------------------------------------ failure.c */

/** Work of a lane from number @p number on has failed: the device is no longer used, and what only
 * it holds is lost. */
void meta_auto_fails(int lane, uint64_t number);
/** META_ERR_DEVICE: bytes of the buffer that a call needs are lost. */
meta_err meta_auto_lost(const meta_auto_buffer *buffer);
/** META_ERR_DEVICE: the device has failed. */
meta_err meta_auto_has_failed(int device);
/** META_ERR_DEVICE: so has the one on which the buffer is kept. */
meta_err meta_auto_kept_on_failed(const meta_auto_buffer *buffer);
/** META_ERR_DEVICE: all devices have failed. */
meta_err meta_auto_any_left(void);
/** The devices that can be used. */
static inline uint32_t meta_auto_usable(void)
{
    return ((UINT32_C(1) << meta_auto.devices) - 1) & ~meta_auto.failed;
}

/** Those that may use the buffer. */
static inline uint32_t meta_auto_allowed(const meta_auto_buffer *buffer)
{
    return buffer->pinned >= 0 ? UINT32_C(1) << buffer->pinned : meta_auto_usable();
}

/* ------------------------------------------------------------------ transfer.c */

/** Order @p lane behind the work that device @p d's copy of a slab waits for. */
meta_err meta_auto_order_slab(meta_auto_lane *lane, const meta_slabs *slabs,
                              const meta_auto_slab *slab, int d, bool writes);
/** Queue a copy of slabs [first, last) from one device's copy to another's, behind the work that
 * they wait for; the slabs' marks are the caller's to set. */
meta_err meta_auto_move(meta_auto_buffer *buffer, int from, int to, size_t first, size_t last,
                        meta_mark *mark);

/* ------------------------------------------------------------------ sample.c */

/** A time stamp that several wait for. */
typedef struct meta_auto_stamp {
    int users;
    const meta_ops *ops;
    meta_stamp stamp; /**< .work NULL: begin and end are known */
    struct meta_auto_stamp
        *earlier; /**< of earlier parts of the same copy, a share of it; or NULL */
} meta_auto_stamp;
/** Share a stamp of @p ops; NULL: memory is out. */
meta_auto_stamp *meta_auto_share(const meta_ops *ops, const meta_stamp *stamp, int users);
bool meta_auto_stamp_read(meta_auto_stamp *stamp);
void meta_auto_stamp_drop(meta_auto_stamp *stamp);

/** What is timed: a run of a kernel, or a copy between devices. */
typedef struct meta_auto_sample {
    int kernel;       /**< its number in meta_auto.times; -1: a copy */
    int device, from; /**< where it ran; of a copy: to and from where */
    uint64_t cells, bytes;
} meta_auto_sample;
/** Hand a stamp of @p ops on to who asked for one, and to what learns from it; each may be NULL.
 * @p asked gets the time of all parts of a copy that were handed to it. */
void meta_auto_hand_stamp(const meta_ops *ops, const meta_stamp *stamp, meta_stamp *asked,
                          const meta_auto_sample *sample);
/** Learn from it when its time is known; takes over a share of @p stamp. */
void meta_auto_sampled(const meta_auto_sample *sample, meta_auto_stamp *stamp);
/** It took so many nanoseconds. */
void meta_auto_learn(const meta_auto_sample *sample, double time);
/** Read the stamps of work that is complete. */
void meta_auto_read_samples(void);
void meta_auto_samples_close(void);
/** Expected nanoseconds of a copy between two devices, as measured so far. */
double meta_auto_move_time(int from, int to, uint64_t bytes);
/** Nanoseconds of @p copies copies of @p bytes together, by what was measured alone.
 * @return false if nothing was */
bool meta_auto_moves_measured(int from, int to, uint64_t copies, uint64_t bytes, double *time);
/** Whether a copy between them should be timed. */
bool meta_auto_move_wanted(int from, int to);
/** What an earlier process measured, before any copy. */
void meta_auto_link_import(int from, int to, const meta_learned_link *known);
/** What this process has measured. @return false if that is nothing */
bool meta_auto_link_export(int from, int to, meta_learned_link *own);

/* ------------------------------------------------------------------ learn.c, learn_file.c */

/** Read META_LEARN. */
meta_err meta_learn_read(void);
/** Read what earlier processes have learned of the open devices. */
void meta_learn_open(void);
/** Add to it what this process has learned. */
void meta_learn_close(void);
/** The kernel's number in meta_auto.times, where what is known of it is put; -1: memory is out. */
int meta_learn_kernel(const meta_kernel_desc *desc, uint32_t type);

/** Where it is kept. */
typedef struct meta_learn_place {
    const char *named; /**< the file that META_LEARN names; NULL: one in the cache's folder */
    bool only_read;
    bool is_foreign; /**< that file is not libmeta's, or of another machine: it is left alone */
    char machine[META_SLABS_DEVICES * 512]; /**< lines which say what devices there are */
} meta_learn_place;
/** Read it into an empty table. If what is there cannot be used, or is needed and not there, a
 * warning says so. */
void meta_learn_load(meta_learn_place *place, meta_learned *table);
/** Let @p add change what is there now, while no other process does. */
void meta_learn_change(meta_learn_place *place, void (*add)(meta_learned *table));

/* ------------------------------------------------------------------ touch.c */

/** How many results a call of the kernel has. */
static inline uint32_t meta_auto_results(const meta_kernel_desc *desc)
{
    if (desc->results) return desc->results;
    return desc->combine != META_COMBINE_none;
}

/** Bytes [begin, end) of a buffer that a call reads, writes or both. */
typedef struct meta_auto_range {
    meta_auto_buffer *buffer;
    uint64_t begin, end;
    bool reads, writes;
    uint64_t shape; /**< number of the shape of what is written; 0: all bytes are, or any may be */
    bool keeps;     /**< it is read only to keep what lies between */
} meta_auto_range;
/** Whether device @p d holds what the range reads of a slab. */
static inline bool meta_auto_holds(const meta_auto_slab *slab, const meta_auto_range *range, int d)
{
    const bool keeps = range->keeps && slab->shape == range->shape;
    return ((keeps ? slab->rest | slab->valid : slab->valid) >> d & 1) != 0;
}
enum { META_AUTO_RANGES = META_MAX_OPERANDS + META_KERNEL_PARAMETERS };
/** What @p call touches. A range of which it writes only some bytes is one that it reads as well.
 *  @return how many ranges */
int meta_auto_touched(const meta_call *call, meta_auto_range *ranges);

/* ------------------------------------------------------------------ acquire.c */

/** Make what @p count ranges need valid on the device of @p lane, on which work that uses them may
 * be queued then. */
meta_err meta_auto_acquire(meta_auto_lane *lane, const meta_auto_range *ranges, size_t count);
/** The work of @p mark uses them there. */
void meta_auto_commit(const meta_auto_range *ranges, size_t count, int device, meta_mark mark);
/** The bytes that would have to be moved to device @p d, and expected nanoseconds for it. */
uint64_t meta_auto_missing(const meta_auto_range *ranges, size_t count, int d, double *time);
/** The device, of set @p among, that holds most of a range. */
int meta_auto_holder(const meta_auto_range *range, uint32_t among);

/* ------------------------------------------------------------------ explain.c */

/** What a decision rests on: of each device nanoseconds of the launch there, and to move its
 * operands there and its results back to the home. */
typedef struct meta_auto_reason {
    bool is_candidate, is_known; /**< not known: no run has been timed there */
    double time, move;
    double queued, in, back; /**< by other policies than cost: until the device is free, and the two
                                  parts of move */
    uint64_t missing;        /**< likewise: bytes that the device lacks */
} meta_auto_reason;
typedef struct meta_auto_reasons {
    const meta_call *call; /**< the launch's first */
    const char *policy;    /**< NULL: cost */
    uint64_t cells, bytes;
    int home; /**< -1: that is of no interest */
    bool is_trial;
    meta_auto_reason of[META_SLABS_DEVICES];
} meta_auto_reasons;
meta_err meta_explain_read(void);
void meta_explain(const meta_auto_reasons *reasons, int chosen);
/** A loop of @p calls calls, which took @p now nanoseconds a step, runs with plan[n] for call n
 * from now on and takes @p next. */
void meta_explain_plan(const uint8_t *plan, uint32_t calls, double now, double next);
/** Some calls of such a loop run on device @p d, to know how long they take there. */
void meta_explain_trial(uint32_t calls, int d);
/** The reasons of the last decision while decisions are wanted, once; NULL: it had none. */
const meta_auto_reasons *meta_explained(void);
/** The terms of a decision as text. */
void meta_explain_terms(const meta_auto_reasons *reasons, char *text, size_t room);

/* ------------------------------------------------------------------ account.c */

/** What is wanted; see account.h. */
extern int meta_accounted;
/** A copy between devices. */
typedef struct meta_auto_moved {
    int from, to, on; /**< on: in whose queue */
    uint64_t bytes;
    uint64_t queued; /**< meta_account_now() before it was queued */
} meta_auto_moved;
/** The time by CLOCK_MONOTONIC if anything is wanted. */
uint64_t meta_account_now(void);
/** Add a copy with its stamp of @p ops, of which what learns from it gets a share, @p sample NULL:
 * nothing does; @p ops NULL: begin and end are known. */
void meta_account_move(const meta_auto_moved *moved, const meta_ops *ops, const meta_stamp *stamp,
                       const meta_auto_sample *sample);
/** A device was chosen; what for, unless NULL. */
void meta_account_decide(const meta_launch *launch, meta_queue_kind queue,
                         const meta_auto_reasons *reasons, int chosen);
void meta_account_close(void);

/* ------------------------------------------------------------------ choose.c, cost.c */

/** A launch of which the device is to be chosen. */
typedef struct meta_auto_choice {
    const meta_launch *launch;
    const meta_auto_range *range;
    size_t ranges;
    uint32_t among; /**< devices to choose from */
} meta_auto_choice;

meta_err meta_auto_choose(const meta_auto_choice *choice, int *chosen);
/** The device that a copy with the host is planned for; -1: none is. */
int meta_auto_plan_copy(const meta_auto_range *range, bool is_in);
/** For copies to a buffer: what holds most of the range already, unless the policy says otherwise.
 */
int meta_auto_choose_copy(const meta_auto_range *range, uint32_t among);

/** The device with the least expected cost. */
int meta_cost_choose(const meta_auto_choice *choice);
/** Each term of what the launch is expected to cost on each device. */
void meta_cost_terms(const meta_auto_choice *choice, meta_auto_reasons *reasons);
/** Whether the launch that was chosen last is to be timed on @p device, and as what. */
bool meta_cost_wanted(const meta_launch *launch, int device, meta_auto_sample *sample);
/** Device @p device has refused the launch that was chosen last: it lacks the kernel or its type.
 */
void meta_cost_refused(int device);
/** A copy of the range from host memory, or to it, is about to be queued.
 *  @return the device that a loop's plan has for it; -1: none */
int meta_cost_copy(const meta_auto_range *range, bool is_in);
/** The program waits for results of the launch that was chosen last. */
void meta_loop_waited(void);
/** The buffer is about to be freed. */
void meta_cost_leave(meta_auto_buffer *buffer);
meta_err meta_cost_open(void);
void meta_cost_close(void);

/* ------------------------------------------------------------------ share.c */

/** How other processes of the node use the devices, as read from its board every now and then. */
typedef struct meta_share_state {
    bool is_on;
    double share[META_SLABS_DEVICES]; /**< work takes so many times as long as on an idle device */
    double busy[META_SLABS_DEVICES];  /**< expected nanoseconds of work queued since then */
    double total;
    int calls;
} meta_share_state;
extern meta_share_state meta_share;
/** META_BOARD. */
meta_err meta_share_read(void);
/** Enter the board; without one this process decides alone. */
void meta_share_open(void);
void meta_share_close(void);
/** Say what this process uses, and read what others do. */
void meta_share_refresh(void);
/** Work of @p time expected nanoseconds was queued on device @p d. */
static inline void meta_share_ran(int d, double time)
{
    enum { CALLS = 64 };
    const double long_enough = 1e6;
    if (!meta_share.is_on) return;
    meta_share.busy[d] += time;
    meta_share.total += time;
    if (++meta_share.calls >= CALLS || meta_share.total >= long_enough) meta_share_refresh();
}
/** Bytes of the device's memory that other processes do not hold; 0: not known. */
uint64_t meta_share_memory(int d);
/** Before work is moved: take the turn to decide, until meta_share_claim().
 *  @return false: another process decides, or has decided since the shares were read; ask later */
bool meta_share_turn(void);
/** Work that takes time[d] on device d is done there from now on; of others as much as before. */
void meta_share_claim(const double *time);
/** For work that is nowhere yet: of the devices that are like the first of set @p among that which
 * others use least; it is claimed. */
int meta_share_first(uint32_t among);

/* ------------------------------------------------------------------ ticket.c, copy.c, launch.c */

/** One of the two queues: on each lane the last work that used host memory. */
struct meta_plugin_queue {
    meta_queue_kind kind;
    uint64_t host[META_SLABS_LANES];
};
/** Work, mostly of one lane. A pointer to one may be NULL: there is none. */
typedef struct meta_auto_ticket {
    size_t count;
    meta_auto_work *work[];
} meta_auto_ticket;
/** Of work that is complete. */
extern meta_auto_ticket meta_auto_complete;
/** Order @p lane behind the queue's earlier work with host memory. */
meta_err meta_auto_order_host(const meta_plugin_queue *queue, meta_auto_lane *lane);
void meta_auto_queue_after(meta_plugin_queue *queue, const meta_plugin_queue *earlier);
void meta_auto_queue_wait(meta_plugin_queue *queue, const meta_auto_ticket *ticket);
meta_err meta_auto_ticket_test(const meta_auto_ticket *ticket, int *complete);
meta_err meta_auto_ticket_wait(const meta_auto_ticket *ticket);
void meta_auto_ticket_free(meta_auto_ticket *ticket);
/** Add work, NULL: none; without memory for it the work is waited for. */
meta_err meta_auto_ticket_add(meta_auto_ticket **ticket, meta_auto_work *work);
/** A part of the work failed: complete what is queued of it. @return the error, @p error */
meta_err meta_auto_ticket_abandon(meta_auto_ticket *ticket, meta_err error);

meta_err meta_auto_copy_on(meta_plugin_queue *queue, const meta_copy *copy);
meta_err meta_auto_launch_on(meta_plugin_queue *queue, const meta_launch *launch);
/** Build a kernel for the devices that can run it. @return an error if none can */
meta_err meta_auto_prepare(const meta_kernel_desc *desc, uint32_t type);
/* ------------------------------------------------------------------ backend.c */

/** The table of the back end. */
extern const meta_plugin meta_auto_plugin;

#endif
