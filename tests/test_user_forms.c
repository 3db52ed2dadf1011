/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_user_forms.c
 *  Where features of kernels meet: teams and reproducible sums with bodies in a back end's own
 *  language, and with the checks of META_CHECK=1. */
/* TEST: backends=all labels=core */
/* TEST: backends=openmp labels=core with=CHECK=1 */
/* TEST: backends=others labels=core with=CHECK=1 long=yes */
#define META_KERNELS_HERE
#include "user_forms.kernel.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 11, NY = 8, NZ = 6, CELLS = NX * NY * NZ };
static const meta_box box = {3, {NX, NY, NZ}, {1, 1, 1}, {NX - 1, NY - 1, NZ - 1}};
static const meta_box plane = {2, {NX, NY}, {0, 0}, {NX, NY}};
static const meta_box inner = {2, {NX, NY}, {1, 1}, {NX - 1, NY - 1}};

static bool is_checked(void)
{
    const char *check = getenv("META_CHECK");
    return check && (strcmp(check, "1") == 0 || strcmp(check, "on") == 0);
}

/* Whether the device's back end has a language of its own. */
static bool has_own(void)
{
    meta_mode mode = META_OPENMP;
    CHECK_OK(meta_get_acc(NULL, &mode));
    return mode == META_OPENCL || mode == META_CUDA || mode == META_HIP;
}

static bool is_opencl(void)
{
    meta_mode mode = META_OPENMP;
    CHECK_OK(meta_get_acc(NULL, &mode));
    return mode == META_OPENCL;
}

static float host[CELLS];

static float *make(void)
{
    void *device = NULL;
    for (int n = 0; n < CELLS; ++n) host[n] = (float)(n * 37 % 101);
    CHECK_OK(meta_alloc(&device, sizeof host));
    CHECK_OK(meta_copy_h2d(device, host, sizeof host, NULL));
    return device;
}

/* The number of the kernel file's line with that comment. */
static int line_of(const char *comment)
{
    const char *at = strstr(strays_f32_kernel.text, comment);
    int line = 1;
    for (const char *c = strays_f32_kernel.text; c < at; ++c) line += *c == '\n';
    return at ? line : -1;
}

/* ------------------------------------------------------------------ checks in teams */

static const struct {
    const char *array, *words;
    int64_t n;
} strayed[] = {
    {NULL, NULL, 0},
    {"all",
     "GET() of 'all' with index 528, but from the address of the call to the end of its "
     "buffer there are 528 elements",
     CELLS},
    {"in", "AT() of 'in' at (0, 2, 0, 0), beyond its reach, STAR(1)", 2},
    {"table", "GET() of 'table' with index -1, but from the address", -1},
    {"tile", "SHARED() of 'tile', element 24 of 24", 24},
    {"out", "AT() of 'out' at (0, 0, 1, 0), beyond its reach, the cell itself", 1},
};

static void members_that_leave_their_arrays_are_found_by_line_and_place(void)
{
    float *out = make(), *in = make(), *table = make(), *all = make();
    for (int wrong = 0; wrong < 6; ++wrong) {
        int64_t cells = -1;
        char line[160], comment[32];
        if (!is_checked() && wrong > 0) break;
        test_case("wrong %d", wrong);
        const meta_err error = strays_f32(&box, out, in, table, all, wrong,
                                          wrong ? strayed[wrong].n : 0, &cells, NULL);
        if (wrong == 0) {
            CHECK_OK(error);
            CHECK_INT(cells, (NX - 2) * (NY - 2) * (NZ - 2));
        } else {
            snprintf(comment, sizeof comment, "the line of %s", strayed[wrong].array);
            snprintf(line, sizeof line, "user_forms.kernel.h:%d: ", line_of(comment));
            CHECK_INT(error, META_ERR_BOUNDS);
            CHECK_CONTAINS(meta_last_error(), strayed[wrong].words);
            CHECK_CONTAINS(meta_last_error(), line);
            CHECK_CONTAINS(meta_last_error(), "META_CHECK: kernel strays f32");
        }
    }
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(table));
    CHECK_OK(meta_free(all));
}

