/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_balance.c
 *  meta_balance() on simulated devices: what a rank takes for its cells is computed, not measured,
 *  by a random function that is not proportional to them. Where it ends is compared with the best
 *  of all possible cuts, and with even ones. */
/* TEST: backends=openmp np=1,2,3,4 labels=comm */
#include "cut_arrays.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 2, MOST_PLANES = 128, SAMPLES = 9, TRIES = 12 };

/* ------------------------------------------------------------------ devices */

typedef enum rise { BY_CACHE, BY_LATE_CACHE, GRADUALLY, IN_CHUNKS, RISES } rise;

/* What each of them takes is known to all ranks. */
typedef struct device {
    rise rise;
    double launch; /* seconds, whatever the cells */
    double cell;   /* and of each cell beyond the cache */
    double inside; /* share of that for those within it */
    double cache;  /* cells */
    int64_t chunk; /* cells that take as long as one */
} device;

static double seconds_of(const device *v, int64_t cells)
{
    const double n = (double)((cells + v->chunk - 1) / v->chunk * v->chunk);
    double cost = 1;
    switch (v->rise) {
    case BY_CACHE: /* further cells cost more */
        return v->launch + v->cell * (fmin(n, v->cache) * v->inside + fmax(0, n - v->cache));
    case BY_LATE_CACHE: /* all of them do, as soon as they do not fit */
        cost = n <= v->cache ? v->inside : 1;
        break;
    case GRADUALLY:
        cost = v->inside + (1 - v->inside) / (1 + exp(8 * (1 - n / v->cache)));
        break;
    default:
        break;
    }
    return v->launch + v->cell * n * cost;
}

static double between(double low, double high)
{
    return low + (high - low) * test_random_real();
}

/* One of up to 20 times the speed of another, for a grid of @p cells cells. */
static device random_device(int64_t cells, int64_t plane)
{
    device v = {.rise = (rise)test_random_in(0, RISES - 1), .inside = 1, .chunk = 1};
    v.cell = 1e-9 * pow(20, test_random_real());
    v.cache = (double)cells * between(0.02, 0.8);
    if (test_random() % 2) v.inside = between(0.3, 1);
    if (test_random() % 2) v.launch = v.cell * (double)cells * between(0, 0.1);
    if (v.rise == IN_CHUNKS) v.chunk = plane * test_random_in(1, 12);
    return v;
}

/* ------------------------------------------------------------------ the case at hand */

typedef struct grid {
    meta_decompose_desc desc;
    int dims, extent[DIMS];
    device device[MOST_RANKS]; /* by rank of the communicator */
    int64_t most[MOST_RANKS];
    double exchange; /* seconds of a step beyond computing */
    double noise;    /* of a step, a share of its time */
    int64_t now[DIMS][MOST_RANKS + 1], next[DIMS][MOST_RANKS + 1];
    meta_cuts now_cuts, next_cuts;
    int calls, trials; /* calls, and those after which cells would be moved */
} grid;

static void make_grid(grid *g, int dims, int64_t least, int64_t most)
{
    const int periodic[DIMS] = {0};
    int64_t all = 1;
    memset(g, 0, sizeof *g);
    g->desc = (meta_decompose_desc)META_DECOMPOSE_DESC_INIT;
    g->dims = dims;
    MPI_Dims_create(test_size, dims, g->extent);
    MPI_Cart_create(MPI_COMM_WORLD, dims, g->extent, periodic, 0, &g->desc.cart);
    for (int d = 0; d < dims; ++d) {
        all *= g->desc.cells[d] = test_random_in(least, most);
        g->now_cuts.at[d] = g->now[d];
        g->next_cuts.at[d] = g->next[d];
    }
    for (int r = 0; r < test_size; ++r) g->device[r] = random_device(all, all / g->desc.cells[0]);
    g->exchange = seconds_of(&g->device[0], all / 20);
    cut_evenly(&g->desc, g->dims, g->extent, g->now);
}

/* A step's time without noise; infinite where a limit is broken. */
static double step_of(const grid *g, int64_t cut[DIMS][MOST_RANKS + 1])
{
    double longest = 0;
    for (int r = 0; r < test_size; ++r) {
        const int64_t cells = cells_by_cuts(g->desc.cart, g->dims, r, cut);
        if (g->most[r] > 0 && cells > g->most[r]) return INFINITY;
        longest = fmax(longest, seconds_of(&g->device[r], cells));
    }
    return g->exchange + longest;
}

