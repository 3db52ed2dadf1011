/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sample.h
 *  Timing: contenders alternate in rounds, A B A B, so that drift of the machine affects all of
 *  them alike. A row is a libmeta call and what it is measured against. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "note.h"

/** Role of a contender in its row; it may be limit and peer. */
enum { SUBJECT = 0, LIMIT = 1, PEER = 2 };

enum { MOST_CONTENDERS = 8, NAME_ROOM = 96 };

typedef struct contender {
    const char *name; /**< as a limit or a peer */
    unsigned role;
    void (*run)(void *with, int64_t times); /**< blocks; records a failure */
    void *with;
    double bytes; /**< moved per repetition; 0 if not meaningful */
    int each;     /**< operations per repetition */
    /* set by sample() */
    bool dropped;    /**< it failed */
    int64_t times;   /**< in one sample */
    double expected; /**< estimated seconds per repetition */
    double *seconds; /**< per operation, for each round, on the slowest rank */
} contender;

typedef struct row {
    char name[NAME_ROOM];            /**< group.what.type.size */
    contender list[MOST_CONTENDERS]; /**< the subject first */
    int count;
    double sector_bytes; /**< 0, or bytes the subject moves, counting whole memory sectors */
    int64_t messages;    /**< 0, or messages per repetition */
    bool times_peer;     /**< the times of the first peer are figures as well */
    bool hides; /**< the subject overlaps the work of the next two contenders: hidden refers
                     to the first of them */
} row;

typedef struct spread {
    double median, least, most;
} spread;

/** Add a contender to @p r. */
void row_add(row *r, const char *name, unsigned role, void (*run)(void *, int64_t), void *with,
             double bytes);

/** Collective. Time the row's contenders in @p rounds rounds. One that fails is dropped, with the
 *  reason on standard error. @return false if the subject itself was dropped */
bool sample(row *r, int rounds);
/** Free what sample() allocated. */
void sample_free(row *r);

/** Of @p count values; NaN if there are none. */
spread spread_of(const double *values, int count);

#endif
