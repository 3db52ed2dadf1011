/* SPDX-License-Identifier: BSD-3-Clause */
/** @file history.h
 *  What meta_balance() has measured on a communicator: the cuts that were tried, with the time of a
 * step, and this rank's curve. It is an attribute of the caller's communicator, and ends with it.
 * But for the curve it is the same on every rank. */
#ifndef META_HISTORY_H
#define META_HISTORY_H

#include "balance/curve.h"
#include "balance/cuts.h"

enum {
    HISTORY_TRIES = 12,
    HISTORY_CUTS = HISTORY_TRIES + 2 /**< the first ones, tries, and the last ones beyond those */
};

typedef struct history {
    curve curve;
    int64_t cells[CUTS_DIMS]; /**< of the grid */
    int cuts;                 /**< measured; the first ones are where the caller began */
    int slower; /**< how often in a row the same cuts have taken much longer than before */
    double step[HISTORY_CUTS];    /**< the least time of a step with each */
    double longest[HISTORY_CUTS]; /**< and of the rank that computed longest */
    size_t planes;                /**< elements of a cut's arrays */
    int64_t at[];                 /**< of all cuts, and of those that are being looked for */
} history;

/** The history of @p cart, the caller's communicator of @p g, for a grid of desc->cells: an empty
 * one where there is none or the grid was another. Collective, the same error on every rank. */
meta_err history_of(MPI_Comm cart, const cuts_ranks *g, const meta_decompose_desc *desc,
                    history **h);
/** Take in that with cuts a step took @p step, the rank that computed longest @p longest, and this
 * one @p seconds for its @p cells. @return their index. Local, as the next ones. */
int history_add(history *h, const cuts_ranks *g, const meta_cuts *cuts, int64_t cells,
                double seconds, double longest, double step);
/** The index of cuts, -1 where they were not measured. */
int history_find(const history *h, const cuts_ranks *g, const meta_cuts *cuts);
/** Cuts @p k, in the history's memory. With HISTORY_CUTS: memory for others. */
meta_cuts history_cuts(history *h, const cuts_ranks *g, int k);
/** Whether no more cuts are to be tried. */
static inline bool history_is_full(const history *h)
{
    return h->cuts > HISTORY_TRIES;
}

#endif
