/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cuts.h
 *  What the files that cut a grid and move its blocks share: the process grid, and arguments on
 * which all ranks must agree. */
#ifndef META_CUTS_H
#define META_CUTS_H

#include "progress/progress.h"

enum { CUTS_DIMS = 3 };
#define CUTS_PHASE "while ranks agree on cuts"

/** A rank in its process grid. */
typedef struct cuts_ranks {
    MPI_Comm cart; /**< a duplicate, which returns errors */
    bool dirty;    /**< messages may be under way in it: it is not freed */
    int rank, dims;
    int extent[CUTS_DIMS], at[CUTS_DIMS]; /**< 1 and 0 in dimensions that are not there */
} cuts_ranks;

/** Collective, and both wait for all ranks first. Duplicate @p comm; @p g needs cart alone then. */
meta_err cuts_duplicate(MPI_Comm comm, const char *name, MPI_Comm *copy);
/** Duplicate Cartesian @p cart, called @p name, and find this rank's place in it. Local errors of
 * the argument are returned before any rank is asked. */
meta_err cuts_open(cuts_ranks *g, MPI_Comm cart, const char *name);
void cuts_close(cuts_ranks *g);

/** Compare @p mine with rank 0's. Collective: an error of this rank alone, for comm_agree(). */
meta_err cuts_compare(const cuts_ranks *g, const char *name, int64_t count, const int64_t *mine);
/** Whether @p cuts are ones of the process grid, and the same on every rank. Collective, the same
 * error everywhere, as the next ones. */
meta_err cuts_check(const cuts_ranks *g, const char *name, const meta_cuts *cuts);
/** Whether there is a description that has a communicator, by which other ranks can be told of what
 * is wrong with the rest; local. */
meta_err cuts_check_begins(const meta_decompose_desc *desc);
/** Copy it to @p own. Whether it is whole, says the same on every rank and can be met; whether @p
 * out, called @p out_name, has arrays for results; and whether *value, which may be of @p own and
 * is called @p name, is positive and finite. */
meta_err cuts_check_desc(const cuts_ranks *g, meta_decompose_desc *own,
                         const meta_decompose_desc *desc, const char *out_name,
                         const meta_cuts *out, const char *name, const double *value);

/** Whether argument @p value, called @p name, is positive and finite; local. */
meta_err cuts_check_positive(const char *name, double value);
/** Whether @p now, which cuts_check() has passed, are cuts of the grid, apart from @p next; and
 * give this rank cells, without which its time says nothing: *cells. Local. */
meta_err cuts_check_now(const cuts_ranks *g, const meta_cuts *next, const meta_cuts *now,
                        const meta_decompose_desc *desc, int64_t *cells);
/** Whether they give every part of a dimension the planes that it must get; local. */
bool cuts_give_least(const cuts_ranks *g, const meta_decompose_desc *desc, const meta_cuts *now);
void cuts_copy(const cuts_ranks *g, const meta_cuts *to, const meta_cuts *from);

/** What this rank takes for some number of cells; never less for more. */
typedef struct cuts_times {
    double (*seconds)(const void *of, int64_t cells);
    const void *of;
} cuts_times;
/** The best cuts from a few beginnings, one of them @p now where it is not NULL. @p speed is this
 * rank's, in cells a second, checked; where its time is not proportional, @p times, given on every
 * rank or on none, count and @p speed is about right. Collective, with its errors the same
 * everywhere. @p next's arrays and @p seconds, of the slowest rank, are written on success. */
meta_err cuts_find(const cuts_ranks *g, const meta_decompose_desc *desc, double speed,
                   const cuts_times *times, const meta_cuts *now, const meta_cuts *next,
                   double *seconds);

#endif
