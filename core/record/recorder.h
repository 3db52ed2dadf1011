/* SPDX-License-Identifier: BSD-3-Clause */
/** @file recorder.h
 *  The recorder of a thread, for the files that add to it or gather it. */
#ifndef META_RECORDER_H
#define META_RECORDER_H

#include "record/record.h"

/** Queued work whose time stamps are not read yet. */
typedef struct meta_record {
    const char *name;    /**< interned */
    meta_device *device; /**< where it ran, */
    meta_device *given;  /**< and to which it was given: META_AUTO's, or the same */
    meta_queue_kind queue;
    meta_profile_where where;
    meta_activity activity;
    uint64_t id, bytes;
    /* Of a kernel that META_MODE=auto launched: */
    const char *plain; /**< its name without the type, interned; NULL: several calls at once */
    uint32_t type;
    uint64_t cells;
    uint64_t queued; /**< host time just before */
    const char *label[2];
    meta_stamp stamp;
} meta_record;

/** A row of a thread's table. */
typedef struct meta_tally {
    const char *name;  /**< NULL: an empty place */
    const char *label; /**< of the buffer, NULL without one */
    const meta_device *device;
    meta_profile_where where;
    uint64_t calls, bytes, timed, timed_bytes, nanoseconds;
} meta_tally;

/** Never freed, but reused by later threads, so that the list is walked without a lock. */
typedef struct meta_recorder {
    struct meta_recorder *next;
    int number;
    bool taken;           /**< by a living thread; guarded by the lock of the list */
    pthread_mutex_t lock; /**< of what follows */
    meta_tally *rows;     /**< a hash table of `room` places */
    size_t used, room;
    meta_record *pending; /**< a ring of `ring` places */
    size_t first, count, ring;
    meta_trace_chunk *trace;
} meta_recorder;

/* recorder.c */
extern meta_recorder *_Atomic meta_recorders; /**< head of the list of all */
/** Call before the first recorder is used. */
void meta_recorders_begin(void);
/** This thread's; NULL without memory. */
meta_recorder *meta_recorder_own(void);
/** Add a call to the row for the name, label, device and place of @p of (zero otherwise), with the
 * recorder's lock held. @p begin and @p end are 0 where the times are unknown. */
void meta_recorder_tally(meta_recorder *r, const meta_tally *of, uint64_t bytes, uint64_t begin,
                         uint64_t end);
/** Empty its table. */
void meta_recorder_clear(meta_recorder *r);

/* profile.c */
/** Complete at most @p most of its pending records, with @p ended even those without times. */
void meta_recorder_read(meta_recorder *r, size_t most, bool ended);

/** Record what META_MODE=auto has done by itself. */
void meta_record_auto(void);

/* profile_auto.c */
/** Count work that META_MODE=auto was given, with the recorder's lock held. */
void meta_profile_auto_count(meta_recorder *r, const meta_record *done);
/** Trace decisions of META_MODE=auto up to its next copy between devices.
 * @return false if there is none */
bool meta_profile_auto_take(meta_record *move);
/** The recorder's flags are these. */
void meta_profile_auto_want(int flags);
void meta_profile_auto_forget(void);
/** Rows of META_WHERE_FIXED, and one of copies without a record if there are any, at most
 * META_FIXED_ROWS. @return how many */
enum { META_FIXED_ROWS = 64 };
size_t meta_profile_auto_rows(meta_profile_row *rows);

/* profile_tool.c */
void meta_tool_set(const meta_tool *tool);
/** Notify the tool, if one is set; otherwise *id is unchanged. */
void meta_tool_begin(meta_activity activity, const char *name, uint64_t bytes, uint64_t *id);
void meta_tool_end(meta_activity activity, uint64_t id, uint64_t begin, uint64_t end);

static inline bool meta_traced(void)
{
    return meta_profile_flags & META_PROFILE_TRACE;
}

#endif
