/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_words.c
 *  The words of arithmetic in the program's own kernels, given what is not of the element type. */
/* TEST: backends=all auto=yes labels=core */
#define META_KERNELS_HERE
#include "user_words.kernel.h"
#include "user_words_u32.kernel.h"

#include "test.h"

#include <string.h>

enum { CELLS = 100, MOST_ARRAYS = 6 };

static const meta_box box = {1, {CELLS}, {0}, {CELLS}};
static char *device[MOST_ARRAYS];

static bool make_arrays(void)
{
    for (int k = 0; k < MOST_ARRAYS; ++k)
        if (!CHECK_OK(meta_alloc((void **)&device[k], CELLS * 8))) return false;
    return true;
}

static void free_arrays(void)
{
    for (int k = 0; k < MOST_ARRAYS; ++k) CHECK_OK(meta_free(device[k]));
}

static void holds(int k, const void *expected, meta_type type)
{
    char found[CELLS * 8];
    size_t bytes = 8;
    CHECK_OK(meta_type_size(type, &bytes));
    CHECK_OK(meta_copy_d2h(found, device[k], CELLS * bytes, NULL));
    CHECK_ARRAY(found, expected, CELLS, type);
}

static void absolute_values_and_roots_are_of_the_element_type(void)
{
    static float x[CELLS];
    static double y[CELLS], root[2][CELLS], absolute[2][CELLS], rootf[CELLS];
    if (!make_arrays()) return;
    for (int k = 0; k < CELLS; ++k) {
        /* The absolute value of -0 is 0. */
        x[k] = k % 7 ? (float)(test_random_real() * 100) : 0;
        y[k] = k % 7 ? test_random_real() * 100 : 0;
        root[0][k] = sqrt((double)x[k]) / 3;
        root[0][k] += sqrt(y[k]);
        absolute[0][k] = (double)x[k] / 3;
        absolute[0][k] += y[k];
        volatile float third = sqrtf(x[k]) / 3;
        root[1][k] = (double)(third + sqrtf((float)y[k]));
        third = x[k] / 3;
        absolute[1][k] = (double)(third + (float)y[k]);
        rootf[k] = (double)(sqrtf((float)y[k]) + third);
    }
    CHECK_OK(meta_copy_h2d(device[3], x, sizeof x, NULL));
    CHECK_OK(meta_copy_h2d(device[4], y, sizeof y, NULL));
    for (int k = 0; k < 2; ++k) {
        test_case("%s", k ? "f32" : "f64");
        CHECK_OK((k ? lengths_f32 : lengths_f64)(&box, (void *)device[0], (void *)device[1],
                                                 (void *)device[2], (void *)device[3],
                                                 (void *)device[4], NULL));
        holds(0, root[k], META_F64);
        holds(1, absolute[k], META_F64);
        holds(2, rootf, META_F64);
    }
    free_arrays();
}

static void absolute_values_of_integers_are_of_the_element_type(void)
{
    static int64_t in[CELLS];
    static double of_i32[CELLS], of_u32[CELLS];
    if (!make_arrays()) return;
    for (int k = 0; k < CELLS; ++k) {
        in[k] = test_random_in(-1000, 1000);
        of_i32[k] = (double)(in[k] < 0 ? -in[k] : in[k]);
        of_u32[k] = (double)(uint32_t)in[k];
    }
    CHECK_OK(meta_copy_h2d(device[1], in, sizeof in, NULL));
    CHECK_OK(magnitude_i32(&box, (void *)device[0], (void *)device[1], NULL));
    holds(0, of_i32, META_F64);
    CHECK_OK(magnitude_u32(&box, (void *)device[0], (void *)device[1], NULL));
    holds(0, of_u32, META_F64);
    free_arrays();
}

static void the_limits_of_integers_are_known(void)
{
    static int64_t low[CELLS], high[CELLS];
    static uint64_t most[CELLS];
    static int32_t low32[CELLS], high32[CELLS];
    static uint32_t most32[CELLS];
    if (!make_arrays()) return;
    for (int k = 0; k < CELLS; ++k) {
        low[k] = INT64_MIN, high[k] = INT64_MAX, most[k] = UINT64_MAX;
        low32[k] = INT32_MIN, high32[k] = INT32_MAX, most32[k] = UINT32_MAX;
    }
    CHECK_OK(limits_f32(&box, (void *)device[0], (void *)device[1], (void *)device[2],
                        (void *)device[3], (void *)device[4], (void *)device[5], NULL));
    holds(0, low, META_I64);
    holds(1, high, META_I64);
    holds(2, most, META_U64);
    holds(3, low32, META_I32);
    holds(4, high32, META_I32);
    holds(5, most32, META_U32);
    free_arrays();
}

static void cells_that_do_not_divide_do_not_disturb_those_that_do(void)
{
    static uint32_t table[CELLS], expected[CELLS];
    if (!make_arrays()) return;
    for (uint32_t k = 0; k < CELLS; ++k) table[k] = 1000 + k;
    CHECK_OK(meta_copy_h2d(device[1], table, sizeof table, NULL));
    for (uint32_t b = 1; b < 9; ++b) {
        const uint32_t a = 30;
        uint32_t total = 0, sum = 0;
        test_case("element %u / %u", (unsigned)a, (unsigned)b);
        for (int k = 0; k < CELLS; ++k) sum += expected[k] = k % 3 == 1 ? table[a / b] : 0;
        CHECK_OK(quotient_u32(&box, (void *)device[0], (void *)device[1], a, b, &total, NULL));
        CHECK(total == sum);
        holds(0, expected, META_U32);
    }
    free_arrays();
}

static void arrays_of_a_cell_are_its_own(void)
{
    static uint32_t x[CELLS], expected[CELLS];
    if (!make_arrays()) return;
    for (uint32_t k = 0; k < CELLS; ++k) x[k] = 1 + k;
    CHECK_OK(meta_copy_h2d(device[1], x, sizeof x, NULL));
    for (uint32_t a = 0; a < 8; ++a) {
        test_case("element %u", (unsigned)a);
        for (uint32_t k = 0; k < CELLS; ++k)
            expected[k] = (k % 3 == 1 ? x[k] * (a + 1) : 0) + 100 * x[k] * ((a + 3) % 8 + 1);
        CHECK_OK(window_u32(&box, (void *)device[0], (void *)device[1], a, NULL));
        holds(0, expected, META_U32);
    }
    free_arrays();
}

TEST_DEVICE_MAIN(PROMISE(absolute_values_and_roots_are_of_the_element_type),
                 PROMISE(absolute_values_of_integers_are_of_the_element_type),
                 PROMISE(the_limits_of_integers_are_known),
                 PROMISE(cells_that_do_not_divide_do_not_disturb_those_that_do),
                 PROMISE(arrays_of_a_cell_are_its_own))
