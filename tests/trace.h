/* SPDX-License-Identifier: BSD-3-Clause */
/** @file trace.h
 *  A trace written by META_PROFILE=trace:FILE, parsed as JSON and validated. */
#ifndef META_TEST_TRACE_H
#define META_TEST_TRACE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What took its time. Times are nanoseconds. */
typedef struct trace_slice {
    int pid, tid;
    int64_t begin, end;
    const char *category, *name;
    const json_t *args;
} trace_slice;

/** One end of a message. */
typedef struct trace_arrow {
    const char *id;
    int pid, tid;
    int64_t at;
} trace_arrow;

typedef struct trace {
    json_t *events;
    size_t slices, starts, ends;
    trace_slice *slice;       /**< as they stand in the file */
    trace_arrow *start, *end; /**< of arrows */
} trace;

/** Read the file at @p path, or the @p length bytes of @p text if it is NULL. @return a sentence on
 *  the first thing that is not as such a file is, empty if there is none. */
const char *trace_read(trace *t, const char *path, const char *text, size_t length);
void trace_free(trace *t);
/** A sentence on the first thing that does not fit together, empty where all does: on each thread of
 *  each process time never goes back, what begins within a slice ends in it, and only ranges hold
 *  others; processes and threads have one name each; the two ends of each message find each other, the
 *  later one not before the earlier one, each within a slice. */
const char *trace_fault(trace *t);
/** Slices of that rank (of all, where @p pid is negative) whose names begin with @p name. */
int trace_slices_of(const trace *t, int pid, const char *category, const char *name);
/** The text @p key of an event, empty where it has none. */
const char *trace_text(const json_t *event, const char *key);

#endif
