/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_links.c
 *  The learned times of copies between devices, alone: what is expected after copies whose times
 *  are known. */
/* TEST: labels=core smoke=yes */
#include "auto/link.h"
#include "test.h"

#include <stdio.h>

static double latency, per_byte;

/* Copies of @p bytes over a link of a microsecond a copy and 10 bytes a nanosecond. */
static double real(uint64_t bytes)
{
    return 1e3 + (double)bytes / 10;
}
static void copy(uint64_t bytes, int times)
{
    for (int n = 0; n < times; ++n) meta_auto_link_learn(0, 1, bytes, real(bytes));
}

static void nothing_measured_is_an_assumption(void)
{
    meta_learned_link own;
    double time;
    CHECK(meta_auto_move_time(0, 1, 1 << 20) > meta_auto_move_time(0, 1, 1 << 10));
    CHECK(!meta_auto_moves_measured(0, 1, 3, 300, &time));
    CHECK(!meta_auto_link_export(0, 1, &own));
    meta_auto_links_close();
}

static void a_measured_size_takes_what_was_measured(void)
{
    static const uint64_t sizes[] = {8, 1000, 18000, 1 << 20, UINT64_C(1) << 33};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        test_case("%llu bytes alone", (unsigned long long)sizes[k]);
        copy(sizes[k], 1);
        CHECK_NEAR(meta_auto_move_time(0, 1, sizes[k]), real(sizes[k]), 1e-12);
        meta_auto_links_close();
    }
    meta_auto_links_close();
}

static void sizes_between_two_follow_the_line(void)
{
    copy(4096, 3);
    copy(1 << 24, 3);
    meta_auto_link_line(0, 1, &latency, &per_byte);
    CHECK_NEAR(latency, 1e3, 1e-6);
    CHECK_NEAR(per_byte, 0.1, 1e-9);
    for (uint64_t bytes = 1; bytes < UINT64_C(1) << 30; bytes = 3 * bytes + 1) {
        test_case("%llu bytes", (unsigned long long)bytes);
        CHECK_NEAR(meta_auto_move_time(0, 1, bytes), real(bytes), 1e-6);
    }
    meta_auto_links_close();
}

/* That a small copy takes long is no reason to think that the link is slow. */
static void small_copies_tell_nothing_of_bandwidth(void)
{
    meta_auto_link_learn(0, 1, 1000, 40e3);
    CHECK(meta_auto_move_time(0, 1, 1 << 22) < 1e6);
    meta_auto_links_close();
}

/* Whichever comes first, and though the larger copy was the faster one. */
static void the_line_never_falls(void)
{
    meta_auto_link_learn(0, 1, 1 << 20, 500);
    meta_auto_link_learn(0, 1, 64, 900);
    meta_auto_link_line(0, 1, &latency, &per_byte);
    CHECK(latency > 0);
    CHECK(per_byte > 0);
    CHECK(meta_auto_move_time(0, 1, 1 << 26) >= meta_auto_move_time(0, 1, 1 << 22));
    meta_auto_links_close();
}

/* A link that has no latency that can be seen. */
static void latency_is_never_negative(void)
{
    meta_auto_link_learn(0, 1, 1000, 100);
    meta_auto_link_learn(0, 1, 100000, 20000);
    meta_auto_link_line(0, 1, &latency, &per_byte);
    CHECK(latency >= 0);
    CHECK_NEAR(meta_auto_move_time(0, 1, 100000), 20000, 1e-12);
    meta_auto_links_close();
}

static void an_outlier_counts_little(void)
{
    copy(1 << 20, 20);
    meta_auto_link_learn(0, 1, 1 << 20, 1000 * real(1 << 20));
    CHECK(meta_auto_move_time(0, 1, 1 << 20) <= 1.76 * real(1 << 20));
    copy(1 << 20, 20);
    CHECK_NEAR(meta_auto_move_time(0, 1, 1 << 20), real(1 << 20), 0.01);
    meta_auto_links_close();
}

static void a_link_that_has_become_slower_is_noticed(void)
{
    copy(1 << 20, 20);
    for (int n = 0; n < 10; ++n) meta_auto_link_learn(0, 1, 1 << 20, 3 * real(1 << 20));
    CHECK_NEAR(meta_auto_move_time(0, 1, 1 << 20), 3 * real(1 << 20), 0.1);
    meta_auto_links_close();
}

static void what_was_measured_goes_on_in_the_next_process(void)
{
    meta_learned_link own;
    copy(4096, 3);
    copy(1 << 24, 3);
    CHECK(meta_auto_link_export(0, 1, &own));
    meta_auto_links_close();
    meta_auto_link_import(0, 1, &own);
    CHECK_NEAR(meta_auto_move_time(0, 1, 1 << 20), real(1 << 20), 1e-6);
    /* One size that agrees does not change what is expected of others. */
    copy(1 << 16, 1);
    CHECK_NEAR(meta_auto_move_time(0, 1, 1 << 24), real(1 << 24), 1e-6);
    CHECK_NEAR(meta_auto_move_time(0, 1, 64), real(64), 1e-6);
    meta_auto_links_close();
}

static void links_are_learned_apart(void)
{
    copy(1 << 20, 1);
    const double back = meta_auto_move_time(1, 0, 1 << 20);
    meta_auto_link_learn(1, 0, 1 << 20, 7e6);
    CHECK(meta_auto_move_time(1, 0, 1 << 20) > back);
    CHECK_NEAR(meta_auto_move_time(0, 1, 1 << 20), real(1 << 20), 1e-12);
    meta_auto_links_close();
}

TEST_MAIN(PROMISE(nothing_measured_is_an_assumption),
          PROMISE(a_measured_size_takes_what_was_measured),
          PROMISE(sizes_between_two_follow_the_line),
          PROMISE(small_copies_tell_nothing_of_bandwidth), PROMISE(the_line_never_falls),
          PROMISE(latency_is_never_negative), PROMISE(an_outlier_counts_little),
          PROMISE(a_link_that_has_become_slower_is_noticed),
          PROMISE(what_was_measured_goes_on_in_the_next_process), PROMISE(links_are_learned_apart))
