/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_times.c
 *  The learned times of kernels, alone: what is expected after runs whose times are known. */
/* TEST: labels=core smoke=yes */
#include "auto/times.h"
#include "test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const uint64_t octave = 1 << 20; /* its first number of cells */
static meta_times *times;
static int kernel;
static meta_time_basis basis;

static bool start(void)
{
    times = meta_times_new(3);
    kernel = times ? meta_times_kernel(times, "axpy", 1, 0) : -1;
    return CHECK(kernel >= 0);
}

/* The run on device 0 that does not count. */
static bool start_warm(void)
{
    if (!start()) return false;
    meta_times_add(times, kernel, 0, octave, 8 * octave, 1);
    return true;
}

/* Runs on device 0 that move eight bytes a cell. */
static void add(uint64_t cells, double seconds, int runs)
{
    for (int n = 0; n < runs; ++n) meta_times_add(times, kernel, 0, cells, 8 * cells, seconds);
}

static double expect(uint64_t cells)
{
    return meta_times_expect(times, kernel, 0, cells, 8 * cells, &basis);
}

static void the_first_run_does_not_count(void)
{
    if (!start()) return;
    add(octave, 500, 1);
    CHECK_U64(meta_times_samples(times, kernel, 0, octave), 0);
    CHECK_NEAR(expect(octave), (double)(8 * octave) / 4e12, 1e-12);
    CHECK_INT(basis, META_TIME_BOUND);
    add(octave, 1, 1);
    CHECK_U64(meta_times_samples(times, kernel, 0, octave), 1);
    CHECK_NEAR(expect(octave), 1, 1e-6);
    CHECK_INT(basis, META_TIME_SAMPLED);
    meta_times_add(times, kernel, 1, octave, 8 * octave, 500);
    CHECK_U64(meta_times_samples(times, kernel, 1, octave), 0);
    const int other = meta_times_kernel(times, "dot", 1, 0);
    meta_times_add(times, other, 0, octave, 8 * octave, 500);
    CHECK_U64(meta_times_samples(times, other, 0, octave), 0);
    meta_times_free(times);
}

/* a + b·cells, of runs over 2^10 to 2^20 cells. */
static void check_line(bool mixed)
{
    const double a = 1e-5, b = 1e-9;
    if (!start_warm()) return;
    for (int o = 10; o <= 20; o += 2)
        for (int n = 0; n < 6; ++n) {
            const int64_t low = INT64_C(1) << o;
            const uint64_t cells = (uint64_t)(mixed ? test_random_in(low, 2 * low - 1) : low);
            add(cells, a + b * (double)cells, 1);
        }
    for (int n = 0; n < 200; ++n) {
        const int o = (int)test_random_in(8, 25);
        const uint64_t cells = (uint64_t)test_random_in(INT64_C(1) << o, (INT64_C(2) << o) - 1);
        test_case("2^%d cells", o);
        CHECK_NEAR(expect(cells), a + b * (double)cells, 0.01);
        CHECK_INT(basis, o >= 10 && o <= 20 && o % 2 == 0 ? META_TIME_SAMPLED : META_TIME_FITTED);
    }
    meta_times_free(times);
}

static void a_line_through_the_octaves_is_found(void)
{
    check_line(false);
}

static void runs_of_an_octave_may_differ_in_cells(void)
{
    check_line(true);
}

static void a_fit_is_never_negative(void)
{
    for (int n = 0; n < 200; ++n) {
        if (!start_warm()) return;
        for (int o = 10; o <= 16; ++o) add(UINT64_C(1) << o, test_random_real() + 1e-6, 1);
        for (int o = 4; o <= 22; ++o) {
            const double seconds = expect(UINT64_C(1) << o);
            test_case("case %d, 2^%d cells", n, o);
            if (!isfinite(seconds) || seconds < 0) FAIL("%g seconds", seconds);
            if (o > 16) CHECK(seconds >= expect(UINT64_C(1) << (o - 1)) || o == 17);
        }
        meta_times_free(times);
    }
    CHECK(basis == META_TIME_FITTED);
}

