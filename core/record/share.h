/* SPDX-License-Identifier: BSD-3-Clause */
/** @file share.h
 *  What is recorded of a run, as libmeta_comm gathers it from all ranks. */
#ifndef META_SHARE_H
#define META_SHARE_H

#include <stdbool.h>

#include "meta_backend.h"

/** What is recorded; several at once. */
enum {
    META_PROFILE_SUMMARY = 1, /**< META_PROFILE=summary: printed at the end */
    META_PROFILE_TIMERS = 2,  /**< meta_timers_init(): printed when asked for */
    META_PROFILE_TOOL = 4,    /**< meta_set_tool() */
    META_PROFILE_TRACE = 8    /**< META_PROFILE=trace:FILE */
};

/** Where recorded time went. */
typedef enum meta_profile_where {
    META_WHERE_WORK,    /**< kernels and copies that the application asked for */
    META_WHERE_HALO,    /**< those of halo exchanges */
    META_WHERE_MESSAGE, /**< those of messages and reductions */
    META_WHERE_MEASURE, /**< what the library measures for its own decisions */
    META_WHERE_WIRE,    /**< messages between ranks, from one end to the other */
    META_WHERE_RANGE,   /**< ranges of meta_range_push() */
    META_WHERE_COUNT
} meta_profile_where;

/** One line of a process's summary. */
typedef struct meta_profile_row {
    int where;
    char backend[32]; /**< that ran it; empty where none did */
    char name[64];
    char label[META_LABEL_BYTES]; /**< of the buffer written, or else read; empty: all of that name
                                   */
    uint64_t calls, bytes;
    uint64_t timed;       /**< calls of which it is known how long they took, */
    uint64_t timed_bytes; /**< their bytes, */
    double seconds;       /**< their time */
    double could;         /**< bytes that a copy moves in that time; 0 where that is not known */
} meta_profile_row;

/** What a process adds to the summary of all. */
typedef struct meta_profile_share {
    int rank;
    double seconds; /**< since recording began */
    double comm;    /**< in which messages or exchanges were under way, */
    double hidden;  /**< and in which the application's kernels ran meanwhile */
    meta_profile_row *rows;
    size_t count;
} meta_profile_share;

/** A message between ranks, as one end sees it. */
typedef struct meta_profile_passage {
    const char *name; /**< valid for ever, one address for one text */
    uint64_t bytes;
    uint64_t begin, end; /**< from its posting, by meta_core's profile_now() */
    bool out;            /**< from this rank; else to it */
    int peer;            /**< the other rank; negative where there is not one */
    /* Which message it is, for both ends the same; none where flows is false. */
    bool flows;
    uint64_t channel, number;
    uint64_t given; /**< when the sender gave it away, or the receiver had it */
} meta_profile_passage;

/** How this process's clock and that of all ranks go together: what is added to a time is known at
 *  two times, and between them on a line. */
typedef struct meta_trace_clock {
    uint64_t time[2];
    double offset[2];
    uint64_t base; /**< of all ranks: when the trace begins */
    double within; /**< nanoseconds by which a time may be wrong; 0 for the clock of all itself */
} meta_trace_clock;

/** Takes whole lines of a trace, at most META_TRACE_PIECE bytes of them. */
typedef void meta_trace_sink(void *with, const char *text, size_t bytes);
#define META_TRACE_PIECE (256 << 10)

#endif