static void describe(const grid *g, const char *what, int64_t number)
{
    char text[512] = "";
    int used = 0;
    for (int r = 0; r < test_size; ++r) {
        const device *v = &g->device[r];
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "; rise %d, launch %.3g, %.3g a cell, %.3g within %.0f, chunk %" PRId64,
                         v->rise, v->launch, v->cell, v->inside, v->cache, v->chunk);
    }
    test_case("%s %" PRId64 ": ranks %dx%d, cells %" PRId64 "x%" PRId64 "%s", what, number,
              g->extent[0], g->dims > 1 ? g->extent[1] : 1, g->desc.cells[0],
              g->dims > 1 ? g->desc.cells[1] : 1, text);
}

/* ------------------------------------------------------------------ the oracle: all cuts of a line
 */

static double best_from(const grid *g, int k, int64_t left, double longest)
{
    double best = INFINITY;
    if (k == test_size - 1) {
        if (g->most[k] > 0 && left > g->most[k]) return INFINITY;
        return fmax(longest, seconds_of(&g->device[k], left));
    }
    for (int64_t planes = 1; planes <= left - (test_size - 1 - k); ++planes) {
        if (g->most[k] > 0 && planes > g->most[k]) break;
        const double time = fmax(longest, seconds_of(&g->device[k], planes));
        best = fmin(best, best_from(g, k + 1, left - planes, time));
    }
    return best;
}

static double best_of_all(const grid *g)
{
    return g->exchange + best_from(g, 0, g->desc.cells[0], 0);
}

/* ------------------------------------------------------------------ a program that balances */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *sample)
{
    qsort(sample, SAMPLES, sizeof *sample, ascending);
    return sample[SAMPLES / 2];
}

/* What this rank measures with the cuts now: the medians of some steps. */
static void measure(const grid *g, double *computing, double *step)
{
    double mine[SAMPLES], whole[SAMPLES];
    for (int s = 0; s < SAMPLES; ++s) {
        whole[s] = 0;
        for (int r = 0; r < test_size; ++r) {
            const double time = seconds_of(
                &g->device[r], cells_by_cuts(g->desc.cart, g->dims, r, (void *)(uintptr_t)g->now));
            const double measured = time * between(1 - g->noise, 1 + g->noise);
            if (r == test_rank) mine[s] = measured;
            whole[s] = fmax(whole[s], measured);
        }
        whole[s] += g->exchange;
    }
    *computing = median(mine);
    *step = median(whole);
}

