/* SPDX-License-Identifier: BSD-3-Clause */
/** @file balance.c
 *  --balance with libmeta: blocks for which all ranks need the same time, found by trial. Before
 * the first time step on grids of zeros; during the run on its own steps, where the moves pay. */
#include "config.h"

#include "balance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comm_handle.h"
#include "failure.h"
#include "laps.h"
#include "room.h"

/* What this rank has computed for, as long as laps are counted. */
static double own_seconds(void)
{
    return laps_read()[LAP_BOUNDARY] + laps_read()[LAP_STENCIL];
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* No clock shows less than a nanosecond. */
static double median(double *sample, int count)
{
    qsort(sample, (size_t)count, sizeof *sample, ascending);
    return fmax(sample[count / 2], 1e-9);
}

static double largest_of(const problem *p, double mine)
{
    double largest;
    MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, p->cart);
    return largest;
}

void balance_check(const problem *p)
{
    (void)p;
}

/* ------------------------------------------------------------------ before the run */

/* Some steps make a sample where one is too short to be timed, and few samples do where they are
 * long. */
enum { MOST_SAMPLES = 11, FEWEST_SAMPLES = 3, MOST_STEPS = 64 };
static const double sample_seconds = 2e-3, most_seconds = 1;

/* Steps on zeros, as those of the run. */
typedef struct rehearsal {
    const problem *p;
    solver *s;
    void *sums;
    bool *summed; /* of each variable */
    int steps, samples;
} rehearsal;

static void begin(rehearsal *r, const problem *p)
{
    const size_t variables = (size_t)p->variables, sums = variables * (size_t)(p->terms + 1);
    double *zeros = calloc((size_t)p->cells, sizeof *zeros);
    *r = (rehearsal){.p = p, .s = solver_create(p), .steps = 1};
    r->sums = calloc(sums, sizeof(double));
    r->summed = calloc(variables, sizeof *r->summed);
    if (zeros == NULL || r->sums == NULL || r->summed == NULL)
        failure_note_memory(((double)p->cells + (double)sums) * sizeof(double));
    if (!failure_agree(p->cart))
        for (int v = 0; v < p->variables; ++v) {
            r->summed[v] = problem_checks(p, v);
            solver_put(r->s, v, zeros);
        }
    free(zeros);
}

static void end(rehearsal *r)
{
    if (r->s != NULL) solver_free(r->s);
    free(r->sums);
    free(r->summed);
}

/* Seconds of a step. All ranks meet behind each, as they add up its sums. */
static double sample(const rehearsal *r)
{
    const double start = MPI_Wtime();
    for (int k = 0; k < r->steps && !failure_seen(); ++k) {
        laps_resume();
        solver_step(r->s, r->summed, r->sums);
        failure_agree(r->p->cart);
    }
    return (MPI_Wtime() - start) / r->steps;
}

/* The first step is none: everything is cold. */
static void choose_samples(rehearsal *r)
{
    sample(r);
    const double step = fmax(largest_of(r->p, sample(r)), 1e-9);
    r->steps = (int)fmin(ceil(sample_seconds / step), MOST_STEPS);
    r->samples = (int)fmax(FEWEST_SAMPLES, fmin(most_seconds / step, MOST_SAMPLES));
}

/* The parts of a step are timed in steps of their own, since that takes waits. */
static void rehearse(const problem *p, double *computing, double *step)
{
    double own[MOST_SAMPLES], whole[MOST_SAMPLES];
    rehearsal r;
    begin(&r, p);
    if (!failure_seen()) {
        choose_samples(&r);
        for (int k = 0; k < r.samples; ++k) whole[k] = sample(&r);
        laps_begin(true, solver_wait);
        for (int k = 0; k < r.samples; ++k) {
            const double before = own_seconds();
            sample(&r);
            own[k] = (own_seconds() - before) / r.steps;
        }
        laps_stop();
        *computing = median(own, r.samples);
        *step = median(whole, r.samples);
    }
    end(&r);
}

/* One trial of the blocks as they are; whether @p cut received others that should be faster. */
static bool try_blocks(const problem *p, int64_t *cut[3])
{
    double computing = 1, step = 1, gain = 0;
    rehearse(p, &computing, &step);
    if (failure_agree(p->cart)) return false;
    solver_balance(p, handle_of_comm(p->cart), computing, step, room_cells(p, false), cut, &gain);
    return !failure_agree(p->cart) && gain > 0;
}

static void copy_cuts(const problem *p, int64_t *to[3], int64_t *const from[3])
{
    for (int d = 0; d < 3; ++d) memcpy(to[d], from[d], (size_t)(p->o.np[d] + 1) * sizeof *to[d]);
}

