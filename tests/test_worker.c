/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_worker.c
 *  With META_MODE=auto a kernel of the CPU does not hold up what is queued behind it on other
 *  devices. A kernel on the CPU waits at a gate that the program opens later, and notes which
 * thread ran it; the other device is simulated. */
/* TEST: backends=openmp labels=core */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* The gate: shut, kernels wait there for PATIENCE seconds; open, for `least` nanoseconds. */
enum { PATIENCE = 20 };
static atomic_bool is_open;
static _Atomic int64_t least;
static atomic_bool ran_on_caller;
static pthread_t caller;

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* One more; -1: the gate was not opened. */
static double pass_gate(double x)
{
    const int64_t begin = now();
    ran_on_caller = pthread_equal(pthread_self(), caller) != 0;
    while (now() - begin < least || !is_open)
        if (now() - begin > PATIENCE * INT64_C(1000000000)) return -1;
    return x + 1;
}

#define META_KERNELS_HERE
#include "worker.kernel.h"

#include "child.h"
#include "test.h"

static void *x, *y;
static meta_box box;

/* ------------------------------------------------------------------ a program */

static bool start(const char *worker)
{
    const int64_t cells[] = {1};
    const int ghosts[] = {0};
    const double zero = 0;
    caller = pthread_self();
    is_open = true;
    least = 0;
    setenv("META_MODE", "auto", 1);
    setenv("META_AUTO_DEVICES", "openmp,sim", 1);
    setenv("META_TEST_SIM", "gpu rate=10G launch=1us latency=1us bandwidth=1G", 1);
    unsetenv("META_TEST_SIM_EAGER"); /* as late as their order permits */
    setenv("META_BACKEND_PATH", test_built("tests/plugins/.libs"), 1);
    setenv("META_TEST_WORKER", worker, 1);
    setenv("META_LEARN", "off", 1);
    unsetenv("META_RANK_MAP");
    unsetenv("META_CHECK");
    return CHECK_OK(meta_init()) &&
           CHECK_OK(meta_grid_alloc(&x, &box, 1, cells, ghosts, ghosts, META_F64)) &&
           CHECK_OK(meta_grid_alloc(&y, &box, 1, cells, ghosts, ghosts, META_F64)) &&
           CHECK_OK(meta_copy_h2d(x, &zero, sizeof zero, NULL)) &&
           CHECK_OK(meta_copy_h2d(y, &zero, sizeof zero, NULL));
}

static void stop(void)
{
    CHECK_OK(meta_free(x));
    CHECK_OK(meta_free(y));
    CHECK_OK(meta_finalize());
}

static double value(const void *array)
{
    double found = -2;
    CHECK_OK(meta_copy_d2h(&found, array, sizeof found, NULL));
    return found;
}

static void gate_on_cpu(meta_event *done)
{
    CHECK_OK(meta_set_policy("type:openmp", META_POLICY_CALL));
    CHECK_OK(gate_f64(&box, x, done));
}

static void twice_on_gpu(meta_event *done)
{
    CHECK_OK(meta_set_policy("device:1", META_POLICY_CALL));
    CHECK_OK(twice_f64(&box, y, x, done));
}

static void other_kernel_on_gpu(void)
{
    const double half = 0.5;
    CHECK_OK(meta_set_policy("device:1", META_POLICY_CALL));
    CHECK_OK(meta_axpy(y, &half, y, &box, META_F64, NULL));
}

/* ------------------------------------------------------------------ promises */

static void run_beside(void *unused)
{
    (void)unused;
    if (!start("on")) return;
    is_open = false;
    gate_on_cpu(META_ASYNC);
    other_kernel_on_gpu(); /* it is complete, and the CPU's kernel is not */
    is_open = true;
    CHECK_NEAR(value(x), 1, 0);
    CHECK(!ran_on_caller);
    stop();
}

static void work_of_other_devices_runs_beside_a_kernel_of_the_cpu(void)
{
    CHECK_CHILD(run_beside, NULL);
}

static void *open_later(void *unused)
{
    const struct timespec a_while = {0, 50000000};
    nanosleep(&a_while, NULL);
    is_open = true;
    return unused;
}

/* Kernels of both devices, each behind the other's; the gate opens when all are queued, or while
 * the program waits to queue them. */
static void run_behind(void *unused)
{
    enum { ROUNDS = 20 };
    pthread_t opener;
    (void)unused;
    if (!start("on")) return;
    for (int n = 0; n < ROUNDS; ++n) {
        is_open = false;
        CHECK_INT(pthread_create(&opener, NULL, open_later, NULL), 0);
        gate_on_cpu(META_ASYNC);
        twice_on_gpu(META_ASYNC);
        gate_on_cpu(META_ASYNC);
        pthread_join(opener, NULL);
        CHECK_NEAR(value(y), 2 * (2 * n + 1), 0);
        CHECK_NEAR(value(x), 2 * n + 2, 0);
    }
    stop();
}

