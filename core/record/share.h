/* SPDX-License-Identifier: BSD-3-Clause */
/** @file share.h
 *  The records of a process, as libmeta_comm gathers them from all ranks. */
#ifndef META_SHARE_H
#define META_SHARE_H

#include <stdbool.h>

#include "meta_backend.h"

/** Why the run is recorded; flags. */
enum {
    META_PROFILE_SUMMARY = 1, /**< META_PROFILE=summary: printed at the end */
    META_PROFILE_TIMERS = 2,  /**< meta_timers_init(): printed when asked for */
    META_PROFILE_TOOL = 4,    /**< meta_set_tool() */
    META_PROFILE_TRACE = 8,   /**< META_PROFILE=trace:FILE */
    META_PROFILE_JSON = 16    /**< META_PROFILE=json:FILE */
};

/** Where recorded time went. */
typedef enum meta_profile_where {
    META_WHERE_WORK,    /**< kernels and copies of the application */
    META_WHERE_HALO,    /**< those of halo exchanges */
    META_WHERE_MESSAGE, /**< those of messages and reductions */
    META_WHERE_MEASURE, /**< the library's own measurements */
    META_WHERE_WIRE,    /**< messages between ranks, from one end to the other */
    META_WHERE_RANGE,   /**< ranges of meta_range_push() */
    META_WHERE_DEVICE,  /**< kernels of META_MODE=auto, whose labels are the devices they ran on */
    META_WHERE_MOVE,    /**< its copies between devices, whose labels are the reasons */
    META_WHERE_FIXED,   /**< times of its work, and of the same work on one device; calls: of how
                           many kernels, sizes and copies the time there is not known */
    META_WHERE_COUNT
} meta_profile_where;

/** One line of a process's summary. */
typedef struct meta_profile_row {
    int where;
    char backend[32]; /**< that ran it; empty where none did */
    char name[64];
    char label[META_LABEL_BYTES]; /**< of the buffer written, else read; empty: all of the name */
    uint64_t calls, bytes;
    uint64_t timed;       /**< calls with time stamps, */
    uint64_t timed_bytes; /**< their bytes, */
    double seconds;       /**< their time */
    double could;         /**< bytes that a copy moves in that time; 0: unknown */
} meta_profile_row;

/** A process's share of the summary. */
typedef struct meta_profile_share {
    int rank;
    double seconds; /**< since recording began */
    double comm;    /**< with messages or exchanges under way, */
    double hidden;  /**< of which hidden behind the application's kernels */
    meta_profile_row *rows;
    size_t count;
} meta_profile_share;

/** A message between ranks, as one end sees it. */
typedef struct meta_profile_passage {
    const char *name; /**< interned */
    uint64_t bytes;
    uint64_t begin, end; /**< from its posting; by profile_now() */
    bool out;            /**< from this rank; else to it */
    int peer;            /**< the other rank; negative: a collective */
    /* The identity of the message, the same at both ends, where flows is set. */
    bool flows;
    uint64_t channel, number;
    uint64_t given; /**< when the sender posted it, or the receiver got it */
} meta_profile_passage;

/** The offset from this process's clock to that of all ranks: measured at two times, linear between
 *  them. */
typedef struct meta_trace_clock {
    uint64_t time[2];
    double offset[2];
    uint64_t base; /**< of all ranks: when the trace begins */
    double within; /**< error bound in nanoseconds; 0 for the reference clock itself */
} meta_trace_clock;

/** Writes whole lines of a trace, at most META_TRACE_PIECE bytes. */
typedef void meta_trace_sink(void *with, const char *text, size_t bytes);
#define META_TRACE_PIECE (256 << 10)

#endif