static void a_member_that_does_not_write_its_cell_is_found(void)
{
    float *out = make(), *in = make();
    CHECK_OK(skips_f32(&box, out, in, 0, NULL));
    if (is_checked())
        CHECK_ERR_NAMES(skips_f32(&box, out, in, 1, NULL), META_ERR_ARGUMENT,
                        "kernel skips for f32 does not write every cell of its OUT array 'out': of "
                        "the box not 6, the first at (9, 4, 3)");
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

/* The same bits from the code that checks, at every place of a team. */
static void what_a_team_does_within_bounds_is_computed_as_ever(void)
{
    float *out = make(), *in = make(), *table = make(), *all = make(), found[CELLS];
    int64_t cells;
    CHECK_OK(strays_f32(&box, out, in, table, all, 1, 3, &cells, NULL));
    CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
    float expected[CELLS];
    memcpy(expected, host, sizeof expected);
    for (int n = 0; n < CELLS; ++n) {
        const int x = n % NX, y = n / NX % NY, z = n / NX / NY;
        if (x > 0 && x < NX - 1 && y > 0 && y < NY - 1 && z > 0 && z < NZ - 1)
            expected[n] = host[n] + host[3];
    }
    CHECK_ARRAY(found, expected, CELLS, META_F32);
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(table));
    CHECK_OK(meta_free(all));
}

/* ------------------------------------------------------------------ teams in own languages */

/* What `turned` computes; the teams at the ends have fewer members. */
static float turned_at(int x, int y, float mark)
{
    const int x0 = x / 5 * 5, y0 = y / 2 * 2;
    const int ex = NX - x0 < 5 ? NX - x0 : 5, ey = NY - y0 < 2 ? NY - y0 : 2;
    return host[x0 + (ex - 1 - (x - x0)) + NX * (y0 + (ey - 1 - (y - y0)))] + mark;
}

