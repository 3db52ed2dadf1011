/* SPDX-License-Identifier: BSD-3-Clause */
/** @file recorder.h
 *  What a thread has recorded, as the files see it that add to it and gather it. */
#ifndef META_RECORDER_H
#define META_RECORDER_H

#include "record/record.h"

/** Work that was queued, until it is known when it ran. */
typedef struct meta_record {
    const char *name; /**< one text has one address */
    meta_device *device;
    meta_queue_kind queue;
    meta_profile_where where;
    meta_activity activity;
    uint64_t id, bytes;
    uint64_t queued; /**< before it was */
    const char *label[2];
    meta_stamp stamp;
} meta_record;

/** A line of a thread's table. */
typedef struct meta_tally {
    const char *name;  /**< NULL: an unused place */
    const char *label; /**< of the buffer, NULL without one */
    const meta_device *device;
    meta_profile_where where;
    uint64_t calls, bytes, timed, timed_bytes, nanoseconds;
} meta_tally;

/** A thread's. Recorders are kept for threads to come, so that none is ever gone while used. */
typedef struct meta_recorder {
    struct meta_recorder *next;
    int number;
    bool taken;           /**< by a thread that is alive; with the lock of the list */
    pthread_mutex_t lock; /**< of what follows */
    meta_tally *rows;     /**< a hash table of `room` places */
    size_t used, room;
    meta_record *pending; /**< a ring of `ring` places */
    size_t first, count, ring;
    meta_trace_chunk *trace;
} meta_recorder;

/* recorder.c */
extern meta_recorder *_Atomic meta_recorders; /**< all there ever were */
/** Before the first of them. */
void meta_recorders_begin(void);
/** This thread's; NULL where there is no memory for it. */
meta_recorder *meta_recorder_own(void);
/** Add a call to its line for the name, label, device and place of @p of, which is zero otherwise;
 * with its lock. @p begin and @p end are 0 where it is not known when. */
void meta_recorder_tally(meta_recorder *r, const meta_tally *of, uint64_t bytes, uint64_t begin,
                         uint64_t end);
/** Forget its table. */
void meta_recorder_clear(meta_recorder *r);

/* profile.c */
/** Settle @p most of its records at the most, with @p ended those too of which nothing is known. */
void meta_recorder_read(meta_recorder *r, size_t most, bool ended);

/* profile_tool.c */
void meta_tool_set(const meta_tool *tool);
/** Tell it, if there is one; *id stays as it is where there is none. */
void meta_tool_begin(meta_activity activity, const char *name, uint64_t bytes, uint64_t *id);
void meta_tool_end(meta_activity activity, uint64_t id, uint64_t begin, uint64_t end);

static inline bool meta_traced(void)
{
    return meta_profile_flags & META_PROFILE_TRACE;
}

#endif
