/* SPDX-License-Identifier: BSD-3-Clause */
/** @file record.h
 *  What is recorded of a run, as the files share it that record it, add it up and write it down.
 *
 *  A record is made where work is queued (submit.c), where a message is given to MPI or a range is
 *  opened. Each thread keeps its own records, so that threads do not wait for each other: its lock
 * is contended only while results are gathered. When the work ran is asked of the back end later,
 * when the thread queues further work or at the end. */
#ifndef META_RECORD_H
#define META_RECORD_H

#include "queue/queue.h"
#include "record/share.h"

/** Copies whose speed others are compared with. */
typedef enum meta_limit {
    META_LIMIT_OWN, /**< within the device's memory, read and written */
    META_LIMIT_H2D, /**< from pinned host memory */
    META_LIMIT_D2H, /**< to it */
    META_LIMIT_COUNT
} meta_limit;

/** What is known of a device's clock and speed. */
typedef struct meta_device_record {
    bool aligned;                   /**< the offset is known */
    int64_t offset;                 /**< device time + offset = host time */
    uint64_t end[META_QUEUE_COUNT]; /**< of the latest work of each queue */
    double copy_limit[META_LIMIT_COUNT]; /**< bytes a second; 0: not measured, less: unavailable */
} meta_device_record;

/* profile.c */
meta_err meta_record_open(meta_device *device);
void meta_record_close(meta_device *device);
/** Read META_PROFILE, and begin what it asks for. */
meta_err meta_profile_read(void);
/** The library ends: print and write what was asked for, and forget it. */
void meta_profile_end(void);
uint64_t meta_profile_now(void);
/** The observer that records work. */
meta_err meta_profile_work(meta_task *w);
/** What this thread queues from now on is a measurement of the library's own, or (false) not. */
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
/** Something that is in a trace. */
typedef struct meta_trace_event {
    const char *name;
    meta_activity activity;
    int thread;                /**< of a range: its number */
    const meta_device *device; /**< NULL for a range or a message */
    meta_queue_kind queue;
    uint64_t begin, end, bytes;
    union {
        const char
            *label[2]; /**< of work: of the buffers written and read, NULL where there is none */
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
/** Add it to a thread's list, which is NULL at first. */
void meta_trace_add(meta_trace_chunk **chunks, const meta_trace_event *event);
void meta_trace_free(meta_trace_chunk **chunks);
/** Write what is in these lists. */
meta_err meta_trace_text(meta_trace_chunk *const *lists, size_t list_count,
                         const meta_trace_clock *clock, meta_trace_sink *sink, void *with);

/* profile_file.c */
/** The file's name, of @p length characters at @p name. */
meta_err meta_trace_path(const char *name, size_t length);
/** Another one, of this rank's part alone. */
void meta_trace_path_of(int rank);
bool meta_trace_open(void);
void meta_trace_put(void *unused, const char *text, size_t bytes);
void meta_trace_close(void);

/* profile_overlap.c */
/** The application's kernels ran then. @return whether it is time for meta_overlap_fold(). */
bool meta_overlap_work(uint64_t begin, uint64_t end);
/** One more message or exchange is under way now, or one less. */
void meta_overlap_comm(int change);
/** Add up what lies before @p until, of which everything is known. */
void meta_overlap_fold(uint64_t until);
/** Seconds in which messages were under way, and those of them in which kernels ran. */
void meta_overlap_sums(double *seconds, double *hidden);
void meta_overlap_forget(void);

/* profile_name.c */
/** Before the first kernel's name is asked for. */
void meta_profile_names(void);
const char *meta_profile_kernel(const meta_call *call);
uint64_t meta_profile_bytes(const meta_call *call);
/** The one address of that text; NULL where there is no memory for it. */
const char *meta_profile_name(const char *text);

/* profile_label.c */
enum { META_LABEL_WRITTEN, META_LABEL_READ };
/** The labels of the buffers that a launch or a copy writes and reads; left alone where no buffer
 * has one. */
void meta_profile_labels(const meta_task *w, const char *label[2]);

/* profile_forward.c: ranges for NVTX and ROCTX */
/** Look for their libraries, which the application or a tool may have loaded. */
void meta_forward_find(void);
/** @return whether there is one, and meta_forward_pop() is to be called. */
bool meta_forward_push(const char *name);
void meta_forward_pop(void);

/* profile_text.c */
/** Print the table of @p count processes. */
void meta_profile_print(const meta_profile_share *share, int count);

/* profile_limit.c */
/** Bytes a second of a copy; 0 where it cannot be told. */
double meta_profile_limit(meta_device *device, meta_limit which);

#endif
