/* SPDX-License-Identifier: BSD-3-Clause */
/** @file peer.h
 *  Interface of the peers that libmeta is compared with: for each back end a module that drives
 *  its device without libmeta, through the vendor's own API and libraries. meta-bench takes its
 *  limits and comparisons from it, meta-dot3d --blas its dot product; both pass it the objects
 *  returned by meta_get_state() and meta_native().
 *
 *  A module is the file peers/NAME.so beside the plugin NAME.so, and exports one symbol, the
 *  table. Every operation blocks. All return 0, or -1 with the cause as a sentence in the peer's
 *  reason. */
#ifndef META_PEER_H
#define META_PEER_H

#include <stddef.h>
#include <stdint.h>

#include "meta.h"

typedef struct meta_peer meta_peer;

/** Memory as meta_native() gives it. */
typedef struct meta_peer_memory {
    void *object;
    size_t offset; /**< bytes, a multiple of the element's */
} meta_peer_memory;

typedef enum meta_peer_work {
    META_PEER_COPY,    /**< out = a, by a plain loop or kernel of the peer's own */
    META_PEER_COPY_NT, /**< the same past the cache, or by the vendor's copy call */
    META_PEER_TRIAD,   /**< out = a + 3 b */
    META_PEER_READ     /**< the sum of a, in result */
} meta_peer_work;

/** Pieces of a device's memory, one after the other, and of the host's. */
typedef struct meta_peer_stage {
    int before, after; /**< launches */
    int count;
    const size_t *bytes; /**< of each piece */
    meta_peer_memory device;
    void *host;
} meta_peer_stage;

typedef struct meta_peer_table {
    size_t size; /**< of this structure */
    /** The vendor's library of dot products and its version; NULL where the module has none, and
     *  then @ref no_blas says why and how to get one. */
    const char *blas, *no_blas;
    /** What is launched by @ref empty, as a user would say it: "an empty parallel region". */
    const char *launch;
    /** @p state: the device's, which must stay open; @p threads: the CPU threads of this process, 0
     *  where the device is none. The reason of a failure is written to @p reason. */
    int (*open)(const meta_state *state, int index, int threads, meta_peer **peer, char *reason,
                size_t room);
    void (*close)(meta_peer *peer);
    /** Why the last operation failed. */
    const char *(*reason)(const meta_peer *peer);
    /** The dot product of @p count contiguous elements, META_F64 or META_F32, by the vendor's
     *  library; @p result is an element in host memory. */
    int (*dot)(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a,
               meta_peer_memory b, void *result);
    /** The sum of @p count elements, META_F64 or META_F32, by the vendor's library (CUB, hipCUB);
     *  NULL where it has none. */
    int (*sum)(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a, void *result);
    /** @p work on @p count doubles; @p b and @p result are looked at where the work has them. */
    int (*memory)(meta_peer *peer, meta_peer_work work, int64_t count, meta_peer_memory out,
                  meta_peer_memory a, meta_peer_memory b, double *result);
    /** @p count launches of nothing at all, one after the other, then one wait. */
    int (*empty)(meta_peer *peer, int count);
    /** What a halo exchange asks of the device, without the messages: to @p stage->before launches,
     *  pieces of its memory are read to the host's and waited for, then written back, and so many
     *  launches follow; NULL where the device's memory is the host's, or nobody wrote it. */
    int (*stage)(meta_peer *peer, const meta_peer_stage *stage);
    /** @p count times one after the other: memory of @p bytes as the driver or system gives it, there
     *  before it goes back. Where that may put it off until the memory is used, a first use is asked
     *  for. */
    int (*pairs)(meta_peer *peer, size_t bytes, int64_t count);
} meta_peer_table;

#define META_PEER_SYMBOL "meta_peer_v1"

#endif
