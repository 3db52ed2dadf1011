/* SPDX-License-Identifier: BSD-3-Clause */
/** @file balancer.c
 *  Cuts by trial. The ranks' curves say which cuts to try; what a step then takes decides which
 * ones stay. So a curve may be wrong, and be corrected by the trial that it led to. */
#include <math.h>
#include <stddef.h>

#include "balance/history.h"

/* Shares of the best step: by how much cuts must be measured to be faster to count as better, and
 * be expected to be faster to be tried; and up to which nothing more is searched for. */
static const double faster = 0.01, promising = 0.01, close_enough = 0.02;

/* ------------------------------------------------------------------ models */

/* A rank's time between what its curve expects and what it takes at least. */
typedef struct model {
    const curve *curve;
    double weight; /* of what is expected */
} model;

static double seconds_by(const void *of, int64_t cells)
{
    const model *m = of;
    const double least = m->weight < 1 ? curve_least(m->curve, cells) : 0;
    const double expected = m->weight > 0 ? curve_expected(m->curve, cells) : 0;
    return m->weight * expected + (1 - m->weight) * least;
}

/* ------------------------------------------------------------------ one call */

typedef struct balancer {
    const cuts_ranks *g;
    const meta_decompose_desc *desc; /* the program's, and once it is checked, its copy: */
    meta_decompose_desc own;
    const meta_cuts *now;
    history *h;
    int64_t cells;    /* of this rank, now */
    double computing; /* its seconds for them */
    int at, best;     /* of the measured cuts: those now, and the best that are allowed, or -1 */
    bool may_stay;    /* whether those now are allowed */
    meta_cuts trial;  /* arrays for those that are being looked for */
} balancer;

/* The best cuts by @p weight, to trial, and the time of the rank that will compute longest. */
static meta_err find_by(const balancer *b, double weight, double *longest)
{
    const model m = {&b->h->curve, weight};
    const cuts_times times = {seconds_by, &m};
    return cuts_find(b->g, b->desc, (double)b->cells / b->computing, &times,
                     b->may_stay ? b->now : NULL, &b->trial, longest);
}

/* Look for cuts to try, to trial: those that the curves expect to be best; where that promises
 * nothing, but measured times do not exclude that better ones exist, some between. *step: what a
 * step may take with them. */
static meta_err look_for_trial(const balancer *b, bool *found, double *step)
{
    static const double weights[] = {0.5, 0.25, 0.1, 0.02};
    enum { WEIGHTS = sizeof weights / sizeof *weights };
    const double best = b->h->step[b->best];
    const double beyond = fmax(0, best - b->h->longest[b->best]); /* computation */
    double longest;
    *found = false;
    if (history_is_full(b->h)) return META_OK;
    META_TRY(find_by(b, 1, &longest));
    *step = longest + beyond;
    *found = *step < (1 - promising) * best && history_find(b->h, b->g, &b->trial) < 0;
    if (*found) return META_OK;
    META_TRY(find_by(b, 0, &longest));
    const bool possible = longest + beyond < (1 - close_enough) * best;
    for (int k = 0; k < WEIGHTS && possible && !*found; ++k) {
        META_TRY(find_by(b, weights[k], &longest));
        *step = fmin(longest + beyond, (1 - promising) * best);
        *found = history_find(b->h, b->g, &b->trial) < 0;
    }
    return META_OK;
}

/* Which of the measured cuts some rank cannot have, a bit for each: it cannot hold its cells, or a
 * part has fewer planes than it must get. */
static meta_err find_forbidden(const balancer *b, unsigned *forbidden)
{
    *forbidden = 0;
    for (int k = 0; k < b->h->cuts; ++k) {
        const meta_cuts cuts = history_cuts(b->h, b->g, k);
        int64_t cells = 1;
        for (int d = 0; d < b->g->dims; ++d)
            cells *= cuts.at[d][b->g->at[d] + 1] - cuts.at[d][b->g->at[d]];
        if (!cuts_give_least(b->g, b->desc, &cuts) || (b->desc->most > 0 && cells > b->desc->most))
            *forbidden |= 1u << k;
    }
    return comm_all_reduce(b->g->cart, forbidden, 1, MPI_UNSIGNED, MPI_BOR, CUTS_PHASE);
}

/* The first measured cuts stay the best until others are measurably faster. */
static meta_err find_best(balancer *b)
{
    unsigned forbidden;
    META_TRY(find_forbidden(b, &forbidden));
    b->may_stay = !(forbidden >> b->at & 1);
    b->best = -1;
    for (int k = 0; k < b->h->cuts; ++k) {
        if (forbidden >> k & 1) continue;
        if (b->best < 0 || b->h->step[k] <= (1 - faster) * b->h->step[b->best]) b->best = k;
    }
    return META_OK;
}

/* Choose the cuts to use next: a trial, or else the best. Cuts that are not measurably faster than
 * the best count as slower, by as much as they lack. */
static meta_err choose(balancer *b, const meta_cuts *next, double *gain)
{
    bool found = true;
    double step = 0;
    if (b->best >= 0) META_TRY(look_for_trial(b, &found, &step));
    else META_TRY(find_by(b, 1, &step)); /* whatever is allowed */
    const meta_cuts best = history_cuts(b->h, b->g, found ? HISTORY_CUTS : b->best);
    if (!found) step = (1 - faster) * b->h->step[b->best];
    if (!b->may_stay) *gain = INFINITY;
    else *gain = !found && b->at == b->best ? 0 : b->h->step[b->at] - step;
    cuts_copy(b->g, next, &best);
    return META_OK;
}

static meta_err measure(balancer *b, double step)
{
    double most[2] = {step, b->computing};
    META_TRY(comm_all_reduce(b->g->cart, most, 2, MPI_DOUBLE, MPI_MAX, CUTS_PHASE));
    b->at = history_add(b->h, b->g, b->now, b->cells, b->computing, most[1], most[0]);
    b->trial = history_cuts(b->h, b->g, HISTORY_CUTS);
    return META_OK;
}

static meta_err balance(balancer *b, const meta_cuts *next, double step, double *gain)
{
    double expected;
    META_TRY(cuts_check_desc(b->g, &b->own, b->desc, "next", next, "computing", &b->computing));
    b->desc = &b->own;
    META_TRY(comm_agree(b->g->cart, cuts_check_positive("step", step)));
    META_TRY(cuts_check(b->g, "now", b->now));
    META_TRY(comm_agree(b->g->cart, cuts_check_now(b->g, next, b->now, b->desc, &b->cells)));
    META_TRY(history_of(b->desc->cart, b->g, b->desc, &b->h));
    META_TRY(measure(b, step));
    META_TRY(find_best(b));
    META_TRY(choose(b, next, &expected));
    if (gain) *gain = expected;
    return META_OK;
}

static meta_err open_and_balance(balancer *b, const meta_cuts *next, double step, double *gain)
{
    cuts_ranks g;
    META_TRY(cuts_check_begins(b->desc));
    META_TRY(cuts_open(&g, b->desc->cart, "desc->cart"));
    b->g = &g;
    const meta_err error = balance(b, next, step, gain);
    cuts_close(&g);
    return error;
}

meta_err meta_balance(const meta_cuts *next, const meta_cuts *now, const meta_decompose_desc *desc,
                      double computing, double step, double *gain)
{
    balancer b = {.desc = desc, .now = now, .computing = computing};
    META_TRY(comm_enter(__func__));
    return comm_leave(open_and_balance(&b, next, step, gain));
}