static void check_next(const grid *g, double gain)
{
    int64_t of_rank_0[DIMS][MOST_RANKS + 1];
    bool same = true;
    memcpy(of_rank_0, g->next, sizeof of_rank_0);
    MPI_Bcast(of_rank_0, (int)sizeof of_rank_0, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(memcmp(of_rank_0, g->next, sizeof of_rank_0) == 0);
    for (int d = 0; d < g->dims; ++d) {
        const int64_t least = g->desc.least[d] > 0 ? g->desc.least[d] : 1;
        CHECK_INT(g->next[d][0], 0);
        CHECK_INT(g->next[d][g->extent[d]], g->desc.cells[d]);
        for (int k = 0; k < g->extent[d]; ++k) {
            CHECK(g->next[d][k + 1] - g->next[d][k] >= least);
            same = same && g->next[d][k + 1] == g->now[d][k + 1];
        }
    }
    CHECK(same ? gain == 0 : gain > 0);
    CHECK(isfinite(step_of(g, (void *)(uintptr_t)g->next)));
}

/* One call, whose proposal is followed; false where it stays, or failed. */
static bool call_once(grid *g)
{
    double computing, step, gain = -1;
    measure(g, &computing, &step);
    ++g->calls;
    if (!CHECK_OK(meta_balance(&g->next_cuts, &g->now_cuts, &g->desc, computing, step, &gain)))
        return false;
    check_next(g, gain);
    if (!(gain > 0)) return false;
    memcpy(g->now, g->next, sizeof g->now);
    ++g->trials;
    return true;
}

/* Until it stays; it goes back to the best cuts at most once, at the end. */
static void balance(grid *g)
{
    g->calls = g->trials = 0;
    while (call_once(g) && g->calls < 3 * TRIES) {
    }
    CHECK(g->trials <= TRIES + 1);
}

/* The same on every rank, so that all leave the loop together. */
static bool broken_anywhere(void)
{
    const int mine = test_failures() > 0;
    int any = 0;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

/* ------------------------------------------------------------------ promises */

/* More ranks than cores take turns at every message. */
static int64_t few(void)
{
    return test_size > 2 ? 12 : 150;
}

typedef struct outcome {
    double over_best, over_even, moves;
    int64_t cases;
} outcome;

static void note(outcome *o, const grid *g, double best, double even)
{
    const double found = step_of(g, (void *)(uintptr_t)g->now);
    o->over_best = fmax(o->over_best, found / best);
    o->over_even = fmax(o->over_even, found / even);
    o->moves += g->trials;
    ++o->cases;
}

static void print(const outcome *o)
{
    if (test_rank > 0 || o->cases == 0) return;
    printf("       at most ");
    if (o->over_best > 0) printf("%.3f times the best time, ", o->over_best);
    printf("%.3f times even blocks'; %.1f moves\n", o->over_even, o->moves / (double)o->cases);
}

static void balance_lines(double noise, double worst_over_even)
{
    outcome o = {0};
    TEST_CASES (k, few(), 3000) {
        grid g;
        if (broken_anywhere()) break;
        make_grid(&g, 1, 4 * test_size, MOST_PLANES);
        g.noise = noise;
        describe(&g, "case", k);
        const double even = step_of(&g, g.now), best = best_of_all(&g);
        balance(&g);
        const double found = step_of(&g, g.now);
        if (!(found <= 1.05 * best)) FAIL("%g s, the best are %g s", found, best);
        if (!(found <= worst_over_even * even)) FAIL("%g s, even ones %g s", found, even);
        note(&o, &g, best, even);
        MPI_Comm_free(&g.desc.cart);
    }
    print(&o);
}

static void lines_are_cut_nearly_as_well_as_can_be(void)
{
    balance_lines(0, 1);
}

static void noise_does_not_change_that(void)
{
    balance_lines(0.03, 1.02);
}

/* Of two dimensions nobody can try all cuts. */
static void balance_planes(double noise, double worst_over_even)
{
    outcome o = {0};
    TEST_CASES (k, few() / 4, 1000) {
        grid g;
        if (broken_anywhere()) break;
        make_grid(&g, 2, 4 * test_size, MOST_PLANES);
        g.noise = noise;
        describe(&g, "case", k);
        const double even = step_of(&g, g.now);
        balance(&g);
        const double found = step_of(&g, g.now);
        if (!(found <= worst_over_even * even)) FAIL("%g s, even ones %g s", found, even);
        note(&o, &g, INFINITY, even);
        MPI_Comm_free(&g.desc.cart);
    }
    print(&o);
}

static void two_dimensions_are_never_cut_worse_than_evenly(void)
{
    balance_planes(0, 1);
}

static void noise_does_not_change_that_in_two_dimensions(void)
{
    balance_planes(0.03, 1.02);
}

static void limits_are_kept(void)
{
    TEST_CASES (k, few() / 5, 1000) {
        grid g;
        if (broken_anywhere()) break;
        make_grid(&g, 1, 4 * test_size, MOST_PLANES);
        g.desc.least[0] = test_random_in(0, 4);
        int64_t room = 0;
        for (int r = 0; r < test_size; ++r) {
            const int64_t even = cells_by_cuts(g.desc.cart, g.dims, r, g.now);
            g.most[r] = test_random() % 2 ? even + test_random_in(0, 5) : 0;
            room += g.most[r] > 0 ? g.most[r] : g.desc.cells[0];
        }
        g.desc.most = g.most[test_rank];
        describe(&g, "case", k);
        CHECK(room >= g.desc.cells[0]);
        const double even = step_of(&g, g.now);
        balance(&g);
        CHECK(step_of(&g, g.now) <= even);
        if (g.desc.least[0] <= 1) CHECK(step_of(&g, g.now) <= 1.05 * best_of_all(&g));
        MPI_Comm_free(&g.desc.cart);
    }
}

static void equal_devices_keep_even_blocks(void)
{
    for (int k = 0; k < 6 && !broken_anywhere(); ++k) {
        grid g;
        make_grid(&g, 1 + k % 2, 8, MOST_PLANES);
        for (int d = 0; d < g.dims; ++d)
            g.desc.cells[d] = g.desc.cells[d] / g.extent[d] * g.extent[d];
        cut_evenly(&g.desc, g.dims, g.extent, g.now);
        for (int r = 1; r < test_size; ++r) g.device[r] = g.device[0];
        describe(&g, "case", k);
        CHECK(!call_once(&g));
        MPI_Comm_free(&g.desc.cart);
    }
}

/* Devices that are proportional where they begin and very slow anywhere else. */
static void a_slower_cut_is_abandoned(void)
{
    grid g;
    make_grid(&g, 1, 64, 64);
    double computing, step, gain = -1;
    int64_t even[DIMS][MOST_RANKS + 1];
    memcpy(even, g.now, sizeof even);
    if (test_size == 1) {
        CHECK_OK(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, 1, 1, &gain));
        CHECK(gain == 0);
    }
    for (int trials = 0; test_size > 1; ++trials) {
        const bool at_even = memcmp(even, g.now, sizeof even) == 0;
        computing = at_even ? 1 + test_rank : 10;
        step = at_even ? test_size : 10;
        if (!CHECK_OK(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, computing, step, &gain)))
            break;
        check_next(&g, gain);
        memcpy(g.now, g.next, sizeof g.now);
        if (gain == 0) break;
        if (!CHECK(trials <= TRIES)) break;
    }
    CHECK(memcmp(even, g.now, sizeof even) == 0);
    MPI_Comm_free(&g.desc.cart);
}

