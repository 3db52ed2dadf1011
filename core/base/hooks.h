/* SPDX-License-Identifier: BSD-3-Clause */
/** @file hooks.h
 *  What the core calls in libmeta_comm. */
#ifndef META_HOOKS_H
#define META_HOOKS_H

#include "meta_backend.h"

typedef struct meta_device meta_device; /* the core's own */

/** Bytes in memory, wherever they are. */
typedef struct meta_range {
    const void *address;
    uint64_t bytes;
} meta_range;

/** One wait inside a call: of each the clock runs by itself. {0} when it begins. */
typedef struct meta_wait_clock {
    double began; /**< in seconds; 0: it was not looked at yet */
    unsigned rounds;
} meta_wait_clock;

/** Called by the core, from an application's thread. */
typedef struct meta_hooks {
    /** Advance messages without waiting; *moved is set to 1 if any made progress. @p wait: of the
     *  wait that this is a round of; NULL where the caller does not wait. May be called on any
     *  thread; does nothing where MPI must not be called. */
    void (*progress)(meta_wait_clock *wait, int *moved);
    /** Whether this thread may complete messages; META_ERR_STATE with the reason if not. */
    meta_err (*allowed)(void);
    /** Complete all messages; the error of the first untracked one that failed. */
    meta_err (*flush)(void);
    /** Exchanges that were finished but have not queued all their work yet: while it is 0, order()
     * need not be called. */
    const _Atomic int *owing;
    /** Work that touches these bytes is about to be queued on a compute queue: queue before it what
     *  finished exchanges of the same bytes still owe, waiting for the messages where it must. */
    void (*order)(const meta_range *ranges, int count);
    /** Print the summary of all ranks. */
    meta_err (*print)(void);
    /** The core is about to finalise: drop everything that uses it. */
    void (*finalize)(void);
} meta_hooks;

#endif
