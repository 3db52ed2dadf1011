/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_choose_refused.c
 *  A kernel that a device of META_MODE=auto refuses, since its compiler does or it lacks double
 *  precision, runs on the others, whatever the policy is, and the device is asked for it once. On
 *  simulated devices. */
/* TEST: labels=core */
#include "config.h"

#define META_KERNELS_HERE
#include "choose.kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "test.h"

enum { CELLS = 1 << 16, RUNS = 60 };

/* The GPU is the faster one, and the data would be there soon. */
#define CPU "cpu sync host rate=20G launch=1us "
#define GPU "gpu accelerator rate=500G launch=2us latency=2us bandwidth=12G "

static char launches[] = "/tmp/test_choose_refused.XXXXXX";
static void *array;
static meta_box box;

static bool start(const char *machine, const char *policy)
{
    const int64_t cells[] = {CELLS};
    const int ghosts[] = {0};
    static double zero[CELLS];
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_TEST_SIM", machine, 1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_TEST_SIM_LOG", launches, 1);
    setenv("META_LEARN", "off", 1);
    setenv("META_POLICY", policy, 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    unsetenv("META_RANK_MAP");
    unsetenv("META_CHECK");
    return CHECK_OK(meta_init()) &&
           CHECK_OK(meta_grid_alloc(&array, &box, 1, cells, ghosts, ghosts, META_F64)) &&
           CHECK_OK(meta_copy_h2d(array, zero, sizeof zero, NULL));
}

static void end(double expected)
{
    double host[CELLS];
    CHECK_OK(meta_copy_d2h(host, array, sizeof host, NULL));
    CHECK_NEAR(host[0], expected, 0);
    CHECK_NEAR(host[CELLS - 1], expected, 0);
    CHECK_OK(meta_free(array));
    CHECK_OK(meta_finalize());
}

/* Run @p body in a child process of which the log of launches begins empty. */
static void run(void (*body)(void *), void *argument)
{
    strcpy(launches + strlen(launches) - 6, "XXXXXX");
    const int file = mkstemp(launches);
    if (!CHECK(file >= 0)) return;
    close(file);
    CHECK_CHILD(body, argument);
}

/* Lines of the log of launches that are equal to @p line. */
static int logged(const char *line)
{
    char text[128];
    int count = 0;
    FILE *file = fopen(launches, "r");
    if (!CHECK(file != NULL)) return -1;
    while (fgets(text, sizeof text, file)) count += strcmp(text, line) == 0;
    fclose(file);
    return count;
}

/* ------------------------------------------------------------------ a compiler that refuses */

static void grow_and_shrink(void *policy)
{
    if (!start(CPU "; " GPU "refuses=grow", policy)) return;
    for (int k = 0; k < RUNS; ++k) {
        CHECK_OK(grow_f64(&box, array, 2, META_ASYNC));
        CHECK_OK(shrink_f64(&box, array, 1, META_ASYNC));
    }
    end(RUNS);
}

static void a_refused_kernel_runs_elsewhere_by_any_policy(void)
{
    static const char *const policies[] = {"cost",     "greedy",      "profile",  "locality",
                                           "device:1", "round_robin", "random:3", "type:gpu"};
    for (size_t k = 0; k < sizeof policies / sizeof *policies; ++k) {
        char policy[16];
        snprintf(policy, sizeof policy, "%s", policies[k]);
        run(grow_and_shrink, policy);
        const int asked = logged("gpu refuses grow\n"), others = logged("gpu shrink\n");
        test_case("META_POLICY=%s: asked %d times, %d others on the GPU", policy, asked, others);
        CHECK_INT(logged("cpu grow\n"), RUNS);
        CHECK(asked <= 1);
        if (strcmp(policy, "locality") != 0) CHECK_INT(asked, 1);
        if (strcmp(policy, "device:1") == 0) CHECK_INT(others, RUNS);
        unlink(launches);
    }
}

static int last(const meta_decision *decision, void *user)
{
    (void)user;
    return decision->candidates - 1;
}

