/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_choose.c
 *  The policy cost of META_MODE=auto is never much worse than the best device alone. Workloads run
 *  on simulated machines, whose virtual time is exact, with all work on each device in turn and
 *  with devices chosen by cost. */
/* TEST: backends=any labels=core */
#include "config.h"

#define META_KERNELS_HERE
#include "choose.kernel.h"

#include <stdio.h>
#include <stdlib.h>

#include "child.h"
#include "simulated.h"
#include "test.h"

enum { GROUPS = 2, BUFFERS = 5, DEVICES = 4, LEARNING = 12, WORDS = 128 };

/** Buffers of one shape, filled from the host before the first step. */
typedef struct group {
    meta_box box;
    void *buffer[BUFFERS];
    double *initial;
} group;

typedef struct workload {
    const char *name;
    struct {
        int ndim, buffers;
        int64_t cells; /**< in each dimension, without one ghost cell on each side */
    } shape[GROUPS];
    void (*step)(group *g, int k);
    int steps;         /**< of a half */
    const char *first; /**< more words for a machine's first device, such as factors of kernels */
    const char *other; /**< and for the others */
} workload;

typedef struct machine {
    const char *name;
    const char *device[DEVICES]; /**< as in META_TEST_SIM */
} machine;

/** What is promised of a workload on a machine. */
typedef struct promised {
    const workload *workload;
    const machine *machine;
    double slow_us;  /**< when its second device becomes slower, in the first half; 0: never */
    double until_us; /**< when it is as fast again, in the first half; 0: never */
    double ratio;    /**< of the best device's time; 0: 1.05 */
} promised;

/* ------------------------------------------------------------------ workloads */

static const double half = 0.5;

static void stencil_and_reduce(group *g, int k)
{
    double sum;
    CHECK_OK(meta_stencil(g->buffer[(k + 1) % 2], g->buffer[k % 2], &g->box, META_3D7P, META_F64,
                          NULL, META_ASYNC));
    if (k % 5 == 4)
        CHECK_OK(meta_reduce(&sum, g->buffer[(k + 1) % 2], &g->box, META_SUM, META_F64, NULL));
}

/* Each group has arrays of its own. */
static void axpy_each(group *g, int k)
{
    (void)k;
    for (int n = 0; n < GROUPS; ++n)
        CHECK_OK(meta_axpy(g[n].buffer[0], &half, g[n].buffer[1], &g[n].box, META_F64, META_ASYNC));
}

/* The calls of a step of conjugate gradients for A p = b, with coefficients that keep numbers
 * small. */
static void conjugate_gradients(group *g, int k)
{
    void *p = g->buffer[0], *ap = g->buffer[1], *r = g->buffer[2], *x = g->buffer[3];
    double dot;
    (void)k;
    CHECK_OK(meta_stencil(ap, p, &g->box, META_3D7P, META_F64, NULL, META_ASYNC));
    CHECK_OK(meta_dot(&dot, p, ap, &g->box, META_F64, NULL));
    CHECK_OK(meta_axpy(x, &half, p, &g->box, META_F64, META_ASYNC));
    CHECK_OK(meta_axpy(r, &half, ap, &g->box, META_F64, META_ASYNC));
    CHECK_OK(axpby_f64(&g->box, p, 0.25, r, 0.25, META_ASYNC));
}

/* Now and then a sum and a copy to the host come between. */
static void gradients_interrupted(group *g, int k)
{
    double sum;
    conjugate_gradients(g, k);
    if (k % 17 != 16) return;
    CHECK_OK(meta_reduce(&sum, g->buffer[3], &g->box, META_SUM, META_F64, NULL));
    CHECK_OK(meta_copy_d2h(g->initial, g->buffer[0], 4096, NULL));
}

static void grow_and_shrink(group *g, int k)
{
    (void)k;
    CHECK_OK(grow_f64(&g->box, g->buffer[0], half, META_ASYNC));
    CHECK_OK(shrink_f64(&g->box, g->buffer[0], half, META_ASYNC));
}

/* Of unlike kernels; the first steps are of another one, with data of its own, which tells how fast
 * a device is otherwise. */
