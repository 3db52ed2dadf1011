/* SPDX-License-Identifier: BSD-3-Clause */
/** @file rebalance.c
 *  New cuts from present ones and the time that each rank needed for a step. */
#include <inttypes.h>
#include <string.h>

#include "balance/cuts.h"

/* The present cuts are of this grid and apart from the proposal, which is written while they are
 * read; and this rank has cells, without which it has no speed. */
static meta_err check_now(const cuts_ranks *g, const meta_cuts *next, const meta_cuts *now,
                          const meta_decompose_desc *desc, int64_t *cells)
{
    *cells = 1;
    for (int d = 0; d < g->dims; ++d)
        if (next->at[d] == now->at[d])
            return core->fail(META_ERR_OVERLAP,
                              "arguments 'next->at[%d]' and 'now->at[%d]' are one array", d, d);
    for (int d = 0; d < g->dims; ++d) {
        const int64_t *at = now->at[d];
        if (at[g->extent[d]] != desc->cells[d])
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'now->at[%d]' ends at %" PRId64
                              ", but 'desc->cells[%d]' is %" PRId64,
                              d, at[g->extent[d]], d, desc->cells[d]);
        *cells *= at[g->at[d] + 1] - at[g->at[d]];
    }
    if (*cells == 0)
        return core->fail(META_ERR_ARGUMENT, "argument 'now': this rank has no cells, so that its "
                                             "time says nothing about its speed");
    return META_OK;
}

/* Whether every part has the planes that it must get at least. */
static bool allowed(const cuts_ranks *g, const meta_decompose_desc *desc, const meta_cuts *now)
{
    for (int d = 0; d < g->dims; ++d)
        for (int k = 0; k < g->extent[d]; ++k) {
            const int64_t planes = now->at[d][k + 1] - now->at[d][k];
            if (planes < 1 || planes < desc->least[d]) return false;
        }
    return true;
}

static meta_err rebalance(const cuts_ranks *g, const meta_cuts *next, const meta_cuts *now,
                          const meta_decompose_desc *desc, double seconds, double *before,
                          double *after)
{
    const double rounding = 1e-9; /* of times turned into speeds and back */
    int64_t cells = 0;
    double worst, expected;
    int full;
    META_TRY(cuts_check_desc(g, desc, "next", next, "seconds", seconds));
    META_TRY(cuts_check(g, "now", now));
    META_TRY(comm_agree(g->cart, check_now(g, next, now, desc, &cells)));
    worst = seconds;
    META_TRY(comm_all_reduce(g->cart, &worst, 1, MPI_DOUBLE, MPI_MAX, CUTS_PHASE));
    /* Whether a rank has more cells than it can hold now. */
    const int overfull = desc->most > 0 && cells > desc->most;
    full = overfull;
    META_TRY(comm_all_reduce(g->cart, &full, 1, MPI_INT, MPI_MAX, CUTS_PHASE));
    const bool may_stay = allowed(g, desc, now);
    META_TRY(cuts_find(g, desc, (double)cells / seconds, may_stay ? now : NULL, next, &expected));
    if (may_stay && !full && expected >= worst * (1 - rounding)) {
        for (int d = 0; d < g->dims; ++d)
            memmove(next->at[d], now->at[d], (size_t)(g->extent[d] + 1) * sizeof *next->at[d]);
        expected = worst;
    }
    if (before) *before = worst;
    if (after) *after = expected;
    return META_OK;
}

static meta_err open_and_rebalance(const meta_cuts *next, const meta_cuts *now,
                                   const meta_decompose_desc *desc, double seconds, double *before,
                                   double *after)
{
    cuts_ranks g;
    META_TRY(cuts_check_begins(desc));
    META_TRY(cuts_open(&g, desc->cart, "desc->cart"));
    const meta_err error = rebalance(&g, next, now, desc, seconds, before, after);
    cuts_close(&g);
    return error;
}

meta_err meta_rebalance(const meta_cuts *next, const meta_cuts *now,
                        const meta_decompose_desc *desc, double seconds, double *before,
                        double *after)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(open_and_rebalance(next, now, desc, seconds, before, after));
}
