/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_comm_decompose.c
 *  meta_decompose(): compared with all possible cuts, on small random grids, speeds and memory
 *  limits; and invalid arguments. */
/* TEST: backends=openmp np=1,2,3,4 labels=comm */
#include "cut_arrays.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS = 3, PLANES = 40 };

/* The case at hand, the same on every rank but for desc.speed and desc.most. */
typedef struct grid {
    meta_decompose_desc desc;
    int dims, extent[DIMS], at[DIMS];
    double speed[MOST_RANKS]; /* of all ranks of the communicator */
    int64_t most[MOST_RANKS]; /* 0: any number */
    int64_t cut[DIMS][MOST_RANKS + 1];
    meta_cuts cuts;
} grid;

/* ------------------------------------------------------------------ the case */

static void cut_ranks(grid *g, bool one_dimension)
{
    const int chosen = (int)test_random_in(0, g->dims - 1);
    int rest = test_size;
    for (int d = 0; d < g->dims; ++d) g->extent[d] = 1;
    for (int factor = 2; rest > 1; ++factor)
        while (rest % factor == 0) {
            const int d = (int)test_random_in(0, g->dims - 1);
            g->extent[one_dimension ? chosen : d] *= factor;
            rest /= factor;
        }
}

/* A speed between 1 and 1000, some equal to another's; a few times everything or nothing. */
static double random_speed(const grid *g, int rank)
{
    if (rank > 0 && test_random() % 4 == 0) return g->speed[rank - 1];
    return pow(10, 3 * test_random_real());
}

static void describe(const grid *g, const char *what, int number)
{
    char ranks[256] = "";
    int used = 0;
    for (int r = 0; r < test_size; ++r)
        used += snprintf(ranks + used, sizeof ranks - (size_t)used, " %.17g/%" PRId64, g->speed[r],
                         g->most[r]);
    test_case("%s %d: ranks %dx%dx%d, cells %" PRId64 "x%" PRId64 "x%" PRId64 ", least %" PRId64
              ",%" PRId64 ",%" PRId64 ", speeds/limits%s",
              what, number, g->extent[0], g->extent[1], g->extent[2], g->desc.cells[0],
              g->desc.cells[1], g->desc.cells[2], g->desc.least[0], g->desc.least[1],
              g->desc.least[2], ranks);
}

static void make_case(grid *g, bool one_dimension, int64_t thickest)
{
    const int periodic[DIMS] = {0};
    int rank;
    memset(g, 0, sizeof *g);
    g->desc = (meta_decompose_desc)META_DECOMPOSE_DESC_INIT;
    for (int d = 0; d < DIMS; ++d) g->extent[d] = 1, g->cuts.at[d] = g->cut[d];
    g->dims = (int)test_random_in(1, DIMS);
    cut_ranks(g, one_dimension);
    for (int d = 0; d < g->dims; ++d) {
        g->desc.least[d] = test_random_in(0, 2);
        const int64_t least = g->desc.least[d] > 0 ? g->desc.least[d] : 1;
        g->desc.cells[d] = test_random_in(least * g->extent[d], thickest);
    }
    for (int r = 0; r < test_size; ++r) g->speed[r] = random_speed(g, r);
    MPI_Cart_create(MPI_COMM_WORLD, g->dims, g->extent, periodic, 0, &g->desc.cart);
    MPI_Comm_rank(g->desc.cart, &rank);
    MPI_Cart_coords(g->desc.cart, rank, g->dims, g->at);
    g->desc.speed = g->speed[rank];
}

/* Limits that some cuts can meet or, now and then, none. */
static void limit(grid *g, bool often)
{
    int64_t all = 1;
    for (int d = 0; d < g->dims; ++d) all *= g->desc.cells[d];
    for (int r = 0; r < test_size; ++r)
        if (often || test_random() % 2) g->most[r] = test_random_in(1, all);
    g->desc.most = g->most[test_rank];
}

/* The time of the rank that needs longest; infinite where a limit is broken. */
static double time_of(const grid *g, int64_t cut[DIMS][MOST_RANKS + 1])
{
    double longest = 0;
    for (int r = 0; r < test_size; ++r) {
        const int64_t cells = cells_by_cuts(g->desc.cart, g->dims, r, cut);
        longest = fmax(longest, (double)cells / g->speed[r]);
        if (g->most[r] > 0 && cells > g->most[r]) return INFINITY;
    }
    return longest;
}

/* ------------------------------------------------------------------ the oracle: all cuts there are
 */

