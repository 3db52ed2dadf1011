/* SPDX-License-Identifier: BSD-3-Clause */
/** @file record.h
 *  Recording a run: profile, trace and tool callbacks.
 *
 *  Work is recorded when it is queued, messages when they complete, ranges when they are popped.
 *  Each thread has a recorder of its own, whose lock is contended only while results are gathered.
 *  Time stamps are read from the back end later: when the thread queues further work, or at the
 *  end. */
#ifndef META_RECORD_H
#define META_RECORD_H

#include <limits.h>

#include "queue/queue.h"
#include "record/share.h"

/** Copies that serve as reference bandwidths. */
typedef enum meta_limit {
    META_LIMIT_OWN, /**< within the device's memory, read and written */
    META_LIMIT_H2D, /**< from pinned host memory */
    META_LIMIT_D2H, /**< to it */
    META_LIMIT_COUNT
} meta_limit;

/** A device's clock offset and copy bandwidths. */
typedef struct meta_device_record {
    bool aligned;                        /**< the offset is known */
    int64_t offset;                      /**< device time + offset = host time */
    uint64_t end[META_QUEUE_COUNT];      /**< of the last work of each queue */
    double copy_limit[META_LIMIT_COUNT]; /**< bytes a second; 0: not measured, less: unavailable */
} meta_device_record;

/* profile.c */
meta_err meta_record_open(meta_device *device);
void meta_record_close(meta_device *device);
/** Read META_PROFILE and start recording accordingly. */
meta_err meta_profile_read(void);
/** At the end of the library: print the summary, write the trace, and clear the records. */
void meta_profile_end(void);
uint64_t meta_profile_now(void);
/** The observer that records work. */
meta_err meta_profile_work(meta_task *w);
/** Whether this thread's work from now on is one of the library's own measurements. */
void meta_profile_measuring(bool on);
/** See internal.h. */
meta_err meta_profile_share_of(meta_profile_share *share);
void meta_profile_message(const meta_profile_passage *p);
void meta_profile_want(int flags);
void meta_profile_forget(void);

uint64_t meta_profile_began(void);
uint64_t meta_profile_trace_began(void);
meta_err meta_profile_trace(const meta_trace_clock *clock, meta_trace_sink *sink, void *with);
void meta_profile_trace_done(void);

/* profile_trace.c */
/** What the labels of work mean. */
typedef enum meta_trace_kind {
    META_TRACE_WORK,    /**< of the buffers written and read, or NULL */
    META_TRACE_MOVE,    /**< the reason of a copy between devices, and the kernel, or NULL */
    META_TRACE_DECISION /**< what it rests on, or NULL; it takes no time */
} meta_trace_kind;
/** An event of a trace. */
typedef struct meta_trace_event {
    const char *name;
    meta_activity activity;
    int thread;                /**< of a range: its number */
    const meta_device *device; /**< NULL for a range or a message */
    meta_queue_kind queue;
    meta_trace_kind kind;
    uint64_t begin, end, bytes;
    union {
        const char *label[2]; /**< of work: see meta_trace_kind */
        struct {
            bool out, flows;
            int peer;
            uint64_t channel, number, given;
        } message; /**< see meta_profile_passage */
    };
} meta_trace_event;
typedef struct meta_trace_chunk meta_trace_chunk;
/** Read META_TRACE_EVENTS. */
meta_err meta_trace_read(void);
void meta_trace_begin(uint64_t now);
/** Append to a thread's list, initially NULL. */
void meta_trace_add(meta_trace_chunk **chunks, const meta_trace_event *event);
void meta_trace_free(meta_trace_chunk **chunks);
/** Write the events of these lists. */
meta_err meta_trace_text(meta_trace_chunk *const *lists, size_t list_count,
                         const meta_trace_clock *clock, meta_trace_sink *sink, void *with);

/* profile_file.c */
/** The absolute path of the file that META_PROFILE names after @p word, @p length characters long.
 */
meta_err meta_profile_path(const char *word, const char *name, size_t length, char to[PATH_MAX]);
/** Set the file's name, @p length characters long. */
meta_err meta_trace_path(const char *name, size_t length);
/** Append the rank to it, for a file of this rank's part alone. */
void meta_trace_path_of(int rank);
bool meta_trace_open(void);
void meta_trace_put(void *unused, const char *text, size_t bytes);
void meta_trace_close(void);

/* profile_overlap.c */
/** The application's kernels ran then. @return whether meta_overlap_fold() is due. */
bool meta_overlap_work(uint64_t begin, uint64_t end);
/** A message or exchange has started (+1) or ended (-1). */
void meta_overlap_comm(int change);
/** Fold the time before @p until, of which all work is recorded, into the sums. */
void meta_overlap_fold(uint64_t until);
/** Seconds of communication, and those of them hidden behind kernels. */
void meta_overlap_sums(double *seconds, double *hidden);
void meta_overlap_forget(void);

/* profile_name.c */
/** Build the table of kernel names, before the first look-up. */
void meta_profile_names(void);
const char *meta_profile_kernel(const meta_call *call);
/** The text interned; NULL without memory. */
const char *meta_profile_name(const char *text);

/* profile_label.c */
enum { META_LABEL_WRITTEN, META_LABEL_READ };
/** The labels of the buffers that work writes and reads; unchanged where no buffer has one. */
void meta_profile_labels(const meta_task *w, const char *label[2]);

/* profile_forward.c: ranges for NVTX and ROCTX */
/** Find their libraries where the application or a tool has loaded them. */
void meta_forward_find(void);
/** @return whether it was forwarded and needs meta_forward_pop(). */
bool meta_forward_push(const char *name);
void meta_forward_pop(void);

/* json.c */
/** The text as it stands between the quotation marks of a JSON string, truncated to @p room.
 * @return @p to */
const char *meta_json_quote(const char *from, char *to, size_t room);

/* profile_lines.c */
/** A line of the summary, over the processes that have it. */
typedef struct meta_profile_line {
    meta_profile_row sum;
    double all; /**< seconds of its name's line without a label */
    int ranks, least_rank, most_rank;
    double least, most; /**< seconds of a rank */
} meta_profile_line;
/** The rows of @p count processes merged, by place and back end, then the longest first; the labels
 * of a name follow it. To be given to free(); NULL: memory is out. */
meta_profile_line *meta_profile_lines(const meta_profile_share *share, int count, size_t *used);

/* profile_text.c */
/** The summary of @p count processes for each of the @p flags: META_PROFILE_SUMMARY, printed, and
 * META_PROFILE_JSON, to the file. */
void meta_profile_report(const meta_profile_share *share, int count, int flags);

/* profile_json.c */
/** Set the name of the summary's file, @p length characters long. */
meta_err meta_profile_json_path(const char *name, size_t length);
/** Write the summary, once. A file that cannot be written is only worth a warning. */
void meta_profile_write(const meta_profile_share *share, int count, const meta_profile_line *lines,
                        size_t used);

/* profile_limit.c */
/** Bytes a second of a copy; 0 where it cannot be measured. */
double meta_profile_limit(meta_device *device, meta_limit which);

#endif