static void an_outlier_does_not_count(void)
{
    if (!start_warm()) return;
    add(octave, 1e-3, 3);
    add(octave, 1, 1);
    CHECK_NEAR(expect(octave), 1e-3, 1e-6);
    add(octave, 1e-3, 5);
    add(octave, 1, 2);
    CHECK_NEAR(expect(octave), 1e-3, 1e-6);
    meta_times_free(times);
}

static void a_first_sample_that_is_an_outlier_is_forgotten(void)
{
    if (!start_warm()) return;
    add(octave, 0.5, 1);
    add(octave, 1e-3, 2);
    CHECK_NEAR(expect(octave), 1e-3, 1e-6);
    meta_times_free(times);
}

static void a_lasting_change_is_learned_in_eight_runs(void)
{
    if (!start_warm()) return;
    add(octave, 1e-3, 100);
    add(octave, 4e-3, 8);
    CHECK_NEAR(expect(octave), 4e-3, 0.01);
    add(octave, 1e-3, 8);
    CHECK_NEAR(expect(octave), 1e-3, 0.01);
    meta_times_free(times);
}

static void one_octave_serves_those_near_it(void)
{
    if (!start_warm()) return;
    add(octave, 1e-3, 3);
    for (int away = 1; away <= 7; ++away) {
        test_case("%d octaves away", away);
        const meta_time_basis expected = away <= 6 ? META_TIME_FITTED : META_TIME_BOUND;
        const double above = expect(octave << away);
        CHECK_INT(basis, expected);
        /* All may be launch, or nothing. */
        if (away <= 6) CHECK(above > 1e-3 && above < 1e-3 * (1 << away));
        const double below = expect(octave >> away);
        CHECK_INT(basis, expected);
        if (away <= 6) CHECK(below > 0 && below <= 1e-3 * (1 + 1e-6));
    }
    CHECK_U64(meta_times_samples(times, kernel, 0, octave), 3);
    CHECK_U64(meta_times_samples(times, kernel, 0, 2 * octave - 1), 3);
    CHECK_U64(meta_times_samples(times, kernel, 0, 2 * octave), 0);
    CHECK_U64(meta_times_samples(times, kernel, 1, octave), 0);
    meta_times_fix(times); /* the middle, where no trial will tell */
    CHECK_NEAR(expect(8 * octave), 8e-3, 1e-6);
    meta_times_free(times);
}

static void a_bound_follows_the_best_rate_of_the_device(void)
{
    if (!start_warm()) return;
    const int other = meta_times_kernel(times, "dot", 1, 0);
    add(octave, 1e-3, 1);
    const double rate = (double)(8 * octave) / 1e-3;
    CHECK_NEAR(meta_times_expect(times, other, 0, 1, 1000, &basis), 1000 / (2 * rate), 1e-6);
    CHECK_INT(basis, META_TIME_BOUND);
    add(octave, 1, 20);
    CHECK_NEAR(meta_times_expect(times, other, 0, 1, 1000, &basis), 1000 / (2 * rate), 1e-6);
    CHECK_NEAR(meta_times_expect(times, other, 1, 1, 1000, &basis), 1000 / 4e12, 1e-12);
    CHECK_INT(basis, META_TIME_BOUND);
    CHECK(meta_times_expect(times, other, 0, 1, 0, &basis) == 0);
    meta_times_free(times);
}

/* Runs whose launch takes most of their time, 8 us and 500 GB/s, tell how fast long ones are. */
static void a_bound_is_not_that_of_a_launch(void)
{
    if (!start_warm()) return;
    const int other = meta_times_kernel(times, "dot", 1, 0);
    const double launch = 8e-6, rate = 500e9;
    add(1024, launch + 8 * 1024 / rate, 3);
    const double alone = meta_times_expect(times, other, 0, 1, 1u << 30, &basis);
    CHECK(alone > 0 && alone <= (1u << 30) / rate); /* it may be faster */
    for (int o = 6; o <= 13; ++o)
        add(UINT64_C(1) << o, launch + (double)(UINT64_C(8) << o) / rate, 3);
    for (uint64_t bytes = 1u << 20; bytes <= 1u << 30; bytes *= 2) {
        const double bound = meta_times_expect(times, other, 0, 1, bytes, &basis);
        test_case("%" PRIu64 " bytes", bytes);
        CHECK_INT(basis, META_TIME_BOUND);
        CHECK_NEAR(bound, (launch + (double)bytes / rate) / 2, 1e-6);
    }
    meta_times_free(times);
}