static void a_team_has_a_body_in_the_devices_language(void)
{
    float *out = make(), *in = make(), found[NX * NY];
    for (int turn = 0; turn < 3; ++turn) {
        const float mark = turn == 1 ? 2 : 0;
        const bool differs = turn == 1 && has_own() && is_checked();
        int64_t cells = -1;
        test_case("turn %d", turn);
        const meta_err error = turned_f32(&plane, out, in, mark, turn == 2, &cells, NULL);
        if (turn == 2 && has_own() && !is_checked()) continue; /* out of bounds */
        if (differs) {
            CHECK_INT(error, META_ERR_MISMATCH);
            CHECK_CONTAINS(meta_last_error(), "kernel turned for f32");
            CHECK_CONTAINS(meta_last_error(),
                           "array 'out' in 88 cells, of which the first, (0, 0)");
            CHECK_INT(cells, -1);
        } else if (turn == 2 && has_own()) {
            char line[160];
            snprintf(line, sizeof line,
                     "user_forms.kernel.h:%d: SHARED() of 'tile', element 10 of 10",
                     line_of(is_opencl() ? "the line of OpenCL" : "the line of GPUs"));
            CHECK_INT(error, META_ERR_BOUNDS);
            CHECK_CONTAINS(meta_last_error(), line);
        } else {
            CHECK_OK(error);
            CHECK_INT(cells, NX * NY);
        }
        if (turn == 2) continue;
        CHECK_OK(meta_copy_d2h(found, out, sizeof found, NULL));
        for (int n = 0; n < NX * NY; ++n)
            if (!CHECK(found[n] == turned_at(n % NX, n / NX, has_own() ? mark : 0))) break;
    }
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

/* ------------------------------------------------------------------ exact sums */

/* @p off: what the own body adds to one cell's contribution, so little that a sum in any order
 * could differ by more. The numbers are integers, so that their sums are exact in double. */
static void totals_are_right(double off, int32_t reach)
{
    const bool own = has_own(), differs = off != 0 && own && is_checked();
    float *out = make(), *in = make();
    double expected = own ? off : 0;
    float wanted = 0;
    void *place = NULL;
    CHECK_OK(meta_alloc(&place, sizeof expected));
    for (int n = NX * NY; n < 2 * NX * NY; ++n) {
        const int x = n % NX, y = n / NX % NY;
        if (x == 0 || x == NX - 1 || y == 0 || y == NY - 1) continue;
        expected += (double)host[n] * 1e10;
        wanted += host[n];
    }
    for (int device = 0; device < 2; ++device) {
        double total = -1;
        float most = -1, narrow = -1;
        test_case("off %g, reach %d, the sum on the %s", off, (int)reach,
                  device ? "device" : "host");
        /* The arrays have rows in front of and behind the plane. */
        const meta_err error = totals_f32(&inner, out + NX * NY, in + NX * NY, off, reach,
                                          device ? (double *)place : &total, &most, &narrow, NULL);
        if (reach > 1 && is_checked()) {
            CHECK_INT(error, META_ERR_BOUNDS);
            CHECK_CONTAINS(meta_last_error(), "AT() of 'in' at (2, 0, 0, 0), beyond its reach");
            continue;
        }
        if (differs) {
            CHECK_INT(error, META_ERR_MISMATCH);
            CHECK_CONTAINS(meta_last_error(), "result 'total' is ");
            CHECK(total == -1 && most == -1); /* results are written on success only */
            continue;
        }
        CHECK_OK(error);
        if (device) CHECK_OK(meta_copy_d2h(&total, place, sizeof total, NULL));
        CHECK(total == expected);
        CHECK(narrow == wanted && most > 90);
    }
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
    CHECK_OK(meta_free(place));
}

static void exact_sums_are_those_of_the_own_body_and_compared_bit_by_bit(void)
{
    CHECK_OK(meta_set_reproducible(1));
    totals_are_right(0, 0);
    totals_are_right(0, 1);
    totals_are_right(1, 0);
    totals_are_right(0, 2);
    totals_are_right(0, 1);
    CHECK_OK(meta_set_reproducible(0));
}

/* The same of teams. A contribution is exact in double, and so is the sum. */
static void team_totals_are_right(double off, int32_t reach)
{
    const bool own = has_own(), differs = off != 0 && own && is_checked();
    float *out = make(), *in = make();
    double expected = own ? off : 0, total = -1;
    int64_t cells = -1;
    for (int n = NX * NY; n < 2 * NX * NY; ++n) {
        const int x = n % NX, y = n / NX % NY;
        if (x == 0 || x == NX - 1 || y == 0 || y == NY - 1) continue;
        expected += (double)host[n] * 1e10 - (double)host[n];
    }
    test_case("off %g, reach %d", off, (int)reach);
    const meta_err error =
        shares_f32(&inner, out + NX * NY, in + NX * NY, off, reach, &total, &cells, NULL);
    if (reach > 1 && is_checked()) {
        CHECK_INT(error, META_ERR_BOUNDS);
        CHECK_CONTAINS(meta_last_error(), "AT() of 'in' at (2, 0, 0, 0), beyond its reach");
    } else if (differs) {
        CHECK_INT(error, META_ERR_MISMATCH);
        CHECK_CONTAINS(meta_last_error(), "result 'total' is ");
        CHECK(total == -1 && cells == -1);
    } else {
        CHECK_OK(error);
        CHECK(total == expected);
        CHECK_INT(cells, (NX - 2) * (NY - 2));
    }
    CHECK_OK(meta_free(out));
    CHECK_OK(meta_free(in));
}

static void exact_sums_of_teams_are_compared_and_checked_as_well(void)
{
    CHECK_OK(meta_set_reproducible(1));
    team_totals_are_right(0, 0);
    team_totals_are_right(1, 0);
    team_totals_are_right(0, 2);
    team_totals_are_right(0, 1);
    CHECK_OK(meta_set_reproducible(0));
}

TEST_DEVICE_MAIN(PROMISE(members_that_leave_their_arrays_are_found_by_line_and_place),
                 PROMISE(a_member_that_does_not_write_its_cell_is_found),
                 PROMISE(what_a_team_does_within_bounds_is_computed_as_ever),
                 PROMISE(a_team_has_a_body_in_the_devices_language),
                 PROMISE(exact_sums_are_those_of_the_own_body_and_compared_bit_by_bit),
                 PROMISE(exact_sums_of_teams_are_compared_and_checked_as_well))
