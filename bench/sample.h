/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sample.h
 *  Timing: contenders alternate in rounds, A B A B, so that drift of the machine affects all of
 *  them alike. A row is a libmeta call and what it is measured against. */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "note.h"

/** What a contender is to its row; one may be both. None: it is what the row is about. */
enum { SUBJECT = 0, LIMIT = 1, PEER = 2 };

enum { MOST_CONTENDERS = 8, NAME_ROOM = 96 };

typedef struct contender {
    const char *name; /**< as a limit or a peer */
    unsigned role;
    void (*run)(void *with, int64_t times); /**< to its end; notes a failure */
    void *with;
    double bytes; /**< that one time moves; 0 where that says nothing */
    int each;     /**< how many operations one time is */
    /* set by sample() */
    bool dropped;    /**< it failed */
    int64_t times;   /**< in one sample */
    double expected; /**< seconds of one time, as far as is known */
    double *seconds; /**< of one operation, in each round, of the slowest rank */
} contender;

typedef struct row {
    char name[NAME_ROOM];            /**< group.what.type.size */
    contender list[MOST_CONTENDERS]; /**< the subject first */
    int count;
    double sector_bytes; /**< 0, or what the subject moves in whole memory sectors */
    int64_t messages;    /**< 0, or those of one time */
    bool hides;          /**< the subject is the two next contenders' work at once: hidden is of the
                              first of them */
} row;

typedef struct spread {
    double median, least, most;
} spread;

/** Add a contender to @p r. */
void row_add(row *r, const char *name, unsigned role, void (*run)(void *, int64_t), void *with,
             double bytes);

/** Collective. Time the row's contenders in @p rounds rounds. One that fails is dropped, with the
 *  reason on the error stream. @return false where the subject itself was */
bool sample(row *r, int rounds);
/** Give back what sample() took. */
void sample_free(row *r);

/** Of @p count values; NaN if there are none. */
spread spread_of(const double *values, int count);

#endif
