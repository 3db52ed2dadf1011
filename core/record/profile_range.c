/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_range.c
 *  Ranges: sections of a thread's time line that the application names. */
#include "record/recorder.h"

#include <stdlib.h>

enum { DEEPEST = 64 };

typedef struct range {
    const char *name;
    uint64_t begin; /* 0: pushed while nothing was recorded */
    uint64_t id;
    bool forwarded;
} range;

static _Thread_local range *ranges; /* DEEPEST, once the thread has pushed one */
static _Thread_local int depth;
static _Thread_local unsigned depth_in_life;

static void release(void *of_thread)
{
    if (of_thread == ranges) ranges = NULL, depth = 0;
    free(of_thread);
}

static bool have_ranges(void)
{
    static meta_thread_memory all_ranges = {.release = release};
    if (ranges) return true;
    ranges = malloc(DEEPEST * sizeof *ranges);
    if (ranges) meta_thread_memory_keep(&all_ranges, ranges);
    return ranges != NULL;
}

/* Ranges left open in an earlier life of the library are gone. */
static int *open_ranges(void)
{
    if (depth_in_life != meta_life()) depth = 0;
    depth_in_life = meta_life();
    return &depth;
}

meta_err meta_range_push(const char *name)
{
    int *open;
    META_ENTER();
    META_NEED(name);
    open = open_ranges();
    if (*open == DEEPEST)
        return meta_fail(META_ERR_STATE,
                         "%d ranges of this thread are open already: close one with "
                         "meta_range_pop()",
                         DEEPEST);
    if (!have_ranges()) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for ranges");
    range *r = &ranges[*open];
    *r = (range){0};
    if (meta_profiled()) {
        r->name = meta_profile_name(name);
        if (!r->name) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a name");
        meta_tool_begin(META_ACTIVITY_RANGE, r->name, 0, &r->id);
        r->begin = meta_profile_now();
    }
    r->forwarded = meta_forward_push(name);
    ++*open;
    return META_OK;
}

/* A range that was open when the counts were reset is only traced. */
static void record(const range *r, uint64_t end)
{
    meta_recorder *to = meta_recorder_own();
    if (to) {
        pthread_mutex_lock(&to->lock);
        const meta_tally line = {.name = r->name, .where = META_WHERE_RANGE};
        if (r->begin >= meta_profile_began()) meta_recorder_tally(to, &line, 0, r->begin, end);
        const meta_trace_event event = {.name = r->name,
                                        .activity = META_ACTIVITY_RANGE,
                                        .thread = to->number,
                                        .begin = r->begin,
                                        .end = end};
        if (meta_traced() && r->begin >= meta_profile_trace_began())
            meta_trace_add(&to->trace, &event);
        pthread_mutex_unlock(&to->lock);
    }
    meta_tool_end(META_ACTIVITY_RANGE, r->id, r->begin, end);
}

meta_err meta_range_pop(void)
{
    int *open;
    META_ENTER();
    open = open_ranges();
    if (*open == 0)
        return meta_fail(META_ERR_STATE,
                         "no range of this thread is open: open one with meta_range_push()");
    const range *r = &ranges[--*open];
    if (r->forwarded) meta_forward_pop();
    if (meta_profiled() && r->begin != 0) record(r, meta_profile_now());
    return META_OK;
}
