/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_access.c
 *  On CPUs the first calls of a program's kernel try whether requesting memory ahead is faster,
 *  where the memory is not in a core's cache. */
/* TEST: backends=openmp labels=core */
#define META_KERNELS_HERE
#include "user_access.kernel.h"

#include "caught.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Several times what a core's own cache holds, and a small part of it. */
enum { LARGE = 160, SMALL = 24, CALLS = 24 };
#define FOUND "OpenMP: spread of f64 takes, in ns a cell, "

static double *given, *got, *expected;
static double total;
static char text[1 << 15];

static int64_t cell(int64_t n, int64_t x, int64_t y, int64_t z)
{
    return x + n * (y + n * z);
}

/* Whole numbers, so that sums are exact in any order. */
static void compute(int64_t n)
{
    total = 0;
    for (int64_t k = 0; k < n * n * n; ++k) given[k] = (double)(k % 97), expected[k] = -1;
    for (int64_t z = 1; z < n - 1; ++z)
        for (int64_t y = 1; y < n - 1; ++y)
            for (int64_t x = 1; x < n - 1; ++x) {
                const int64_t at = cell(n, x, y, z);
                expected[at] = given[at - 1] + given[at + 1] + given[at - n] + given[at + n] +
                               given[at - n * n] + given[at + n * n];
                total += expected[at];
            }
}

static void run(int64_t n, int checked)
{
    const size_t bytes = (size_t)(n * n * n) * sizeof(double);
    const meta_box box = {3, {n, n, n}, {1, 1, 1}, {n - 1, n - 1, n - 1}};
    void *from, *to;
    given = malloc(bytes);
    got = malloc(bytes);
    expected = malloc(bytes);
    if (CHECK(given && got && expected) && CHECK_OK(meta_alloc(&from, bytes)) &&
        CHECK_OK(meta_alloc(&to, bytes))) {
        compute(n);
        CHECK_OK(meta_copy_h2d(from, given, bytes, NULL));
        for (int k = 0; k < CALLS; ++k) {
            double sum = 0;
            test_case("call %d of %lld^3 cells", k, (long long)n);
            if (checked) {
                for (int64_t c = 0; c < n * n * n; ++c) got[c] = -1;
                CHECK_OK(meta_copy_h2d(to, got, bytes, NULL));
            }
            CHECK_OK(spread_f64(&box, to, from, &sum, NULL));
            CHECK(sum == total);
            if (!checked) continue;
            CHECK_OK(meta_copy_d2h(got, to, bytes, NULL));
            CHECK_ARRAY(got, expected, n * n * n, META_F64);
        }
        test_case("%lld^3 cells", (long long)n);
        CHECK_OK(meta_free(from));
        CHECK_OK(meta_free(to));
    }
    free(given);
    free(got);
    free(expected);
}

/* What the library logs while it lives; one thread, since each brings a cache. */
static void live(void (*body)(void))
{
    setenv("META_LOG", "info", 1);
    setenv("META_THREADS", "1", 1);
    catch_errors();
    CHECK_OK(meta_init());
    body();
    CHECK_OK(meta_finalize());
    take_caught(text, sizeof text);
    unsetenv("META_LOG");
    unsetenv("META_THREADS");
}

static void large(void)
{
    run(LARGE, 0);
}
static void large_checked(void)
{
    run(LARGE, 1);
}
static void small(void)
{
    run(SMALL, 0);
}

static void the_first_calls_beyond_a_cache_try_both_ways_and_keep_the_faster_one(void)
{
    double plainly, ahead;
    live(large);
    const char *found = strstr(text, FOUND);
    CHECK_CONTAINS(text, FOUND);
    if (!found) return;
    CHECK(strstr(found + 1, FOUND) == NULL);
    if (!CHECK_INT(sscanf(found + strlen(FOUND), "%lf plainly, %lf with memory requested ahead",
                          &plainly, &ahead),
                   2))
        return;
    CHECK(plainly > 0 && ahead > 0);
    CHECK_CONTAINS(found, ahead < 0.96 * plainly ? "it runs with memory requested ahead from now on"
                          : ahead > plainly      ? "it runs plainly from now on"
                                                 : "from now on");
}

static void every_call_has_the_same_results_whichever_way_it_takes(void)
{
    live(large_checked);
    CHECK_CONTAINS(text, FOUND);
}

static void in_a_core_s_cache_nothing_is_tried(void)
{
    live(small);
    CHECK(strstr(text, "spread of f64 takes") == NULL);
}

TEST_MAIN(PROMISE(the_first_calls_beyond_a_cache_try_both_ways_and_keep_the_faster_one),
          PROMISE(every_call_has_the_same_results_whichever_way_it_takes),
          PROMISE(in_a_core_s_cache_nothing_is_tried))
