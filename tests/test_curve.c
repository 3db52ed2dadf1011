/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_curve.c
 *  A rank's time over its cells (comm/balance/curve.c): it goes through what was measured, never
 * falls and is never negative, whatever was measured. */
/* TEST: labels=comm */
#include "test.h"

#include <inttypes.h>
#include <math.h>

#include "balance/curve.h"

enum { MOST = 1000 };

static double random_seconds(void)
{
    return pow(10, -6 * test_random_real());
}

static void there_is_no_time_before_the_first_measurement(void)
{
    const curve none = {0};
    CHECK(curve_expected(&none, 7) == 0);
    CHECK(curve_least(&none, 7) == 0);
}

static void one_measurement_is_proportional(void)
{
    curve c = {0};
    curve_add(&c, 100, 2);
    CHECK_NEAR(curve_expected(&c, 50), 1, 1e-15);
    CHECK_NEAR(curve_expected(&c, 400), 8, 1e-15);
    CHECK(curve_least(&c, 99) == 0);
    CHECK(curve_least(&c, 100) == 2 && curve_least(&c, 1000) == 2);
}

static void the_least_of_what_was_measured_counts(void)
{
    curve c = {0};
    curve_add(&c, 100, 2);
    curve_add(&c, 200, 5);
    curve_add(&c, 100, 3);
    curve_add(&c, 200, 4);
    CHECK(curve_expected(&c, 100) == 2);
    CHECK(curve_expected(&c, 200) == 4);
    CHECK_NEAR(curve_expected(&c, 150), 3, 1e-15);
    curve_add(&c, 300, 1); /* so less takes no longer */
    CHECK(curve_expected(&c, 100) == 1);
    CHECK(curve_expected(&c, 250) == 1);
}

static void it_never_falls(void)
{
    TEST_CASES (k, 500, 50000) {
        curve c = {0};
        const int64_t count = test_random_in(1, 3 * CURVE_POINTS);
        for (int64_t n = 0; n < count; ++n)
            curve_add(&c, test_random_in(1, MOST), random_seconds());
        double expected = 0, least = 0;
        for (int64_t n = 0; n <= 2 * MOST; ++n) {
            const double e = curve_expected(&c, n), l = curve_least(&c, n);
            if (!(e >= expected)) FAIL("case %" PRId64 ": falls to %g at %" PRId64, k, e, n);
            if (!(l >= least)) FAIL("case %" PRId64 ": the least falls at %" PRId64, k, n);
            if (!(l <= e)) FAIL("case %" PRId64 ": at least %g, expected %g", k, l, e);
            expected = e, least = l;
        }
        CHECK(isfinite(expected) && expected > 0);
    }
}

/* The others are nearer to what is measured now. */
static void a_full_curve_forgets_the_farthest(void)
{
    curve c = {0};
    for (int k = 1; k <= CURVE_POINTS; ++k) curve_add(&c, 10 * k, k);
    curve_add(&c, 10 * CURVE_POINTS + 1, CURVE_POINTS + 1);
    CHECK_INT(c.points, CURVE_POINTS);
    CHECK_INT(c.cells[0], 20);
    curve_add(&c, 11, 1.5);
    CHECK_INT(c.points, CURVE_POINTS);
    CHECK_INT(c.cells[0], 11);
    CHECK_INT(c.cells[CURVE_POINTS - 1], 10 * CURVE_POINTS);
    CHECK(curve_expected(&c, 11) == 1.5);
}

TEST_MAIN(PROMISE(there_is_no_time_before_the_first_measurement),
          PROMISE(one_measurement_is_proportional), PROMISE(the_least_of_what_was_measured_counts),
          PROMISE(it_never_falls), PROMISE(a_full_curve_forgets_the_farthest))
