/* SPDX-License-Identifier: BSD-3-Clause */
/** @file place.h
 *  The devices that the ranks measure, buffers on them, and the peers that work on the same
 *  memory. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include <stdbool.h>

#include "numbers.h"
#include "peer.h"

typedef struct place {
    meta_mode mode; /**< with index: this rank's device */
    int index;
    meta_device_desc device;
    int threads;        /**< of the CPU; 0 on a GPU */
    char backends[256]; /**< of all ranks, each once, with + between them */
    bool all_host;      /**< every rank's device uses host memory */
    bool any_gpu;       /**< among the ranks' devices */
    /* capabilities of the peers on all ranks */
    bool has_peer, has_blas, has_sum, has_gray_scott;
    bool any_stages;              /**< some rank's peer stages through host memory */
    const meta_peer_table *table; /**< this rank's; NULL without one */
    meta_peer *peer;
} place;

/** Collective. Choose this rank's device: that of @p backend, NAME or NAME:N, or if it is NULL
 * the one libmeta chooses; open its peer. Notes why it cannot be used. */
void place_open(place *p, const char *backend);
void place_close(place *p);
/** Whether this rank's peer does: its device has separate memory, and the peer supports it. */
bool place_stages(const place *p);

/** A buffer on this rank's device, with its native memory for peers, unless META_MODE=auto. */
typedef struct buffer {
    void *at; /**< NULL if there is none */
    meta_peer_memory native;
    bool on_host; /**< it is host memory, for the plain loops */
} buffer;

/** The type for libmeta. */
meta_type type_of(number type);
/** Record a failure if this rank's device or host lack memory for its share of these bytes. With
 * overcommit, touching memory that does not exist would kill the process. */
void place_need(const place *p, double device_bytes, double host_bytes);
/** Allocate @p count elements, first touched and set to 1 by libmeta. Records a failure. */
void buffer_create(buffer *b, int64_t count, number type);
/** A grid from meta_grid_alloc(): a cube of @p n cells with @p ghosts on every side, touched and
 * set in the same way; *own is set to its owned cells. */
void buffer_create_grid(buffer *b, meta_box *own, int64_t n, int64_t ghosts, number type);
/** The same in host memory for peers that compute with plain loops. */
void buffer_create_host(buffer *b, int64_t count, number type);
void buffer_free(buffer *b);
/** The peers' view of @p b from byte @p offset on. */
meta_peer_memory buffer_native(const buffer *b, int64_t offset);

#endif