static void many_kernels(group *g, int k)
{
    void *a = g->buffer[0], *b = g->buffer[1];
    double result[2];
    if (k < LEARNING) {
        CHECK_OK(grow_f64(&g[1].box, g[1].buffer[0], half, META_ASYNC));
        return;
    }
    CHECK_OK(meta_axpy(a, &half, b, &g->box, META_F64, META_ASYNC));
    CHECK_OK(axpby_f64(&g->box, b, half, a, half, META_ASYNC));
    CHECK_OK(shrink_f64(&g->box, a, half, META_ASYNC));
    CHECK_OK(meta_stencil(b, a, &g->box, META_3D7P, META_F64, NULL, META_ASYNC));
    CHECK_OK(meta_stencil(a, b, &g->box, META_3D27P, META_F64, NULL, META_ASYNC));
    CHECK_OK(meta_reduce(&result[0], a, &g->box, META_MAX, META_F64, NULL));
    CHECK_OK(meta_dot(&result[1], a, b, &g->box, META_F64, NULL));
}

/* All but grow. */
#define SLOW_KERNELS                                                                               \
    "axpy=200 axpby=200 shrink=200 stencil_3d7p=200 stencil_3d27p=200 reduce_max=200 dot=200"

static const workload stencil_large = {
    .name = "a stencil of 64^3", .shape = {{3, 2, 64}}, .step = stencil_and_reduce, .steps = 100};
static const workload stencil_small = {
    .name = "a stencil of 12^3", .shape = {{3, 2, 12}}, .step = stencil_and_reduce, .steps = 400};
static const workload axpy_mixed = {.name = "axpy of 1e3 and of 1e6",
                                    .shape = {{1, 2, 1000}, {1, 2, 1000000}},
                                    .step = axpy_each,
                                    .steps = 30};
/* A GPU whose first launch takes 500 times as long has the large one first: that is the one which
 * the policy tries there, and what it costs depends on its size. */
static const workload axpy_large_first = {.name = "axpy of 1e6 and of 1e3",
                                          .shape = {{1, 2, 1000000}, {1, 2, 1000}},
                                          .step = axpy_each,
                                          .steps = 30};
/* Small enough for the many steps that it takes to notice that a device has slowed down. */
static const workload axpy_smaller = {.name = "axpy of 1e3 and of 1e5",
                                      .shape = {{1, 2, 1000}, {1, 2, 100000}},
                                      .step = axpy_each,
                                      .steps = 150};
static const workload gradients = {.name = "conjugate gradients of 32^3",
                                   .shape = {{3, 4, 32}},
                                   .step = conjugate_gradients,
                                   .steps = 150};
static const workload interrupted = {.name = "interrupted conjugate gradients of 32^3",
                                     .shape = {{3, 4, 32}},
                                     .step = gradients_interrupted,
                                     .steps = 170};
/* So many steps that it pays to try a device again that was slower. */
static const workload gradients_long = {.name = "many conjugate gradients of 32^3",
                                        .shape = {{3, 4, 32}},
                                        .step = conjugate_gradients,
                                        .steps = 1000};
static const workload axpy_smaller_first = {.name = "axpy of 1e5 and of 1e3",
                                            .shape = {{1, 2, 100000}, {1, 2, 1000}},
                                            .step = axpy_each,
                                            .steps = 150};
/* With each kernel where it is fast, a step takes tens of microseconds, most of it for moving the
 * data; on one device it takes hundreds. */
static const workload opposed_small = {.name = "opposed kernels over 2e3",
                                       .shape = {{1, 1, 2000}},
                                       .step = grow_and_shrink,
                                       .steps = 200,
                                       .first = "grow=100",
                                       .other = "shrink=40"};
static const workload kernels_slow_elsewhere = {.name = "kernels that are slow elsewhere",
                                                .shape = {{3, 2, 32}, {3, 1, 32}},
                                                .step = many_kernels,
                                                .steps = 1500,
                                                .other = SLOW_KERNELS};
/* Moving the data takes longer than it saves. */
static const workload opposed_large = {.name = "opposed kernels over 3e5",
                                       .shape = {{1, 1, 300000}},
                                       .step = grow_and_shrink,
                                       .steps = 60,
                                       .first = "grow=1.5",
                                       .other = "shrink=20"};