/* Dimension d from part k on. */
static double best_from(const grid *g, int d, int k, int64_t cut[DIMS][MOST_RANKS + 1])
{
    const int64_t least = g->desc.least[d] > 0 ? g->desc.least[d] : 1;
    double best = INFINITY;
    if (k == g->extent[d]) {
        if (cut[d][k] != g->desc.cells[d]) return INFINITY;
        return d + 1 == g->dims ? time_of(g, cut) : best_from(g, d + 1, 0, cut);
    }
    cut[d][0] = 0;
    for (int64_t planes = least; cut[d][k] + planes <= g->desc.cells[d]; ++planes) {
        cut[d][k + 1] = cut[d][k] + planes;
        best = fmin(best, best_from(g, d, k + 1, cut));
    }
    return best;
}

static double best_of_all(const grid *g)
{
    int64_t cut[DIMS][MOST_RANKS + 1];
    memset(cut, 0, sizeof cut);
    return best_from(g, 0, 0, cut);
}

/* ------------------------------------------------------------------ what cuts must be */

static void check_cuts(const grid *g, double seconds)
{
    int64_t first[DIMS], cells[DIMS], rank_0[DIMS][MOST_RANKS + 1];
    for (int d = 0; d < g->dims; ++d) {
        const int64_t least = g->desc.least[d] > 0 ? g->desc.least[d] : 1;
        CHECK_INT(g->cut[d][0], 0);
        CHECK_INT(g->cut[d][g->extent[d]], g->desc.cells[d]);
        for (int k = 0; k < g->extent[d]; ++k) CHECK(g->cut[d][k + 1] - g->cut[d][k] >= least);
    }
    memcpy(rank_0, g->cut, sizeof rank_0);
    MPI_Bcast(rank_0, (int)sizeof rank_0, MPI_BYTE, 0, MPI_COMM_WORLD);
    CHECK(memcmp(rank_0, g->cut, sizeof rank_0) == 0);
    CHECK_NEAR(seconds, time_of(g, (void *)(uintptr_t)g->cut), 1e-12);
    if (CHECK_OK(meta_cuts_block(&g->cuts, g->desc.cart, test_rank, first, cells)))
        for (int d = 0; d < g->dims; ++d) {
            CHECK_INT(first[d], g->cut[d][g->at[d]]);
            CHECK_INT(first[d] + cells[d], g->cut[d][g->at[d] + 1]);
        }
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
    return test_size > 2 ? 40 : 400;
}

static void one_dimension_is_cut_as_well_as_can_be(void)
{
    const int64_t cases = test_count(few(), 20000);
    for (int k = 0; k < cases && !broken_anywhere(); ++k) {
        grid g;
        double seconds = -1;
        make_case(&g, true, 12);
        if (k % 2) limit(&g, false);
        describe(&g, "case", k);
        const double best = best_of_all(&g);
        const meta_err error = meta_decompose(&g.cuts, &g.desc, &seconds);
        if (isinf(best)) {
            CHECK_INT(error, META_ERR_NO_MEMORY);
            CHECK(seconds == -1);
        } else if (CHECK_OK(error)) {
            check_cuts(&g, seconds);
            CHECK_NEAR(seconds, best, 1e-12);
        }
        MPI_Comm_free(&g.desc.cart);
    }
}

/* How close is for doc and decisions; what is promised is that nothing is lost to even cuts, that
 * limits hold, and that whoever finds no cuts says so. */
static void several_dimensions_are_never_cut_worse_than_evenly(void)
{
    const int64_t cases = test_count(few(), 20000);
    double worst = 1;
    int64_t missed = 0, possible = 0;
    for (int k = 0; k < cases && !broken_anywhere(); ++k) {
        grid g;
        double seconds = -1;
        int64_t even[DIMS][MOST_RANKS + 1] = {{0}};
        make_case(&g, false, 9);
        if (k % 2) limit(&g, k % 4 == 1);
        describe(&g, "case", k);
        cut_evenly(&g.desc, g.dims, g.extent, even);
        const double best = best_of_all(&g), evenly = time_of(&g, even);
        const meta_err error = meta_decompose(&g.cuts, &g.desc, &seconds);
        possible += !isinf(best);
        if (error == META_ERR_NO_MEMORY) {
            missed += !isinf(best);
            CHECK(isinf(evenly));
        } else if (CHECK_OK(error)) {
            check_cuts(&g, seconds);
            CHECK(seconds <= evenly * (1 + 1e-12));
            CHECK(seconds >= best * (1 - 1e-12));
            worst = fmax(worst, seconds / best);
        }
        MPI_Comm_free(&g.desc.cart);
    }
    CHECK(missed * 20 <= possible);
    if (test_rank == 0)
        printf("       at most %.2f times the best time; %" PRId64 " of %" PRId64
               " grids that can be held were not cut\n",
               worst, missed, possible);
}

