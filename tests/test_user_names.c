/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_names.c
 *  Kernels of the program's own whose names are those of arrays, values, scalars, results and
 *  memory of teams, of their own or of other kernels of the file, and of a language's functions. */
/* TEST: backends=all auto=yes labels=core */
#define META_KERNELS_HERE
#include "user_names.kernel.h"

#include "test.h"

enum { CELLS = 20 };
static const meta_box all = {1, {CELLS}, {0}, {CELLS}}, inner = {1, {CELLS}, {1}, {CELLS - 1}};
static void *u, *v, *w;
static int32_t x[CELLS], y[CELLS], z[CELLS], found[CELLS];

static void check(const void *device, const int32_t *expected)
{
    CHECK_OK(meta_copy_d2h(found, device, sizeof found, NULL));
    CHECK_ARRAY(found, expected, CELLS, META_I32);
}

static void begin(void)
{
    CHECK_OK(meta_alloc(&u, sizeof x));
    CHECK_OK(meta_alloc(&v, sizeof x));
    CHECK_OK(meta_alloc(&w, sizeof x));
    for (int k = 0; k < CELLS; ++k) x[k] = 7 * k, y[k] = 100 - k * k, z[k] = k % 3;
    CHECK_OK(meta_copy_h2d(u, x, sizeof x, NULL));
    CHECK_OK(meta_copy_h2d(v, y, sizeof y, NULL));
    CHECK_OK(meta_copy_h2d(w, z, sizeof z, NULL));
}

static void end(void)
{
    CHECK_OK(meta_free(u));
    CHECK_OK(meta_free(v));
    CHECK_OK(meta_free(w));
}

static void a_kernel_may_have_the_name_of_another_ones_parameter(void)
{
    int32_t sum = 0, expected = 0;
    begin();
    for (int k = 0; k < CELLS; ++k) z[k] = x[k] - 2 * y[k] + 5;
    CHECK_OK(flux_i32(&all, w, u, v, 5, NULL));
    check(w, z);
    for (int k = 1; k < CELLS - 1; ++k) expected += x[k] -= 3 * (z[k + 1] + z[k - 1]);
    CHECK_OK(update_i32(&inner, u, w, 3, &sum, NULL));
    check(u, x);
    CHECK_INT(sum, expected);
    end();
}

static void a_kernel_may_have_the_name_of_its_own_parameter(void)
{
    int32_t most = 0;
    begin();
    for (int k = 0; k < CELLS; ++k) x[k] *= 3, z[k] = x[0] + y[0];
    CHECK_OK(own_i32(&all, u, NULL));
    check(u, x);
    CHECK_OK(later_i32(&all, w, u, v, &most, NULL));
    check(w, z);
    CHECK_INT(most, z[0]);
    end();
}

static void a_kernel_may_have_the_name_of_a_languages_function(void)
{
    begin();
    for (int k = 0; k < CELLS; ++k) z[k] = x[k / 4 * 4 + 3 - k % 4] + 9;
    CHECK_OK(step_i32(&all, w, u, 9, NULL));
    check(w, z);
    for (int k = 0; k < CELLS; ++k) y[k] -= z[k];
    CHECK_OK(min_i32(&all, v, w, NULL));
    check(v, y);
    end();
}

/* Of both element types. */
static void all_of_them_can_be_prepared(void)
{
    CHECK_OK(meta_kernels_prepare(NULL, 0));
}

TEST_MAIN_WITH(&test_device, PROMISE(a_kernel_may_have_the_name_of_another_ones_parameter),
               PROMISE(a_kernel_may_have_the_name_of_its_own_parameter),
               PROMISE(a_kernel_may_have_the_name_of_a_languages_function),
               PROMISE(all_of_them_can_be_prepared))