/* ------------------------------------------------------------------ machines */

#define CPU "cpu sync host rate=20G launch=1us"
#define GPU "gpu rate=500G launch=8us latency=10us bandwidth=12G"
static const machine workstation = {"a workstation", {CPU, GPU}};
static const machine laptop = {
    "a laptop",
    {"cpu sync host rate=10G launch=1us", "igpu rate=12G launch=15us latency=5us bandwidth=8G"}};
static const machine four_unlike = {
    "four unlike devices",
    {CPU, "igpu rate=40G launch=12us latency=5us bandwidth=8G",
     "gpu rate=500G launch=8us latency=10us bandwidth=12G peer=50G",
     "old rate=150G launch=10us latency=15us bandwidth=6G peer=50G"}};
static const machine slow_start = {"a GPU that compiles kernels", {CPU, GPU " first=500"}};
static const machine slows_down = {"a GPU that slows down", {CPU, GPU}};
static const machine slower_gpu = {"a GPU that is slower",
                                   {CPU, "gpu rate=2G launch=8us latency=10us bandwidth=12G"}};
static const machine recovers = {"a GPU that slows down for a while", {CPU, GPU}};

/* ------------------------------------------------------------------ a life of the library */

static void start(const workload *w, group *g)
{
    for (int n = 0; n < GROUPS && w->shape[n].buffers > 0; ++n) {
        const int64_t c = w->shape[n].cells, cells[3] = {c, c, c};
        const int ghosts[3] = {1, 1, 1};
        size_t bytes = 0;
        for (int k = 0; k < w->shape[n].buffers; ++k) {
            if (!CHECK_OK(meta_grid_alloc(&g[n].buffer[k], &g[n].box, w->shape[n].ndim, cells,
                                          ghosts, ghosts, META_F64)))
                return;
            if (k == 0) {
                bytes = sizeof(double);
                for (int d = 0; d < g[n].box.ndim; ++d) bytes *= (size_t)g[n].box.size[d];
                g[n].initial = calloc(1, bytes);
            }
            CHECK_OK(meta_copy_h2d(g[n].buffer[k], g[n].initial, bytes, NULL));
        }
    }
}

static void end(const workload *w, group *g)
{
    CHECK_OK(meta_flush());
    for (int n = 0; n < GROUPS; ++n) {
        for (int k = 0; k < w->shape[n].buffers; ++k) CHECK_OK(meta_free(g[n].buffer[k]));
        free(g[n].initial);
    }
}

static const char *report = ""; /* of the devices, on their last life */

/* Microseconds of @p steps steps. */
static double life(const workload *w, const char *policy, int steps)
{
    group g[GROUPS] = {0};
    const long before = test_failures();
    if (!simulated_report_begin()) return 0;
    setenv("META_POLICY", policy, 1);
    if (CHECK_OK(meta_init())) {
        start(w, g);
        for (int k = 0; k < steps && test_failures() == before; ++k) w->step(g, k);
        end(w, g);
        CHECK_OK(meta_finalize());
    }
    report = simulated_report_end();
    const double time = simulated_number(report, "time_us ");
    CHECK(time > 0);
    return time;
}

/* ------------------------------------------------------------------ comparison */

/** Microseconds with one policy. */
typedef struct times {
    double start;    /**< data from the host, and no step */
    double learning; /**< and the first LEARNING steps */
    double second;   /**< the second half */
    double whole;
} times;

static times measure(const workload *w, const char *policy)
{
    times t;
    t.start = life(w, policy, 0);
    t.learning = life(w, policy, LEARNING);
    t.second = -life(w, policy, w->steps);
    t.whole = life(w, policy, 2 * w->steps);
    t.second += t.whole;
    return t;
}

/** What a workload takes on a machine, with all work on each device and with devices chosen. */
typedef struct comparison {
    int devices;
    int best_second,
        best_whole; /**< the devices that are fastest in the second half, in the whole */
    times device[DEVICES], cost;
} comparison;