/* Two by two ranks, for which the best cuts are found only by cutting each dimension again after
 * the other one: as 8 to 1 and 5 to 4, or the other way round. */
static void dimensions_are_cut_by_turns(void)
{
    static const double speed[4] = {10, 8, 8, 1};
    const int none[2] = {0, 0};
    grid g = {.dims = 2, .extent = {2, 2, 1}};
    double seconds = 0;
    if (test_size != 4) return;
    for (int d = 0; d < DIMS; ++d) g.cuts.at[d] = g.cut[d];
    memcpy(g.speed, speed, sizeof speed);
    g.desc = (meta_decompose_desc)META_DECOMPOSE_DESC_INIT;
    g.desc.cells[0] = g.desc.cells[1] = 90;
    MPI_Cart_create(MPI_COMM_WORLD, 2, g.extent, none, 0, &g.desc.cart);
    MPI_Cart_coords(g.desc.cart, test_rank, 2, g.at);
    g.desc.speed = speed[test_rank];
    if (CHECK_OK(meta_decompose(&g.cuts, &g.desc, &seconds))) {
        check_cuts(&g, seconds);
        CHECK_NEAR(seconds, best_of_all(&g), 1e-12);
        CHECK_NEAR(seconds, 80 * 50 / speed[0], 1e-12);
    }
    MPI_Comm_free(&g.desc.cart);
}

static void equal_speeds_are_cut_evenly(void)
{
    for (int k = 0; k < 50 && !broken_anywhere(); ++k) {
        grid g;
        int64_t even[DIMS][MOST_RANKS + 1] = {{0}};
        make_case(&g, k % 2, PLANES);
        for (int r = 0; r < test_size; ++r) g.speed[r] = 3.5;
        g.desc.speed = 3.5;
        describe(&g, "case", k);
        cut_evenly(&g.desc, g.dims, g.extent, even);
        if (CHECK_OK(meta_decompose(&g.cuts, &g.desc, NULL)))
            for (int d = 0; d < g.dims; ++d)
                CHECK_ARRAY(g.cut[d], even[d], g.extent[d] + 1, META_I64);
        MPI_Comm_free(&g.desc.cart);
    }
}

/* The largest extent, and speeds further apart than numbers are. */
static void extremes_are_cut_too(void)
{
    grid g;
    double seconds;
    make_case(&g, true, 12);
    int axis = 0;
    for (int d = 0; d < g.dims; ++d) {
        if (g.extent[d] > 1) axis = d;
        g.desc.cells[d] = 1;
        g.desc.least[d] = 0;
    }
    g.desc.cells[axis] = INT64_MAX / 8; /* the most */
    for (int r = 0; r < test_size; ++r) g.speed[r] = r == 0 ? 1e-300 : 1e300;
    g.desc.speed = g.speed[test_rank];
    describe(&g, "extremes", 0);
    if (CHECK_OK(meta_decompose(&g.cuts, &g.desc, &seconds))) {
        CHECK_INT(g.cut[axis][0], 0);
        CHECK_INT(g.cut[axis][g.extent[axis]], INT64_MAX / 8);
        if (test_size > 1) CHECK_INT(g.cut[axis][1], 1);
    }
    MPI_Comm_free(&g.desc.cart);
}

/* The present cuts: any that give each rank a plane at least. */
static void cut_at_random(const grid *g, int64_t cut[DIMS][MOST_RANKS + 1])
{
    for (int d = 0; d < g->dims; ++d) {
        const int64_t least = g->desc.least[d] > 0 ? g->desc.least[d] : 1;
        const int parts = g->extent[d];
        cut[d][0] = 0;
        for (int k = 0; k < parts; ++k)
            cut[d][k + 1] =
                k + 1 == parts
                    ? g->desc.cells[d]
                    : test_random_in(cut[d][k] + least, g->desc.cells[d] - least * (parts - 1 - k));
    }
}