/* Whatever is measured, the search ends. */
static void times_without_sense_come_to_an_end(void)
{
    for (int k = 0; k < 6 && !broken_anywhere(); ++k) {
        grid g;
        double gain = 1;
        int calls = 0;
        make_grid(&g, 1 + k % 2, 16, MOST_PLANES);
        describe(&g, "case", k);
        /* All ranks draw the same numbers; each uses one of its own. */
        for (; gain > 0 && calls < 3 * TRIES; ++calls) {
            double mine[MOST_RANKS], longest = 0;
            for (int r = 0; r < test_size; ++r)
                longest = fmax(longest, mine[r] = pow(10, between(-9, 0)));
            if (!CHECK_OK(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, mine[test_rank],
                                       longest * between(1, 1.2), &gain)))
                return;
            check_next(&g, gain);
            memcpy(g.now, g.next, sizeof g.now);
        }
        /* Times that are much longer than before make it begin anew, once in two calls at most. */
        CHECK(calls < 3 * TRIES);
        MPI_Comm_free(&g.desc.cart);
    }
}

static void proposals_need_not_be_followed(void)
{
    grid g;
    make_grid(&g, 1, 64, 64);
    for (int r = 0; r < test_size; ++r)
        g.device[r] = (device){.rise = IN_CHUNKS, .cell = 1e-9 * (1 + r), .chunk = 1};
    const double even = step_of(&g, g.now);
    for (int k = 0; k < 3 * TRIES; ++k) {
        double computing, step, gain = -1;
        measure(&g, &computing, &step);
        if (!CHECK_OK(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, computing, step, &gain)))
            break;
        check_next(&g, gain);
        CHECK(test_size == 1 || gain > 0);
    }
    balance(&g);
    CHECK(test_size == 1 || step_of(&g, g.now) < even);
    MPI_Comm_free(&g.desc.cart);
}

/* The first device becomes slow, which shows in two calls. */
static void changed_speeds_are_noticed(void)
{
    grid g;
    make_grid(&g, 1, 96, 96);
    g.exchange = 0;
    for (int r = 0; r < test_size; ++r)
        g.device[r] = (device){.rise = IN_CHUNKS, .cell = 1e-9, .chunk = 1};
    balance(&g);
    g.device[0].cell *= 4;
    balance(&g);
    balance(&g);
    if (test_size > 1) CHECK(g.trials > 0);
    CHECK(step_of(&g, g.now) <= 1.05 * best_of_all(&g));
    MPI_Comm_free(&g.desc.cart);
}

/* What was measured belongs to a communicator, and to a grid. */
static void each_communicator_has_its_own_history(void)
{
    grid g, other;
    make_grid(&g, 1, 96, 96);
    other = g;
    MPI_Comm_dup(g.desc.cart, &other.desc.cart);
    other.now_cuts.at[0] = other.now[0];
    other.next_cuts.at[0] = other.next[0];
    for (int r = 0; r < test_size; ++r) {
        g.device[r] = (device){.rise = IN_CHUNKS, .cell = 1e-9 * (1 + r), .chunk = 1};
        other.device[r] = (device){.rise = IN_CHUNKS, .cell = 1e-9 * (test_size - r), .chunk = 1};
    }
    for (bool one = true, two = true; (one || two) && !broken_anywhere();) {
        one = one && call_once(&g);
        two = two && call_once(&other);
    }
    CHECK(step_of(&g, g.now) <= 1.05 * best_of_all(&g));
    CHECK(step_of(&other, other.now) <= 1.05 * best_of_all(&other));
    CHECK_INT(MPI_Comm_free(&other.desc.cart), MPI_SUCCESS); /* it frees its history */
    /* A grid of other extents begins anew with whatever cuts there are. */
    g.desc.cells[0] = 60;
    cut_evenly(&g.desc, g.dims, g.extent, g.now);
    for (int r = 0; r < test_size; ++r) g.device[r].cell = 1e-9 * (test_size - r);
    balance(&g);
    CHECK(step_of(&g, g.now) <= 1.05 * best_of_all(&g));
    MPI_Comm_free(&g.desc.cart);
}

