/* SPDX-License-Identifier: BSD-3-Clause */
/** @file slabs.h
 *  Which devices hold the bytes of a coherent buffer, and the work that each device's copy of them
 *  waits for: a sorted list of slabs without gaps, ranges of bytes that are alike. */
#ifndef META_SLABS_H
#define META_SLABS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A set of devices has a bit for each; a device has two lanes. */
enum { META_SLABS_DEVICES = 16, META_SLABS_LANES = 2 * META_SLABS_DEVICES };

/** Queued work: its lane, and its number there, counted from 1. 0: none. */
typedef uint64_t meta_mark;
enum { META_MARK_BITS = 56 };
static inline meta_mark meta_mark_of(int lane, uint64_t number)
{
    return (uint64_t)lane << META_MARK_BITS | number;
}
static inline int meta_mark_lane(meta_mark mark)
{
    return (int)(mark >> META_MARK_BITS);
}
static inline uint64_t meta_mark_number(meta_mark mark)
{
    return mark & ((UINT64_C(1) << META_MARK_BITS) - 1);
}

typedef struct meta_auto_slab {
    uint64_t begin, end; /**< bytes [begin, end) of the buffer */
    uint32_t valid;      /**< devices that hold them; all, where nothing was written yet */
    meta_mark written;   /**< by this work; what devices hold are copies of its result */
    meta_mark *mark;     /**< use meta_slab_writer() and meta_slab_reader() */
    uint64_t shape;      /**< the elements written last, with others between them; 0: all were */
    uint32_t rest;       /**< devices that hold the others */
} meta_auto_slab;

typedef struct meta_slabs {
    meta_auto_slab *slab;
    size_t count, room;
    int devices, lanes;
    bool has_changed; /**< so that some may be equal now */
} meta_slabs;

/** One slab of @p bytes that every device holds; NULL: memory is out. */
meta_slabs *meta_slabs_new(uint64_t bytes, int devices);
void meta_slabs_free(meta_slabs *slabs);
/** The slab that holds byte @p at. */
size_t meta_slabs_find(const meta_slabs *slabs, uint64_t at);
/** Cut slabs so that bytes [begin, end) are the slabs [*first, *last).
 *  @return false: memory is out, and nothing has changed */
bool meta_slabs_cut(meta_slabs *slabs, uint64_t begin, uint64_t end, size_t *first, size_t *last);
/** Merge those of slabs [first, last) and their neighbours that are equal. Work of lane k up to
 * number @p done[k] is complete, and a mark of it as good as none. */
void meta_slabs_merge(meta_slabs *slabs, size_t first, size_t last, const uint64_t *done);

/** The work that last wrote the copy of @p device. */
static inline meta_mark *meta_slab_writer(const meta_slabs *slabs, const meta_auto_slab *slab,
                                          int device)
{
    return &slab->mark[device * (1 + slabs->lanes)];
}
/** For each lane the work that last read the copy of @p device since it was written. */
static inline meta_mark *meta_slab_readers(const meta_slabs *slabs, const meta_auto_slab *slab,
                                           int device)
{
    return &slab->mark[device * (1 + slabs->lanes) + 1];
}

#endif