static void a_proposal_is_the_best_from_where_the_times_say(void)
{
    const int64_t cases = test_count(few(), 10000);
    for (int k = 0; k < cases && !broken_anywhere(); ++k) {
        grid g;
        int64_t present[DIMS][MOST_RANKS + 1] = {{0}};
        meta_cuts now = {{present[0], present[1], present[2]}};
        double before = -1, after = -1;
        make_case(&g, k % 2, k % 2 ? 12 : 9);
        describe(&g, "case", k);
        cut_at_random(&g, present);
        const double seconds =
            (double)cells_by_cuts(g.desc.cart, g.dims, test_rank, present) / g.desc.speed;
        const double then = time_of(&g, present);
        g.desc.speed = NAN; /* means nothing here */
        if (!CHECK_OK(meta_rebalance(&g.cuts, &now, &g.desc, seconds, &before, &after))) return;
        check_cuts(&g, after);
        CHECK_NEAR(before, then, 1e-12);
        CHECK(after <= before);
        if (k % 2) CHECK_NEAR(after, best_of_all(&g), 1e-12);
        /* From there nothing is better. */
        memcpy(present, g.cut, sizeof present);
        memset(g.cut, 0, sizeof g.cut);
        const double again =
            (double)cells_by_cuts(g.desc.cart, g.dims, test_rank, present) / g.speed[test_rank];
        CHECK_OK(meta_rebalance(&g.cuts, &now, &g.desc, again, NULL, NULL));
        if (k % 2)
            for (int d = 0; d < g.dims; ++d)
                CHECK_ARRAY(g.cut[d], present[d], g.extent[d] + 1, META_I64);
        MPI_Comm_free(&g.desc.cart);
    }
}

/* ------------------------------------------------------------------ speeds */

typedef struct counted {
    void *buffer;
    int calls, fails_at;
} counted;

static meta_err fill(void *with)
{
    counted *c = with;
    const double value = ++c->calls;
    if (c->calls == c->fails_at) return meta_fill(NULL, -1, &value, META_F64, META_ASYNC);
    return meta_fill(c->buffer, 1000, &value, META_F64, META_ASYNC);
}

static void speed_is_measured_on_the_callers_work(void)
{
    counted c = {0};
    double speed = -1, last = 0;
    if (!CHECK_OK(meta_alloc(&c.buffer, 1000 * sizeof(double)))) return;
    CHECK_OK(meta_measure_speed(MPI_COMM_WORLD, fill, &c, 1000, 5, &speed));
    CHECK(speed > 0 && isfinite(speed));
    CHECK(c.calls > 5);
    /* All that was asked for was done. */
    CHECK_OK(meta_copy_d2h(&last, c.buffer, sizeof last, NULL));
    CHECK_INT(last, c.calls);
    CHECK_OK(meta_free(c.buffer));
}

static void a_work_that_fails_is_every_ranks_error(void)
{
    for (int at = 1; at < 4; ++at) {
        counted c = {.fails_at = test_rank == test_size - 1 ? at : -1};
        double speed = -1;
        char who[32];
        test_case("call %d", at);
        snprintf(who, sizeof who, "rank %d: ", test_size - 1);
        if (!CHECK_OK(meta_alloc(&c.buffer, 1000 * sizeof(double)))) return;
        CHECK_ERR_NAMES(meta_measure_speed(MPI_COMM_WORLD, fill, &c, 1000, 5, &speed),
                        META_ERR_ARGUMENT, who);
        CHECK_CONTAINS(meta_last_error(), "meta_measure_speed");
        CHECK_CONTAINS(meta_last_error(), "'work'");
        CHECK(speed == -1);
        CHECK_OK(meta_free(c.buffer));
    }
}

/* ------------------------------------------------------------------ what is refused */

static meta_decompose_desc line_of(int64_t cells)
{
    const int none = 0;
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &test_size, &none, 0, &desc.cart);
    desc.cells[0] = cells;
    return desc;
}

/* Refused with @p part of the message on every rank, nothing written, and the next call works. */
static void refused(const meta_decompose_desc *desc, meta_err error, const char *part)
{
    int64_t cut[MOST_RANKS + 1] = {-7, -7, -7, -7, -7};
    const meta_cuts cuts = {{cut}};
    double seconds = -7;
    meta_decompose_desc right = META_DECOMPOSE_DESC_INIT;
    test_case("%s", part);
    CHECK_ERR_NAMES(meta_decompose(&cuts, desc, &seconds), error, part);
    CHECK(seconds == -7);
    for (int k = 0; k <= test_size; ++k) CHECK_INT(cut[k], -7);
    right.cart = desc->cart;
    right.cells[0] = 100;
    CHECK_OK(meta_decompose(&cuts, &right, &seconds));
}