static void whoever_holds_too_much_must_move(void)
{
    grid g;
    double gain = -1;
    make_grid(&g, 1, 64, 64);
    g.exchange = 0;
    for (int r = 0; r < test_size; ++r)
        g.device[r] = (device){.rise = IN_CHUNKS, .cell = 1e-9, .chunk = 1};
    if (test_size > 1) {
        g.most[0] = g.now[0][1] - 1;
        g.desc.most = g.most[test_rank];
        CHECK_OK(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, 1, 1, &gain));
        CHECK(isinf(gain) && gain > 0);
        check_next(&g, gain);
        memcpy(g.now, g.next, sizeof g.now);
        balance(&g);
        CHECK(step_of(&g, g.now) <= 1.05 * best_of_all(&g));
        g.most[0] = 1;
    } else g.most[0] = 63;
    /* Where it has no cuts, it says so, and goes on. */
    for (int r = 0; r < test_size; ++r) g.most[r] = 63 / test_size;
    g.desc.most = g.most[test_rank];
    gain = -7;
    CHECK_ERR_NAMES(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, 1, 1, &gain),
                    META_ERR_NO_MEMORY, "'desc->most'");
    CHECK(gain == -7);
    for (int r = 0; r < test_size; ++r) g.most[r] = 0;
    g.desc.most = 0;
    CHECK_OK(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, 1, 1, NULL));
    MPI_Comm_free(&g.desc.cart);
}

static void wrong_arguments_are_refused_by_name_on_every_rank(void)
{
    static const double wrong[] = {0, -2, NAN, INFINITY};
    const int last = test_size - 1;
    grid g;
    double gain = -7;
    char text[96];
    make_grid(&g, 1, 64, 64);
    memset(g.next, -7, sizeof g.next);
    const int64_t untouched = g.next[0][0];
    for (int k = 0; k < 4; ++k)
        for (int second = 0; second < 2; ++second) {
            const double value = test_rank == last ? wrong[k] : 1;
            snprintf(text, sizeof text, "rank %d: meta_balance: argument '%s' is %g", last,
                     second ? "step" : "computing", wrong[k]);
            CHECK_ERR_NAMES(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, second ? 1 : value,
                                         second ? value : 1, &gain),
                            META_ERR_ARGUMENT, text);
        }
    CHECK_ERR_NAMES(meta_balance(&g.now_cuts, &g.now_cuts, &g.desc, 1, 1, &gain), META_ERR_OVERLAP,
                    "next->at");
    if (test_size > 1 && test_rank == 1) ++g.now[0][1];
    if (test_size > 1)
        CHECK_ERR_NAMES(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, 1, 1, &gain),
                        META_ERR_MISMATCH, "now->at[0][1]");
    cut_evenly(&g.desc, g.dims, g.extent, g.now);
    g.desc.cells[0] = 65;
    CHECK_ERR_NAMES(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, 1, 1, &gain),
                    META_ERR_ARGUMENT, "ends at 64");
    g.desc.cells[0] = 64;
    if (test_size > 1) {
        g.now[0][1] = 0;
        CHECK_ERR_NAMES(meta_balance(&g.next_cuts, &g.now_cuts, &g.desc, 1, 1, &gain),
                        META_ERR_ARGUMENT, "rank 0: meta_balance: argument 'now'");
    }
    CHECK_ERR_NAMES(meta_balance(&g.next_cuts, &g.now_cuts, NULL, 1, 1, &gain), META_ERR_ARGUMENT,
                    "'desc'");
    CHECK(gain == -7);
    for (int k = 0; k <= test_size; ++k) CHECK_INT(g.next[0][k], untouched);
    MPI_Comm_free(&g.desc.cart);
}

TEST_COMM_MAIN(PROMISE(lines_are_cut_nearly_as_well_as_can_be), PROMISE(noise_does_not_change_that),
               PROMISE(two_dimensions_are_never_cut_worse_than_evenly),
               PROMISE(noise_does_not_change_that_in_two_dimensions), PROMISE(limits_are_kept),
               PROMISE(equal_devices_keep_even_blocks), PROMISE(a_slower_cut_is_abandoned),
               PROMISE(times_without_sense_come_to_an_end), PROMISE(proposals_need_not_be_followed),
               PROMISE(changed_speeds_are_noticed), PROMISE(each_communicator_has_its_own_history),
               PROMISE(whoever_holds_too_much_must_move),
               PROMISE(wrong_arguments_are_refused_by_name_on_every_rank))
