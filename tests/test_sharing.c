/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_sharing.c
 *  Sharing a host-memory device: the application's own loops between the library's calls. */
/* TEST: backends=openmp labels=core */
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { NX = 40, NY = 30, CELLS = NX * NY, STEPS = 25 };
static const meta_box interior = {2, {NX, NY}, {1, 1}, {NX - 1, NY - 1}};

static double initial(int x, int y)
{
    return x * 7 % 13 + y * 5 % 11;
}

/* A boundary condition of the application's own: each wall mirrors the cell in front of it. */
static void mirror(double *grid)
{
    for (int y = 0; y < NY; ++y) {
        grid[NX * y] = grid[1 + NX * y];
        grid[NX - 1 + NX * y] = grid[NX - 2 + NX * y];
    }
    for (int x = 0; x < NX; ++x) {
        grid[x] = grid[x + NX];
        grid[x + NX * (NY - 1)] = grid[x + NX * (NY - 2)];
    }
}

static void step_plainly(double *out, const double *in)
{
    for (int y = 1; y < NY - 1; ++y)
        for (int x = 1; x < NX - 1; ++x) {
            const double *c = in + x + NX * y;
            out[x + NX * y] = ((((c[-1] + c[-NX]) + c[0]) + c[NX]) + c[1]) / 5;
        }
}

/* The worked example: stencils by the library, walls by a loop, on the program's own arrays. */
static void own_loops_between_calls_are_in_order(void)
{
    static double grid[2][CELLS], expected[2][CELLS];
    void *wrapped[2];
    for (int k = 0; k < CELLS; ++k) grid[0][k] = expected[0][k] = initial(k % NX, k / NX);
    for (int k = 0; k < 2; ++k)
        if (!CHECK_OK(meta_wrap(&wrapped[k], grid[k], sizeof grid[k], META_NATIVE_HOST))) return;
    for (int step = 0; step < STEPS; ++step) {
        double *in = grid[step % 2], *out = grid[1 - step % 2];
        CHECK_OK(meta_stencil(out, in, &interior, META_2D5P, META_F64, NULL, NULL));
        mirror(out);
        step_plainly(expected[1 - step % 2], expected[step % 2]);
        mirror(expected[1 - step % 2]);
    }
    CHECK_ARRAY(grid[STEPS % 2], expected[STEPS % 2], CELLS, META_F64);
    for (int k = 0; k < 2; ++k) CHECK_OK(meta_unwrap(wrapped[k]));
}

static void native_memory_can_be_used_outside_the_library(void)
{
    void *object = NULL;
    size_t offset = 0;
    double *p, found[CELLS], expected[CELLS];
    CHECK_OK(meta_alloc((void **)&p, sizeof found));
    CHECK_OK(meta_native(p + 10, &object, &offset));
    double *mine = (double *)(void *)((char *)object + offset) - 10;
    for (int k = 0; k < CELLS; ++k) mine[k] = expected[k] = k;
    CHECK_OK(meta_copy_d2h(found, p, sizeof found, NULL));
    CHECK_ARRAY(found, expected, CELLS, META_F64);
    CHECK_OK(meta_host_view(p + 10, &object));
    CHECK(object == mine + 10);
    CHECK_OK(meta_free(p));
}

static void there_are_no_native_objects(void)
{
    meta_state state = META_STATE_INIT;
    state.queue = &state;
    CHECK_OK(meta_get_state(0, META_OPENMP, &state));
    CHECK(!state.platform && !state.device && !state.context && !state.queue);
}

static void a_state_is_set_before_the_first_use(void)
{
    meta_state state = META_STATE_INIT;
    meta_mode mode = -1;
    CHECK_OK(meta_finalize());
    CHECK_OK(meta_init());
    state.context = &state;
    CHECK_ERR_NAMES(meta_set_state(0, META_OPENMP, &state), META_ERR_ARGUMENT, "state");
    state.context = NULL;
    CHECK_OK(meta_set_state(0, META_OPENMP, &state));
    CHECK_ERR_NAMES(meta_set_state(0, META_OPENMP, &state), META_ERR_STATE, "openmp:0");
    CHECK_OK(meta_get_acc(NULL, &mode));
    CHECK_INT(mode, META_OPENMP);
}

TEST_DEVICE_MAIN(PROMISE(own_loops_between_calls_are_in_order),
                 PROMISE(native_memory_can_be_used_outside_the_library),
                 PROMISE(there_are_no_native_objects), PROMISE(a_state_is_set_before_the_first_use))