/* Each run has the same rate, over whichever number of cells. */
static void the_best_rate_is_that_of_a_run(void)
{
    const double rate = 1e9;
    if (!start_warm()) return;
    const int other = meta_times_kernel(times, "dot", 1, 0);
    add(octave, (double)(8 * octave) / rate, 1);
    add(2 * octave - 1, (double)(8 * (2 * octave - 1)) / rate, 3);
    add(octave, (double)(8 * octave) / rate, 3);
    CHECK_NEAR(meta_times_expect(times, other, 0, 1, 1000, &basis), 1000 / (2 * rate), 1e-3);
    meta_times_free(times);
}

static void many_kernels_are_kept_apart(void)
{
    enum { KERNELS = 3000, TYPES = 2 };
    static int number[KERNELS][TYPES];
    if (!start()) return;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < KERNELS; ++k)
            for (uint32_t type = 0; type < TYPES; ++type) {
                char name[32];
                snprintf(name, sizeof name, "kernel_%d", k);
                const int found = meta_times_kernel(times, name, type, 0);
                test_case("%s, type %" PRIu32, name, type);
                if (pass > 0) CHECK_INT(found, number[k][type]);
                number[k][type] = found;
                for (int run = 0; pass == 0 && run < 2; ++run)
                    meta_times_add(times, found, 0, octave, octave, 1 + 2 * k + (int)type);
            }
    for (int k = 0; k < KERNELS; ++k)
        for (int type = 0; type < TYPES; ++type)
            CHECK_NEAR(meta_times_expect(times, number[k][type], 0, octave, octave, &basis),
                       1 + 2 * k + type, 1e-6);
    CHECK_INT(meta_times_kernel(times, "axpy", 1, 0), kernel);
    meta_times_free(times);
}

static void long_names_are_told_apart_by_their_ends(void)
{
    char name[200];
    if (!start()) return;
    snprintf(name, sizeof name, "%0150d_a", 0);
    const int first = meta_times_kernel(times, name, 1, 0);
    CHECK_INT(meta_times_kernel(times, name, 1, 0), first);
    snprintf(name, sizeof name, "%0150d_b", 0);
    CHECK(meta_times_kernel(times, name, 1, 0) != first);
    meta_times_free(times);
}

static void no_cells_are_no_run(void)
{
    if (!start_warm()) return;
    CHECK(expect(0) == 0);
    add(0, 1e-3, 5);
    CHECK_U64(meta_times_samples(times, kernel, 0, 0), 0);
    add(1, 1e-3, 3);
    CHECK_NEAR(expect(1), 1e-3, 1e-6);
    CHECK(expect(0) >= 0 && expect(0) <= 1e-3 * (1 + 1e-6));
    CHECK(isfinite(expect(UINT64_MAX / 8)));
    meta_times_free(times);
}

TEST_MAIN(PROMISE(the_first_run_does_not_count), PROMISE(a_line_through_the_octaves_is_found),
          PROMISE(runs_of_an_octave_may_differ_in_cells), PROMISE(a_fit_is_never_negative),
          PROMISE(an_outlier_does_not_count),
          PROMISE(a_first_sample_that_is_an_outlier_is_forgotten),
          PROMISE(a_lasting_change_is_learned_in_eight_runs),
          PROMISE(one_octave_serves_those_near_it),
          PROMISE(a_bound_follows_the_best_rate_of_the_device),
          PROMISE(a_bound_is_not_that_of_a_launch), PROMISE(the_best_rate_is_that_of_a_run),
          PROMISE(many_kernels_are_kept_apart), PROMISE(long_names_are_told_apart_by_their_ends),
          PROMISE(no_cells_are_no_run))
