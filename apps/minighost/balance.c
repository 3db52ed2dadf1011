/* SPDX-License-Identifier: BSD-3-Clause */
/** @file balance.c
 *  --balance with libmeta: decomposition by the ranks' measured speeds, and rebalancing during
 *  the run where the time steps show that moving cells pays. */
#include "config.h"

#include "balance.h"

#include <math.h>
#include <stdlib.h>

#include "failure.h"
#include "laps.h"
#include "room.h"

/* Time steps between two proposals, and between two samples for one: what happens to other programs
 * on the machine should not look like a slow rank. Every proposal doubles the time to the next one,
 * so that a machine whose speeds change all the time is not followed in vain. */
enum { EVERY = 20, SELDOM = 640, APART = 3 };
/* A gain that is more than the times' noise, and how often over it must bring in what the move
 * costs. */
static const double worthwhile = 0.95, often = 2;

void balance_check(const problem *p)
{
    (void)p;
}

void balance_cut(problem *p)
{
    int64_t *cut[3] = {NULL, NULL, NULL};
    if (p->o.balance == BALANCE_OFF) return;
    problem_new_cuts(&p->o, cut);
    if (!failure_agree(p->cart)) {
        const int64_t most = room_cells(p, false);
        const double speed = solver_speed(p);
        if (!failure_agree(p->cart)) {
            solver_cut(p, speed, most, cut);
            if (!failure_agree(p->cart)) problem_exchange_cuts(p, cut);
        }
    }
    problem_free_cuts(cut);
}

/* ------------------------------------------------------------------ during the run */

void balance_begin(balancing *b, problem *p)
{
    *b = (balancing){.p = p, .next = 1, .every = EVERY};
    if (p->o.balance == BALANCE_DYNAMIC) problem_new_cuts(&p->o, b->cut);
}

void balance_end(balancing *b)
{
    problem_free_cuts(b->cut);
}

/* What this rank has computed for, as long as laps are counted. */
static double own_seconds(void)
{
    return laps_read()[LAP_BOUNDARY] + laps_read()[LAP_STENCIL];
}

/* The first step of a run, and the first with new blocks, is none: everything is cold. */
static bool is_sample(const balancing *b)
{
    return b->p->o.balance == BALANCE_DYNAMIC && b->next <= 0;
}

void balance_before(balancing *b)
{
    if (!is_sample(b)) return;
    if (b->p->o.report_perf == 0) laps_begin(true, solver_wait);
    b->before = own_seconds();
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *sample)
{
    qsort(sample, BALANCE_SAMPLES, sizeof *sample, ascending);
    return sample[BALANCE_SAMPLES / 2];
}

static double largest_of(const problem *p, double mine)
{
    double largest;
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, p->cart);
    return largest;
}

static void move(balancing *b, solver *s)
{
    const double start = MPI_Wtime();
    solver_move(s, b->p, b->cut);
    b->cost = largest_of(b->p, MPI_Wtime() - start);
    b->seconds += b->cost;
    ++b->moves;
}

/* Whether @p left steps gain more than a move costs: as much as the last one, at first some steps.
 */
static bool pays(const balancing *b, double before, double after, int64_t left)
{
    const double cost = b->moves > 0 ? b->cost : 4 * before;
    return after < worthwhile * before && (before - after) * (double)left > often * cost;
}

static bool propose(balancing *b, solver *s, int64_t left)
{
    const problem *p = b->p;
    double before = 0, after = 0;
    const double mine = fmax(median(b->sample), 1e-9);
    solver_recut(p, mine, room_cells(p, true), b->cut, &before, &after);
    const bool moves = pays(b, before, after, left);
    if (moves) move(b, s);
    b->next = b->every;
    b->every = b->every < SELDOM ? 2 * b->every : SELDOM;
    b->taken = 0;
    return moves;
}

bool balance_after(balancing *b, solver *s, int64_t left)
{
    if (b->p->o.balance != BALANCE_DYNAMIC) return false;
    if (!is_sample(b)) {
        --b->next;
        return false;
    }
    b->sample[b->taken++] = own_seconds() - b->before;
    b->next = APART - 1;
    if (b->p->o.report_perf == 0) laps_stop();
    return b->taken == BALANCE_SAMPLES && propose(b, s, left);
}