static void wrong_numbers_are_refused_by_name_on_every_rank(void)
{
    const int last = test_size - 1;
    meta_decompose_desc desc = line_of(0);
    char text[96];
    refused(&desc, META_ERR_ARGUMENT, "cells[0]' is 0");
    desc.cells[0] = 3 * test_size - 1;
    desc.least[0] = 3;
    snprintf(text, sizeof text, "%d planes are not enough for %d ranks with at least 3 each",
             3 * test_size - 1, test_size);
    refused(&desc, META_ERR_ARGUMENT, text);
    desc.least[0] = -1;
    refused(&desc, META_ERR_ARGUMENT, "least[0]' is -1");
    desc.least[0] = 0;
    const double speeds[] = {0, -2, NAN, INFINITY};
    for (int k = 0; k < 4; ++k) {
        desc.cells[0] = 100;
        desc.speed = test_rank == last ? speeds[k] : 1;
        snprintf(text, sizeof text, "rank %d: meta_decompose: argument 'desc->speed' is %g", last,
                 speeds[k]);
        refused(&desc, META_ERR_ARGUMENT, text);
    }
    desc.speed = 1;
    desc.most = test_rank == last ? -1 : 0;
    refused(&desc, META_ERR_ARGUMENT, "desc->most' is -1");
    desc.most = test_rank == last ? 9 : 10;
    snprintf(text, sizeof text, "100 cells, but all ranks together can hold %d",
             10 * test_size - 1);
    refused(&desc, META_ERR_NO_MEMORY, text);
    desc.most = 0;
    desc.cells[0] = INT64_MAX;
    refused(&desc, META_ERR_OVERFLOW, "2^60");
    MPI_Comm_free(&desc.cart);
}

