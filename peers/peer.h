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

/** Memory, as returned by meta_native(). */
typedef struct meta_peer_memory {
    void *object;
    size_t offset; /**< bytes, a multiple of the element size */
} meta_peer_memory;

typedef enum meta_peer_work {
    META_PEER_COPY,    /**< out = a, in a plain loop or kernel */
    META_PEER_COPY_NT, /**< the same with non-temporal stores, or the vendor's copy call */
    META_PEER_TRIAD,   /**< out = a + 3 b */
    META_PEER_READ     /**< the sum of a, in result */
} meta_peer_work;

/** Consecutive segments of device memory and of a host staging buffer. */
typedef struct meta_peer_stage {
    int before, after; /**< launches */
    int count;
    const size_t *bytes; /**< of each piece */
    meta_peer_memory device;
    void *host;
} meta_peer_stage;

/** A time step of Gray and Scott's reaction with diffusion, over the cells of a box. */
typedef struct meta_peer_gray_scott {
    meta_type type; /**< META_F64 or META_F32 */
    int64_t size[3], start[3], end[3];
    meta_peer_memory u1, v1, u0, v0; /**< new and old, each of the box's size */
    double Du, Dv, F, k, dt;
} meta_peer_gray_scott;

typedef struct meta_peer_table {
    size_t size; /**< of this structure */
    /** The vendor's BLAS library and its version; NULL if the module was built without it, and
     *  @ref no_blas then says why and how to get it. */
    const char *blas, *no_blas;
    /** Description of what @ref empty launches, such as "an empty parallel region". */
    const char *launch;
    /** @p state: native objects of the device, which must stay open; @p threads: CPU threads of
     *  this process, 0 if the device is not a CPU. The reason for a failure is written to
     *  @p reason. */
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
     *  NULL if it has none. */
    int (*sum)(meta_peer *peer, meta_type type, int64_t count, meta_peer_memory a, void *result);
    /** @p work on @p count doubles; @p b and @p result are used only by works that need them. */
    int (*memory)(meta_peer *peer, meta_peer_work work, int64_t count, meta_peer_memory out,
                  meta_peer_memory a, meta_peer_memory b, double *result);
    /** @p count consecutive empty launches, then one wait. */
    int (*empty)(meta_peer *peer, int count);
    /** The device work of a halo exchange without its messages: @p stage->before empty launches,
     *  copies of the segments to the host, a wait, copies back, and @p stage->after launches;
     *  NULL if the device shares host memory, or it is not implemented. */
    int (*stage)(meta_peer *peer, const meta_peer_stage *stage);
    /** @p count times in a row: allocate @p bytes from the driver or system, and free them. If
     *  allocation may be deferred until first use, the memory is touched. */
    int (*pairs)(meta_peer *peer, size_t bytes, int64_t count);
    /** The step, by a kernel written by hand in the device's language; NULL on CPU cores, where
     *  programs have their own loops. */
    int (*gray_scott)(meta_peer *peer, const meta_peer_gray_scott *step);
} meta_peer_table;

#define META_PEER_SYMBOL "meta_peer_v1"

#endif