static bool same_cuts(const problem *p, int64_t *const a[3], int64_t *const b[3])
{
    bool same = true;
    for (int d = 0; d < 3; ++d)
        same = same && memcmp(a[d], b[d], (size_t)(p->o.np[d] + 1) * sizeof *a[d]) == 0;
    return same;
}

/* Even blocks are timed once more when others were found: only what beats them twice is kept. */
static void cut_by_trial(problem *p, int64_t *cut[3], int64_t *const even[3])
{
    bool sure = false;
    for (;;) {
        while (try_blocks(p, cut)) problem_exchange_cuts(p, cut);
        if (sure || failure_seen() || same_cuts(p, p->cut, even)) break;
        copy_cuts(p, cut, even);
        problem_exchange_cuts(p, cut);
        sure = true;
    }
}

void balance_cut(problem *p)
{
    int64_t *cut[3] = {NULL, NULL, NULL}, *even[3] = {NULL, NULL, NULL};
    if (p->o.balance == BALANCE_OFF) return;
    problem_new_cuts(&p->o, cut);
    problem_new_cuts(&p->o, even);
    if (!failure_agree(p->cart)) {
        copy_cuts(p, even, p->cut);
        cut_by_trial(p, cut, even);
    }
    problem_free_cuts(cut);
    problem_free_cuts(even);
}

/* ------------------------------------------------------------------ during the run */

/* Time steps between two proposals, and between two samples for one: what happens to other programs
 * on the machine should not look like a slow rank. Where nothing is to be gained the time to the
 * next proposal is doubled. */
enum { EVERY = 20, SELDOM = 640, APART = 3 };
/* How often over a gain must bring in what the moves cost. */
static const double often = 2;

void balance_begin(balancing *b, problem *p)
{
    *b = (balancing){.p = p, .cart = MPI_COMM_NULL, .next = 2, .every = EVERY};
    if (p->o.balance != BALANCE_DYNAMIC) return;
    problem_new_cuts(&p->o, b->cut);
    /* Steps of the run are compared with each other only. */
    MPI_Comm_dup(p->cart, &b->cart);
}

void balance_end(balancing *b)
{
    if (b->cart != MPI_COMM_NULL) MPI_Comm_free(&b->cart);
    problem_free_cuts(b->cut);
}

/* The first step of a run, and the first with new blocks, is none: everything is cold. Parts of a
 * step are timed in one, and the whole in the step before it, without the waits that parts need. */
static bool times_parts(const balancing *b)
{
    return b->p->o.balance == BALANCE_DYNAMIC && b->next <= 0;
}

void balance_before(balancing *b)
{
    b->start = MPI_Wtime();
    if (!times_parts(b)) return;
    if (b->p->o.report_perf == 0) laps_begin(true, solver_wait);
    b->before = own_seconds();
}

static void move(balancing *b, solver *s)
{
    const double start = MPI_Wtime();
    solver_move(s, b->p, b->cut);
    b->cost = largest_of(b->p, MPI_Wtime() - start);
    b->seconds += b->cost;
    ++b->moves;
}

/* Whether @p left steps gain more than a move costs, as much as the last one, at first some steps,
 * and what all moves have cost so far. Blocks that should not have fitted do, if this is asked. */
static bool pays(const balancing *b, double step, double gain, int64_t left)
{
    const double cost = b->moves > 0 ? b->cost : 4 * step;
    return isfinite(gain) && gain * (double)left > often * (cost + b->seconds);
}

static bool propose(balancing *b, solver *s, int64_t left)
{
    const problem *p = b->p;
    const double computing = median(b->own, BALANCE_SAMPLES),
                 step = largest_of(p, median(b->whole, BALANCE_SAMPLES));
    double gain = 0;
    solver_balance(p, handle_of_comm(b->cart), computing, step, room_cells(p, true), b->cut, &gain);
    const bool moves = pays(b, step, gain, left);
    if (moves) move(b, s);
    /* What is on trial is judged soon. */
    b->next = moves ? APART - 1 : b->every;
    if (!moves && b->every < SELDOM) b->every *= 2;
    b->taken = 0;
    return moves;
}

bool balance_after(balancing *b, solver *s, int64_t left)
{
    if (b->p->o.balance != BALANCE_DYNAMIC) return false;
    if (!times_parts(b)) {
        if (b->next-- == 1) b->whole[b->taken] = MPI_Wtime() - b->start;
        return false;
    }
    b->own[b->taken++] = own_seconds() - b->before;
    b->next = APART - 1;
    if (b->p->o.report_perf == 0) laps_stop();
    return b->taken == BALANCE_SAMPLES && propose(b, s, left);
}