/* @return how many devices the machine has */
static int set_machine(const promised *p)
{
    char text[DEVICES * WORDS] = "";
    size_t used = 0;
    int devices = 0;
    for (; devices < DEVICES && p->machine->device[devices]; ++devices) {
        const char *more = devices == 0 ? p->workload->first : p->workload->other;
        char slow[64] = "";
        if (devices == 1 && p->slow_us > 0)
            snprintf(slow, sizeof slow, "slow=%.0fus:20 until=%.0fus", p->slow_us,
                     p->until_us > 0 ? p->until_us : 1e12);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s; ",
                                 p->machine->device[devices], more ? more : "", slow);
    }
    simulated_set(text, NULL);
    return devices;
}

static comparison measure_all(const promised *p)
{
    comparison c = {.devices = set_machine(p)};
    for (int d = 0; d < c.devices; ++d) {
        char policy[32];
        snprintf(policy, sizeof policy, "device:%d", d);
        c.device[d] = measure(p->workload, policy);
        if (c.device[d].second < c.device[c.best_second].second) c.best_second = d;
        if (c.device[d].whole < c.device[c.best_whole].whole) c.best_whole = d;
    }
    c.cost = measure(p->workload, "cost");
    return c;
}

/* Learning may cost what LEARNING steps take on each of the other devices, with first launches and
 * the copies of the data to them. It may cost two more such copies, which is what it takes to be
 * sure that moving the data pays. Where a device slows down, the steps until most of the runs
 * remembered are slow ones are added: four of seven runs, of which one call in sixteen is timed. */
static double allowance(const promised *p, const comparison *c)
{
    enum { UNTIL_SLOW = 4 * 16 };
    double sum = 0, copies = 0;
    for (int d = 0; d < c->devices; ++d) {
        if (d != c->best_whole) sum += c->device[d].learning;
        if (c->device[d].start > copies) copies = c->device[d].start;
    }
    if (p->slow_us > 0) sum += UNTIL_SLOW * c->device[1].second / p->workload->steps;
    return sum + 2 * copies;
}

static void compare(void *argument)
{
    const promised *p = argument;
    const long before = test_failures();
    const double ratio = p->ratio > 0 ? p->ratio : 1.05;
    test_case("%s on %s", p->workload->name, p->machine->name);
    const comparison c = measure_all(p);
    const double second = c.device[c.best_second].second, whole = c.device[c.best_whole].whole;
    const double learning = allowance(p, &c);
    test_case("%s on %s: the second half takes %.3f of device %d's (%.0f us), the whole %.3f of "
              "device %d's (%.0f us, %.0f more are for learning); in the whole\n%s",
              p->workload->name, p->machine->name, c.cost.second / second, c.best_second, second,
              c.cost.whole / whole, c.best_whole, whole, learning, report);
    if (test_failures() > before) return;
    if (p->slow_us > 0) { /* else the halves are not what the case says */
        CHECK(c.device[1].whole - c.device[1].second > p->slow_us);
        CHECK(c.cost.whole - c.cost.second > p->slow_us);
    }
    CHECK(c.cost.second <= ratio * second);
    /* Trials may take only a small part of the time, so a device that recovers is found late. */
    if (p->until_us == 0) CHECK(c.cost.whole <= ratio * whole + learning);
}

/* Each in a process of its own, since modules are never unloaded. */
static void hold(const promised *p, size_t count)
{
    for (size_t k = 0; k < count; ++k) {
        promised one = p[k];
        CHECK_CHILD(compare, &one);
    }
}

#define PAIR(of, on, ...)                                                                          \
    {                                                                                              \
        .workload = &(of), .machine = &(on), __VA_ARGS__                                           \
    }
#define HOLD(...)                                                                                  \
    do {                                                                                           \
        static const promised list[] = {__VA_ARGS__};                                              \
        hold(list, sizeof list / sizeof *list);                                                    \
    } while (0)

/* ------------------------------------------------------------------ promises */

static void a_large_stencil_costs_no_more_than_on_the_best_device(void)
{
    HOLD(PAIR(stencil_large, workstation), PAIR(stencil_large, laptop),
         PAIR(stencil_large, four_unlike), PAIR(stencil_large, slow_start),
         PAIR(stencil_large, slows_down, .slow_us = 1e3, .ratio = 1.15));
}

