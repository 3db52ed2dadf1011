/* SPDX-License-Identifier: BSD-3-Clause */
/** @file buffer.h
 *  Buffers of META_AUTO: where their bytes are, and how they get to where a call needs them. */
#ifndef META_AUTO_BUFFER_H
#define META_AUTO_BUFFER_H

#include "auto/machine.h"

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
/** If @p error is META_ERR_DEVICE, mark the lane's device as failed from its next work on.
 * @return @p error */
meta_err meta_auto_check_device(const meta_auto_lane *lane, meta_err error);
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
/** Extend @p range to the results that @p call puts into host memory. */
void meta_auto_add_results(const meta_call *call, meta_auto_host_range *range);
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

/* ------------------------------------------------------------------ transfer.c */

/** Order @p lane behind the work that device @p d's copy of a slab waits for. */
meta_err meta_auto_order_slab(meta_auto_lane *lane, const meta_slabs *slabs,
                              const meta_auto_slab *slab, int d, bool writes);
/** Queue a copy of slabs [first, last) from one device's copy to another's, behind the work that
 * they wait for; the slabs' marks are the caller's to set. */
meta_err meta_auto_move(meta_auto_buffer *buffer, int from, int to, size_t first, size_t last,
                        meta_mark *mark);

#endif
