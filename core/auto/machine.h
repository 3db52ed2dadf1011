/* SPDX-License-Identifier: BSD-3-Clause */
/** @file machine.h
 *  The devices of META_AUTO, the queues of each, and work in them. */
#ifndef META_AUTO_MACHINE_H
#define META_AUTO_MACHINE_H

#include "auto/account.h"
#include "auto/slabs.h"
#include "auto/times.h"
#include "kernels/kernels.h"

/* ------------------------------------------------------------------ machine.c, devices.c */

/** Addresses [begin, end) of host memory; NULL: none. */
typedef struct meta_auto_host_range {
    const char *begin, *end;
} meta_auto_host_range;

/** Queued work that may not be complete, or whose error nobody has seen. */
typedef struct meta_auto_work {
    int users; /**< the lane while it may not be complete, and tickets */
    int lane;
    uint64_t number;
    const meta_ops *ops;
    meta_ticket ticket;
    bool complete;
    int spoilt_by; /**< 1 + number of the device behind whose failed work it runs; 0: none */
    meta_err error;
    uint64_t expected;            /**< nanoseconds; 0: not known */
    meta_auto_host_range results; /**< host memory that its results are written to on completion */
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
    /** What is queued there next runs behind the work, which is of any device; NULL: it is ordered
     *  by ops->queue_wait(). @return META_ERR_UNSUPPORTED: the host is to wait for it */
    meta_err (*run_behind)(meta_auto_work *work);
    int number;        /**< in the machine, and bit in sets of devices */
    bool is_host;      /**< an object is an address of the host's */
    bool is_cpu;       /**< it computes on the cores of the caller */
    char failure[256]; /**< why it is no longer used */
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
    /** Nanoseconds for which the steps of loops have not paid yet: of the search for plans, and of
     * what is considered to be tried. */
    double owed_search, owed_trials;
    size_t refused; /**< how many kernels were, see refused.c */
    int attention;  /**< so many launches are timed, because a time was unlike what was expected */
    bool is_fixed;  /**< META_LEARN=read: nothing is timed or tried, so decisions can be repeated */
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
/** Whether two devices are of one kind, and so as fast as each other. */
bool meta_auto_alike(int a, int b);

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
/** The host writes the results of the lane's last work to @p range when that completes. */
void meta_auto_note_results(meta_auto_lane *lane, meta_auto_host_range range);
/** Wait for work of another lane, up to @p mark, whose results overlap @p range. Events between
 * devices do not cover the host's writes. */
void meta_auto_await_results(const meta_auto_lane *lane, meta_mark mark,
                             meta_auto_host_range range);
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

#endif
