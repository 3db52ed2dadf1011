/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_reserved.c
 *  A kernel file may use every name that C leaves to programs: those that the languages of devices
 *  reserve, and in macros those of variables in the library's text around the file. */
/* TEST: backends=all auto=yes labels=core */
/* TEST: backends=openmp,opencl labels=core with=CHECK=1 */
#define META_KERNELS_HERE
#include "user_reserved.kernel.h"
#undef s
#undef n
#undef r
#undef i
#undef k
#undef word
#undef layout
#undef base
#undef cell
#undef ndim
#undef min
#undef pair
#undef sign
#undef clamp

#include "test.h"

enum { CELLS = 24, MACROS = 1 + 2 + 3 + 4 + 5 + 6 + 8 + 9 };

static void a_kernel_of_cells_computes_what_it_says(void)
{
    const meta_box box = {1, {CELLS}, {1}, {CELLS - 1}};
    const struct private value = {{30, 0}, {0, 7}};
    const float2 pair = {0, 5};
    const int32_t added = 6;
    int32_t u[CELLS], expected[CELLS] = {0}, found[CELLS] = {0}, sum = 0, most = INT32_MIN;
    int32_t least = INT32_MAX, sum_found, most_found;
    meta_extreme_i32 place = {0};
    void *in, *out, *scalar;
    for (int c = 0; c < CELLS; ++c) u[c] = (37 * c) % 61 - 20;
    for (int c = 1; c < CELLS - 1; ++c) {
        const int32_t two = u[c - 1] + u[c + 1], clamped = two < 60 ? two : 60;
        const int32_t barrier = 7 * 5 + 30 + 4 * (0 + 1 + 2);
        expected[c] = barrier + 21 * (clamped < 0 ? -1 : 1) + added - u[c];
        sum += expected[c] + MACROS;
        if (expected[c] - 13 - 14 > most) most = expected[c] - 13 - 14;
        if (expected[c] < least) least = expected[c];
    }
    CHECK_OK(meta_alloc(&in, sizeof u));
    CHECK_OK(meta_alloc(&out, sizeof u));
    CHECK_OK(meta_alloc(&scalar, sizeof added));
    CHECK_OK(meta_copy_h2d(in, u, sizeof u, NULL));
    CHECK_OK(meta_copy_h2d(out, found, sizeof found, NULL));
    CHECK_OK(meta_copy_h2d(scalar, &added, sizeof added, NULL));
    CHECK_OK(kernel_i32(&box, out, in, value, pair, scalar, &sum_found, &most_found, &place, NULL));
    CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
    CHECK_ARRAY(found, expected, CELLS, META_I32);
    CHECK_INT(sum_found, sum);
    CHECK_INT(most_found, most);
    CHECK_INT(place.value, least);
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(scalar));
}

static void a_kernel_of_teams_does_too(void)
{
    const meta_box box = {1, {CELLS}, {0}, {CELLS}};
    int32_t u[CELLS], expected[CELLS], found[CELLS];
    void *in;
    for (int c = 0; c < CELLS; ++c) u[c] = 5 * c;
    for (int c = 0; c < CELLS; ++c) {
        const int32_t other = u[c / 4 * 4 + 3 - c % 4];
        expected[c] = other > 50 ? other : other + 100;
    }
    CHECK_OK(meta_alloc(&in, sizeof u));
    CHECK_OK(meta_copy_h2d(in, u, sizeof u, NULL));
    CHECK_OK(throw_i32(&box, in, NULL));
    CHECK_OK(meta_copy_d2h(found, in, sizeof found, NULL));
    CHECK_ARRAY(found, expected, CELLS, META_I32);
    CHECK_OK(meta_free(in));
}

/* Of both element types. */
static void all_of_them_can_be_prepared(void)
{
    CHECK_OK(meta_kernels_prepare(NULL, 0));
}

TEST_MAIN_WITH(&test_device, PROMISE(a_kernel_of_cells_computes_what_it_says),
               PROMISE(a_kernel_of_teams_does_too), PROMISE(all_of_them_can_be_prepared))
