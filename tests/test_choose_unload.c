/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_choose_unload.c
 *  A kernel that is loaded where an unloaded one was, at the same addresses, is a new one to
 *  META_MODE=auto: it inherits neither its times nor its place in a loop. On simulated devices,
 *  of which one is slow at the first kernel only. */
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

enum { CELLS = 1 << 16, RUNS = 200 };

/* The GPU is fast, but not at grow, so nothing that is known of grow would move its data there. */
static const char machine[] =
    "cpu sync host rate=20G launch=1us; "
    "gpu accelerator rate=500G launch=2us latency=2us bandwidth=12G grow=100";
static void *array;
static meta_box box;

static bool start(const char *policy, const char *log)
{
    const int64_t cells[] = {CELLS};
    const int ghosts[] = {0};
    static double zero[CELLS];
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", "sim", 1);
    setenv("META_THREADS", "1", 1);
    setenv("META_TEST_SIM", machine, 1);
    setenv("META_TEST_SIM_EAGER", "1", 1);
    setenv("META_TEST_SIM_LOG", log, 1);
    setenv("META_LEARN", "off", 1);
    setenv("META_POLICY", policy, 1);
    setenv("META_EXPLAIN", "on", 1);
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    unsetenv("META_RANK_MAP");
    unsetenv("META_CHECK");
    return CHECK_OK(meta_init()) &&
           CHECK_OK(meta_grid_alloc(&array, &box, 1, cells, ghosts, ghosts, META_F64)) &&
           CHECK_OK(meta_copy_h2d(array, zero, sizeof zero, NULL));
}

/* Lines of the log of launches that are equal to @p line. */
static int launches(const char *log, const char *line)
{
    char text[128];
    int count = 0;
    FILE *file = fopen(log, "r");
    if (!CHECK(file != NULL)) return -1;
    while (fgets(text, sizeof text, file)) count += strcmp(text, line) == 0;
    fclose(file);
    return count;
}

/* Where the allocator gives the second kernel the memory of the first one, as it does unless a
 * sanitizer keeps it, all that identifies a kernel by an address is wrong. */
static void replace_grow(void)
{
    meta_kernel_unregister(&grow_f64_kernel);
    CHECK_OK(shrink_f64(&box, array, 1, NULL));
}

static void run_both(void *policy)
{
    char log[] = "/tmp/test_choose_unload.XXXXXX";
    const int file = mkstemp(log);
    double host[CELLS];
    if (!CHECK(file >= 0) || !start(policy, log)) return;
    close(file);
    for (int n = 0; n < RUNS; ++n) CHECK_OK(grow_f64(&box, array, 1, NULL));
    replace_grow();
    for (int n = 1; n < RUNS; ++n) CHECK_OK(shrink_f64(&box, array, 1, NULL));
    CHECK_OK(meta_copy_d2h(host, array, sizeof host, NULL));
    CHECK_NEAR(host[CELLS - 1], 0, 0);
    CHECK_OK(meta_free(array));
    CHECK_OK(meta_finalize());
    const int cpu = launches(log, "cpu grow\n"), gpu = launches(log, "gpu shrink\n");
    unlink(log);
    test_case("META_POLICY=%s: %d of %d runs of grow on the CPU, %d of shrink on the GPU",
              (const char *)policy, cpu, RUNS, gpu);
    CHECK(cpu > RUNS * 9 / 10);
    CHECK(gpu > RUNS * 9 / 10);
}

static void keep_apart(char *policy)
{
    static char text[1 << 14];
    CHECK_CHILD_SAYS(run_both, policy, text);
    CHECK_CONTAINS(text, "libmeta: shrink f64, "); /* the kind of decision is new as well */
}

static void a_kernel_does_not_inherit_times(void)
{
    char policy[] = "profile";
    keep_apart(policy);
}

static void a_kernel_does_not_inherit_a_place_in_a_loop(void)
{
    char policy[] = "cost";
    keep_apart(policy);
}

TEST_MAIN(PROMISE(a_kernel_does_not_inherit_times),
          PROMISE(a_kernel_does_not_inherit_a_place_in_a_loop))