static void whole_planes_count_where_memory_is_short(void)
{
    const int none[2] = {0, 0}, ranks[2] = {1, test_size};
    int64_t x[2], y[MOST_RANKS + 1];
    const meta_cuts cuts = {{x, y}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    char text[96];
    MPI_Cart_create(MPI_COMM_WORLD, 2, ranks, none, 0, &desc.cart);
    desc.cells[0] = 10;
    desc.cells[1] = 2 * test_size;
    desc.most = test_rank == 0 ? 19 + 10 * (test_size - 1) : 25; /* planes of 10 cells */
    const int64_t together = 1 + (test_size - 1) + 2 * (test_size - 1);
    snprintf(text, sizeof text, "can hold %" PRId64 " whole ones", together);
    if (test_size == 1)
        CHECK_ERR_NAMES(meta_decompose(&cuts, &desc, NULL), META_ERR_NO_MEMORY, "20 cells");
    else if (together < 2 * test_size)
        CHECK_ERR_NAMES(meta_decompose(&cuts, &desc, NULL), META_ERR_NO_MEMORY, text);
    else CHECK_OK(meta_decompose(&cuts, &desc, NULL));
    desc.most = test_rank == test_size - 1 ? 9 : 0;
    CHECK_ERR_NAMES(meta_decompose(&cuts, &desc, NULL), META_ERR_NO_MEMORY,
                    test_size == 1 ? "can hold 9" : "can hold 0 planes of 10 cells");
    MPI_Comm_free(&desc.cart);
}

static void ranks_that_disagree_all_hear_of_it(void)
{
    meta_decompose_desc desc = line_of(100);
    int64_t cut[2][MOST_RANKS + 1] = {{0}};
    const meta_cuts now = {{cut[0]}}, next = {{cut[1]}};
    if (test_size > 1) {
        desc.cells[0] = test_rank == test_size - 1 ? 99 : 100;
        refused(&desc, META_ERR_MISMATCH, "'desc->cells[0]' is 99, but 100 on rank 0");
        desc.cells[0] = 100;
        desc.least[0] = test_rank == test_size - 1 ? 2 : 1;
        refused(&desc, META_ERR_MISMATCH, "'desc->least[0]' is 2, but 1 on rank 0");
        desc.least[0] = 1;
        for (int k = 0; k <= test_size; ++k) cut[0][k] = k == test_size ? 100 : k * 10;
        if (test_rank == 1) cut[0][1] = 11;
        CHECK_ERR_NAMES(meta_rebalance(&next, &now, &desc, 1, NULL, NULL), META_ERR_MISMATCH,
                        "'now->at[0][1]' is 11, but 10 on rank 0");
    } else { /* a rank agrees with itself */
        cut[0][1] = 100;
        CHECK_OK(meta_rebalance(&next, &now, &desc, 1, NULL, NULL));
        CHECK(cut[1][0] == 0 && cut[1][1] == 100);
    }
    MPI_Comm_free(&desc.cart);
}

static void wrong_arguments_are_refused_by_name(void)
{
    meta_decompose_desc desc = line_of(100), other = desc;
    int64_t cut[2][MOST_RANKS + 1] = {{0}}, first, cells;
    const meta_cuts none = {{NULL}}, now = {{cut[0]}}, next = {{cut[1]}};
    double speed;
    counted c = {0};
    CHECK_ERR_NAMES(meta_decompose(&now, NULL, NULL), META_ERR_ARGUMENT, "'desc'");
    CHECK_ERR_NAMES(meta_decompose(NULL, &desc, NULL), META_ERR_ARGUMENT, "'cuts'");
    CHECK_ERR_NAMES(meta_decompose(&none, &desc, NULL), META_ERR_ARGUMENT, "'cuts->at[0]'");
    other.size = 4;
    CHECK_ERR_NAMES(meta_decompose(&now, &other, NULL), META_ERR_ARGUMENT, "DESC_INIT");
    other = desc;
    other.cart = MPI_COMM_WORLD;
    CHECK_ERR_NAMES(meta_decompose(&now, &other, NULL), META_ERR_ARGUMENT, "Cartesian");
    other.cart = MPI_COMM_NULL;
    CHECK_ERR_NAMES(meta_decompose(&now, &other, NULL), META_ERR_ARGUMENT, "desc->cart");
    if (!CHECK_OK(meta_decompose(&now, &desc, NULL))) return;
    CHECK_ERR_NAMES(meta_rebalance(&now, &now, &desc, 1, NULL, NULL), META_ERR_OVERLAP, "next->at");
    CHECK_ERR_NAMES(meta_rebalance(&next, &now, &desc, 0, NULL, NULL), META_ERR_ARGUMENT,
                    "'seconds' is 0");
    other = desc;
    other.cells[0] = 101;
    CHECK_ERR_NAMES(meta_rebalance(&next, &now, &other, 1, NULL, NULL), META_ERR_ARGUMENT,
                    "ends at 100");
    CHECK_ERR_NAMES(meta_cuts_block(&now, desc.cart, test_size, &first, &cells), META_ERR_ARGUMENT,
                    "'rank'");
    CHECK_ERR_NAMES(meta_cuts_block(&now, desc.cart, 0, NULL, NULL), META_ERR_ARGUMENT, "'first'");
    CHECK_ERR_NAMES(meta_cuts_block(&none, desc.cart, 0, &first, NULL), META_ERR_ARGUMENT,
                    "cuts->at[0]");
    CHECK_ERR_NAMES(meta_measure_speed(MPI_COMM_WORLD, NULL, &c, 1, 1, &speed), META_ERR_ARGUMENT,
                    "'work'");
    CHECK_ERR_NAMES(meta_measure_speed(MPI_COMM_WORLD, fill, &c, 0, 1, &speed), META_ERR_ARGUMENT,
                    "'cells'");
    CHECK_ERR_NAMES(meta_measure_speed(MPI_COMM_WORLD, fill, &c, 1, 0, &speed), META_ERR_ARGUMENT,
                    "'times'");
    CHECK_ERR_NAMES(meta_measure_speed(MPI_COMM_NULL, fill, &c, 1, 1, &speed), META_ERR_ARGUMENT,
                    "'comm'");
    MPI_Comm_free(&desc.cart);
}

TEST_COMM_MAIN(PROMISE(one_dimension_is_cut_as_well_as_can_be),
               PROMISE(several_dimensions_are_never_cut_worse_than_evenly),
               PROMISE(dimensions_are_cut_by_turns), PROMISE(equal_speeds_are_cut_evenly),
               PROMISE(extremes_are_cut_too),
               PROMISE(a_proposal_is_the_best_from_where_the_times_say),
               PROMISE(speed_is_measured_on_the_callers_work),
               PROMISE(a_work_that_fails_is_every_ranks_error),
               PROMISE(wrong_numbers_are_refused_by_name_on_every_rank),
               PROMISE(whole_planes_count_where_memory_is_short),
               PROMISE(ranks_that_disagree_all_hear_of_it),
               PROMISE(wrong_arguments_are_refused_by_name))