static void grow_by_function(void *unused)
{
    (void)unused;
    if (!start(CPU "; " GPU "refuses=grow", "cost")) return;
    CHECK_OK(meta_set_policy_function(last, NULL, META_POLICY_THREAD));
    for (int k = 0; k < RUNS; ++k) CHECK_OK(grow_f64(&box, array, 1, META_ASYNC));
    end(RUNS);
}

static void a_policys_function_is_not_offered_the_device_again(void)
{
    run(grow_by_function, NULL);
    CHECK_INT(logged("cpu grow\n"), RUNS);
    CHECK_INT(logged("gpu refuses grow\n"), 1);
    unlink(launches);
}

/* Also where it is asked before the first launch. */
static void prepare_and_grow(void *unused)
{
    (void)unused;
    if (!start(CPU "; " GPU "refuses=grow", "device:1")) return;
    CHECK_OK(meta_kernel_prepare(&grow_f64_kernel));
    for (int k = 0; k < RUNS; ++k) CHECK_OK(grow_f64(&box, array, 1, META_ASYNC));
    end(RUNS);
}

static void a_kernel_that_one_device_can_run_is_prepared(void)
{
    run(prepare_and_grow, NULL);
    CHECK_INT(logged("cpu grow\n"), RUNS);
    CHECK_INT(logged("gpu refuses grow\n"), 1);
    unlink(launches);
}

static void grow_nowhere(void *unused)
{
    (void)unused;
    if (!start(CPU "refuses=grow; " GPU "refuses=grow", "round_robin")) return;
    CHECK_ERR_NAMES(meta_kernel_prepare(&grow_f64_kernel), META_ERR_DEVICE, "refuses kernel grow");
    for (int k = 0; k < 3; ++k)
        CHECK_ERR_NAMES(grow_f64(&box, array, 1, META_ASYNC), META_ERR_DEVICE,
                        "refuses kernel grow");
    CHECK_OK(shrink_f64(&box, array, 1, META_ASYNC));
    end(-1);
}

static void a_kernel_that_no_device_can_run_is_an_error(void)
{
    run(grow_nowhere, NULL);
    CHECK_INT(logged("cpu grow\n") + logged("gpu grow\n"), 0);
    unlink(launches);
}

/* ------------------------------------------------------------------ what is missing */

static void compute_without_double(void *unused)
{
    const double half = 0.5;
    double sum;
    (void)unused;
    if (!start(CPU "; " GPU "nof64", "device:1")) return;
    for (int k = 0; k < RUNS; ++k) {
        CHECK_OK(grow_f64(&box, array, 1, META_ASYNC));
        CHECK_OK(meta_fill_box(array, &box, &half, META_F64, META_ASYNC));
        CHECK_OK(meta_reduce(&sum, array, &box, META_SUM, META_F64, NULL));
        CHECK_NEAR(sum, 0.5 * CELLS, 0);
    }
    end(0.5);
}

static void double_precision_runs_where_it_is(void)
{
    run(compute_without_double, NULL);
    CHECK_INT(logged("cpu grow\n"), RUNS);
    CHECK_INT(logged("cpu reduce_sum\n"), RUNS);
    CHECK_INT(logged("gpu fill\n"), RUNS); /* which only moves bytes */
    unlink(launches);
}

/* ------------------------------------------------------------------ what is said */

static void a_warning_names_kernel_and_device(void)
{
    static char text[1 << 14];
    char policy[] = "device:1";
    strcpy(launches + strlen(launches) - 6, "XXXXXX");
    const int file = mkstemp(launches);
    if (!CHECK(file >= 0)) return;
    close(file);
    CHECK_CHILD_SAYS(grow_and_shrink, policy, text);
    CHECK_CONTAINS(text, "META_MODE=auto does not run kernel grow f64 on sim:1: ");
    CHECK_CONTAINS(text, "the compiler of device gpu refuses kernel grow");
    unlink(launches);
}

TEST_MAIN(PROMISE(a_refused_kernel_runs_elsewhere_by_any_policy),
          PROMISE(a_policys_function_is_not_offered_the_device_again),
          PROMISE(a_kernel_that_one_device_can_run_is_prepared),
          PROMISE(a_kernel_that_no_device_can_run_is_an_error),
          PROMISE(double_precision_runs_where_it_is), PROMISE(a_warning_names_kernel_and_device))