static void each_device_waits_for_what_the_other_writes(void)
{
    CHECK_CHILD(run_behind, NULL);
}

static void *use_gpu(void *unused)
{
    other_kernel_on_gpu();
    is_open = true;
    return unused;
}

/* One thread waits for the CPU: by the call itself, or for all work. */
static void run_threads(void *unused)
{
    pthread_t other;
    (void)unused;
    if (!start("on")) return;
    for (int n = 0; n < 2; ++n) {
        is_open = false;
        if (n == 1) gate_on_cpu(META_ASYNC);
        CHECK_INT(pthread_create(&other, NULL, use_gpu, NULL), 0);
        if (n == 0) gate_on_cpu(NULL);
        else CHECK_OK(meta_flush());
        pthread_join(other, NULL);
        CHECK_NEAR(value(x), n + 1, 0);
    }
    stop();
}

static void a_thread_that_waits_holds_no_other_one_up(void)
{
    CHECK_CHILD(run_threads, NULL);
}

static void run_many(void *unused)
{
    enum { MANY = 3000 };
    (void)unused;
    if (!start("on")) return;
    for (int n = 0; n < MANY; ++n) gate_on_cpu(META_ASYNC);
    CHECK_NEAR(value(x), MANY, 0);
    stop();
}

static void any_number_of_kernels_can_be_queued(void)
{
    CHECK_CHILD(run_many, NULL);
}

static void run_to_the_end(void *unused)
{
    pthread_t opener;
    double host = 0;
    meta_event done;
    (void)unused;
    if (!start("on")) return;
    is_open = false;
    gate_on_cpu(META_ASYNC);
    CHECK_OK(meta_copy_d2h(&host, x, sizeof host, &done));
    CHECK_INT(pthread_create(&opener, NULL, open_later, NULL), 0);
    stop();
    CHECK_NEAR(host, 1, 0);
    pthread_join(opener, NULL);
}

static void what_is_queued_is_complete_before_the_library_ends(void)
{
    CHECK_CHILD(run_to_the_end, NULL);
}

/* What is handed over: what takes long, if nobody waits for it at once, while the GPU is in use. */
static void run_unforced(void *unused)
{
    enum { MILLISECOND = 1000000, RUNS = 6, LONG_AGO = 1000 };
    (void)unused;
    if (!start("auto")) return;
    for (int n = 0; n < RUNS; ++n) gate_on_cpu(META_ASYNC);
    other_kernel_on_gpu();
    gate_on_cpu(META_ASYNC);
    CHECK_NEAR(value(x), RUNS + 1, 0);
    CHECK(ran_on_caller); /* short */
    least = MILLISECOND;
    for (int n = 0; n < 4 * RUNS; ++n) gate_on_cpu(NULL);
    other_kernel_on_gpu();
    gate_on_cpu(NULL);
    CHECK(ran_on_caller); /* waited for */
    gate_on_cpu(META_ASYNC);
    CHECK_NEAR(value(x), 5 * RUNS + 3, 0);
    CHECK(!ran_on_caller);
    for (int n = 0; n < LONG_AGO; ++n) value(x);
    gate_on_cpu(META_ASYNC);
    CHECK_NEAR(value(x), 5 * RUNS + 4, 0);
    CHECK(ran_on_caller); /* the GPU has not been used for long */
    stop();
}

static void only_what_is_worth_it_is_handed_over(void)
{
    CHECK_CHILD(run_unforced, NULL);
}

static void run_off(void *unused)
{
    (void)unused;
    if (!start("off")) return;
    gate_on_cpu(META_ASYNC);
    CHECK(ran_on_caller);
    stop();
    setenv("META_TEST_WORKER", "perhaps", 1);
    CHECK_ERR_NAMES(meta_init(), META_ERR_ENVIRONMENT, "META_TEST_WORKER=perhaps");
}

static void the_worker_can_be_turned_off(void)
{
    CHECK_CHILD(run_off, NULL);
}

TEST_MAIN(PROMISE(work_of_other_devices_runs_beside_a_kernel_of_the_cpu),
          PROMISE(each_device_waits_for_what_the_other_writes),
          PROMISE(a_thread_that_waits_holds_no_other_one_up),
          PROMISE(any_number_of_kernels_can_be_queued),
          PROMISE(what_is_queued_is_complete_before_the_library_ends),
          PROMISE(only_what_is_worth_it_is_handed_over), PROMISE(the_worker_can_be_turned_off))
