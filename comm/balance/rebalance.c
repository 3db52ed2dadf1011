/* SPDX-License-Identifier: BSD-3-Clause */
/** @file rebalance.c
 *  New cuts from present ones and the time that each rank needed for a step. */
#include "balance/cuts.h"

static meta_err rebalance(const cuts_ranks *g, const meta_cuts *next, const meta_cuts *now,
                          const meta_decompose_desc *given, double seconds, double *before,
                          double *after)
{
    meta_decompose_desc own;
    const meta_decompose_desc *const desc = &own;
    const double rounding = 1e-9; /* of times turned into speeds and back */
    int64_t cells = 0;
    double worst, expected;
    int full;
    META_TRY(cuts_check_desc(g, &own, given, "next", next, "seconds", &seconds));
    META_TRY(cuts_check(g, "now", now));
    META_TRY(comm_agree(g->cart, cuts_check_now(g, next, now, desc, &cells)));
    worst = seconds;
    META_TRY(comm_all_reduce(g->cart, &worst, 1, MPI_DOUBLE, MPI_MAX, CUTS_PHASE));
    /* Whether a rank has more cells than it can hold now. */
    const int overfull = desc->most > 0 && cells > desc->most;
    full = overfull;
    META_TRY(comm_all_reduce(g->cart, &full, 1, MPI_INT, MPI_MAX, CUTS_PHASE));
    const bool may_stay = cuts_give_least(g, desc, now);
    META_TRY(
        cuts_find(g, desc, (double)cells / seconds, NULL, may_stay ? now : NULL, next, &expected));
    if (may_stay && !full && expected >= worst * (1 - rounding)) {
        cuts_copy(g, next, now);
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
