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

#endif