/* What a launch costs decides. */
static void a_small_stencil_costs_no_more_than_on_the_best_device(void)
{
    HOLD(PAIR(stencil_small, workstation), PAIR(stencil_small, laptop),
         PAIR(stencil_small, four_unlike), PAIR(stencil_small, slow_start),
         PAIR(stencil_small, slows_down, .slow_us = 1e3, .ratio = 1.15));
}

static void arrays_of_two_sizes_cost_no_more_than_on_the_best_device(void)
{
    HOLD(PAIR(axpy_mixed, workstation), PAIR(axpy_mixed, laptop), PAIR(axpy_mixed, four_unlike),
         PAIR(axpy_large_first, slow_start),
         PAIR(axpy_smaller, slows_down, .slow_us = 2e3, .ratio = 1.15),
         PAIR(axpy_smaller_first, slows_down, .slow_us = 2e3, .ratio = 1.15));
}

static void conjugate_gradients_cost_no_more_than_on_the_best_device(void)
{
    HOLD(PAIR(gradients, workstation), PAIR(gradients, laptop), PAIR(gradients, four_unlike),
         PAIR(gradients, slow_start), PAIR(gradients, slows_down, .slow_us = 5e3, .ratio = 1.15));
}

static void a_loop_goes_on_after_other_calls(void)
{
    HOLD(PAIR(interrupted, workstation), PAIR(interrupted, laptop), PAIR(interrupted, four_unlike));
}

/* The second half begins when the device that recovers is in use again. */
static void a_device_that_was_slower_is_used_again(void)
{
    HOLD(PAIR(gradients_long, recovers, .slow_us = 5e3, .until_us = 5e4));
}

/* Here data goes to and fro in each step, and the ratio is less than 1. */
static void opposed_kernels_run_where_each_is_fast(void)
{
    HOLD(PAIR(opposed_small, workstation, .ratio = 0.5), PAIR(opposed_small, laptop, .ratio = 0.5),
         PAIR(opposed_small, four_unlike, .ratio = 0.5),
         PAIR(opposed_small, slow_start, .ratio = 0.5),
         PAIR(opposed_small, slows_down, .slow_us = 2e3, .ratio = 1.15));
}

static void opposed_kernels_stay_where_moving_does_not_pay(void)
{
    HOLD(PAIR(opposed_large, workstation), PAIR(opposed_large, laptop),
         PAIR(opposed_large, four_unlike), PAIR(opposed_large, slow_start),
         PAIR(opposed_large, slows_down, .slow_us = 5e3, .ratio = 1.15));
}

/* A trial of each of seven kernels would take three steps or more of those that all run there. */
static void compare_trials(void *argument)
{
    enum { CALLS = 7, LONGEST_TRIAL = 8 };
    const promised *p = argument;
    const workload *w = p->workload;
    const int steps = 2 * w->steps;
    set_machine(p);
    const double best = life(w, "device:0", steps), found = life(w, "cost", steps);
    const double there = life(w, "device:1", 2 * LEARNING) - life(w, "device:1", LEARNING);
    const double trial = LONGEST_TRIAL * there / LEARNING / CALLS;
    test_case("%.0f us instead of %.0f us, and a trial takes %.0f us at most", found, best, trial);
    CHECK(found > best);
    CHECK(found <= 1.01 * best + trial);
}

static void trials_of_what_is_slow_take_a_hundredth_of_the_time(void)
{
    promised p = PAIR(kernels_slow_elsewhere, slower_gpu);
    CHECK_CHILD(compare_trials, &p);
}

TEST_MAIN(PROMISE(a_large_stencil_costs_no_more_than_on_the_best_device),
          PROMISE(a_small_stencil_costs_no_more_than_on_the_best_device),
          PROMISE(arrays_of_two_sizes_cost_no_more_than_on_the_best_device),
          PROMISE(conjugate_gradients_cost_no_more_than_on_the_best_device),
          PROMISE(a_loop_goes_on_after_other_calls),
          PROMISE(a_device_that_was_slower_is_used_again),
          PROMISE(opposed_kernels_run_where_each_is_fast),
          PROMISE(opposed_kernels_stay_where_moving_does_not_pay),
          PROMISE(trials_of_what_is_slow_take_a_hundredth_of_the_time))
