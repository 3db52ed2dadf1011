/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_regret.c
 *  What META_MODE=auto loses to the best plan there is: workloads run on simulated machines, whose
 *  virtual time is exact, and the time of their second half is compared with that of the best plan
 *  (regret_plan.c) and of the best device. The plans' times are computed from the machine's
 *  description; that they are the simulated devices' is checked for one device after the other.
 *
 *  Where a machine's figures would need arrays larger than this test may allocate, arrays and all
 *  rates are smaller by the same factor, which leaves all times as they are. */
/* TEST: backends=any labels=core */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "child.h"
#include "regret.h"
#include "simulated.h"
#include "test.h"

/* ------------------------------------------------------------------ machines */

/* Microseconds of a launch and gigabytes per second of kernels; of other devices also microseconds
 * of a copy, gigabytes per second from and to the host, and from and to their like. */
#define HOST(called, start, speed)                                                                 \
    .name = called, .is_host = true, .launch = (start), .rate = (speed)
#define OTHER(called, start, speed, wait, link, peers)                                             \
    .name = called, .launch = (start), .rate = (speed), .latency = (wait), .bandwidth = (link),    \
    .peer = (peers)
static const regret_machine laptop = {
    "a laptop", 2, {{HOST("cpu", 1, 10)}, {OTHER("igpu", 15, 12, 5, 8, 0)}}};
static const regret_machine four_unlike = {"four unlike devices",
                                           4,
                                           {{HOST("cpu", 1, 20)},
                                            {OTHER("igpu", 12, 40, 5, 8, 0)},
                                            {OTHER("gpu", 8, 500, 10, 12, 50)},
                                            {OTHER("old", 10, 150, 15, 6, 50)}}};
/* Two nodes of Valero-Lara et al., SEER, 2022. Links are those of its table 1; memory is as fast as
 * the vendors say, on the second CPU its cache; launches take as long as it needs for the sizes at
 * which the paper's figure 7 goes from CPU to GPU, 200,000 and 400,000 elements. */
#define V100(number) OTHER("v100-" #number, 15, 800, 5, 50, 50)
#define GCD(number)  OTHER("gcd-" #number, 11.6, 1300, 5, 36, 100)
static const regret_machine summit = {
    "a node of Summit", 5, {{HOST("power9", 3, 270)}, {V100(0)}, {V100(1)}, {V100(2)}, {V100(3)}}};
static const regret_machine crusher = {"a node of Crusher",
                                       9,
                                       {{HOST("epyc", 3, 600)},
                                        {GCD(0)},
                                        {GCD(1)},
                                        {GCD(2)},
                                        {GCD(3)},
                                        {GCD(4)},
                                        {GCD(5)},
                                        {GCD(6)},
                                        {GCD(7)}}};
/* Stencils are for the GPU, sums for the CPU. */
static const regret_machine opposed = {
    "opposed devices",
    2,
    {{HOST("cpu", 1, 20), .factor = {{"stencil_3d7p", 10}}},
     {OTHER("gpu", 8, 500, 5, 25, 0), .factor = {{"reduce_sum", 40}, {"dot", 40}}}}};
/* What is tried there must not cost much. */
static const regret_machine hopeless = {
    "a hopeless device", 2, {{HOST("cpu", 1, 100)}, {OTHER("gpu", 500, 0.1, 50, 1, 0)}}};
static const regret_machine *const machines[] = {&laptop, &four_unlike, &summit, &crusher};
enum { MACHINES = sizeof machines / sizeof *machines };

/* Whether a sample has the larger of two workloads on machine @p k; it has the smaller one on the
 * others. */
static bool is_sampled(int k, bool is_large)
{
    return test_long() || (k % 2 == 1) == is_large;
}

/* All rates are divided by @p by. */
static regret_machine slower(const regret_machine *m, double by)
{
    regret_machine all = *m;
    for (int d = 0; d < all.devices; ++d) {
        all.device[d].rate /= by;
        all.device[d].bandwidth /= by;
        all.device[d].peer /= by;
    }
    return all;
}

static void set_machine(const regret_machine *m)
{
    char text[4096] = "";
    size_t used = 0;
    for (const regret_device *d = m->device; d < m->device + m->devices; ++d) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s launch=%.6fus rate=%.6fG ",
                                 d->name, d->launch, d->rate);
        if (d->is_host) used += (size_t)snprintf(text + used, sizeof text - used, "sync host ");
        else
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "latency=%.6fus bandwidth=%.6fG ", d->latency, d->bandwidth);
        if (d->peer > 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "peer=%.6fG ", d->peer);
        for (int k = 0; k < REGRET_FACTORS && d->factor[k].kernel; ++k)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s=%g ", d->factor[k].kernel,
                                     d->factor[k].factor);
        used += (size_t)snprintf(text + used, sizeof text - used, "; ");
    }
    simulated_set(text, NULL);
}

/* ------------------------------------------------------------------ comparison */

typedef struct pair {
    regret_workload workload;
    regret_machine machine;
} pair;

/* With all calls on one device, the simulated device takes as long as the plan. @return the time on
 * the best device */
static double check_devices(const pair *p)
{
    double least = 0;
    for (int d = 0; d < p->machine.devices; ++d) {
        char where[REGRET_CALLS + 1] = "";
        memset(where, '0' + d, (size_t)p->workload.calls);
        const double planned = regret_plan_time(&p->workload, &p->machine, where);
        if (d == 0 || planned < least) least = planned;
        if (d > 1 && p->machine.devices > 4) continue; /* as the one before */
        char policy[32];
        snprintf(policy, sizeof policy, "device:%d", d);
        const double time = regret_step_time(&p->workload, policy);
        test_case("%s on %s, device %d", p->workload.name, p->machine.name, d);
        CHECK_NEAR(time, planned, 0.02);
    }
    return least;
}

static const double PROMISED = 1.05;

static void report(const pair *p, double found, double device, const regret_plan *best)
{
    printf("%s on %s: %.3f us a step, %.3f of the best plan%s and %.3f of the best device's; the "
           "plan is %s\n",
           p->workload.name, p->machine.name, found, found / best->step,
           best->is_exhausted ? "" : " found", found / device, best->where);
    fflush(stdout);
}

static void compare(void *argument)
{
    const pair *p = argument;
    const long before = test_failures();
    test_case("%s on %s", p->workload.name, p->machine.name);
    set_machine(&p->machine);
    const double device = check_devices(p);
    const regret_plan best =
        regret_best_plan(&p->workload, &p->machine, (UINT32_C(1) << p->machine.devices) - 1);
    const double found = regret_step_time(&p->workload, "cost");
    report(p, found, device, &best);
    if (test_failures() > before) return;
    CHECK(best.step > 0);
    CHECK(found <= PROMISED * device);
    CHECK(found <= PROMISED * best.step);
}

/* With META_POLICY=round_robin each call goes to the next device, and most data with it. The copies
 * from the host before the first step take the first turns. A plan moves whole arrays, the library
 * only what was written, a quarter of an array in cyclic reduction: so times differ a little. */
static void check_round_robin(void *argument)
{
    const pair *p = argument;
    const int devices = p->machine.devices;
    char where[REGRET_CALLS + 1] = "";
    test_case("%s on %s, round robin", p->workload.name, p->machine.name);
    set_machine(&p->machine);
    for (int k = 0; k < p->workload.calls; ++k)
        where[k] = (char)('0' + (p->workload.buffers + k) % devices);
    CHECK_INT(p->workload.calls % devices, 0);
    CHECK_NEAR(regret_step_time(&p->workload, "round_robin"),
               regret_plan_time(&p->workload, &p->machine, where), 0.04);
}

static void hold(const regret_workload *w, const regret_machine *m)
{
    pair p = {*w, *m};
    CHECK_CHILD(compare, &p);
}

/* ------------------------------------------------------------------ promises */

static void axpy_of_any_size_costs_no_more_than_the_best_plan(void)
{
    for (int k = 0; k < MACHINES; ++k) {
        int64_t cells = 100;
        for (int digits = 2; digits <= 8; ++digits, cells *= 10) {
            const double by = digits > 6 ? 100 : 1;
            const regret_machine m = slower(machines[k], by);
            regret_workload w = regret_axpy(cells / (int64_t)by);
            snprintf(w.name, sizeof w.name, "axpy of 1e%d", digits);
            if (m.devices > 4) w.steps *= 4; /* each device is tried in turn */
            hold(&w, &m);
        }
    }
}

static void plans_take_as_long_as_the_simulated_devices(void)
{
    const regret_workload list[] = {regret_mixed(12), regret_mixed(48),
                                    regret_conjugate_gradients(40), regret_cyclic_reduction(12)};
    const regret_machine *const two[] = {&laptop, &opposed};
    for (size_t k = 0; k < sizeof list / sizeof *list; ++k)
        for (int n = 0; n < 2; ++n) {
            pair p = {list[k], *two[n]};
            CHECK_CHILD(check_round_robin, &p);
        }
    pair p = {regret_cyclic_reduction(12), four_unlike};
    CHECK_CHILD(check_round_robin, &p);
}

/* All ways to give the calls of a step to two devices, the same in each step. */
static double best_of_all(const regret_workload *w, const regret_machine *m)
{
    double least = 0;
    for (unsigned set = 0; set < 1u << w->calls; ++set) {
        char where[REGRET_CALLS + 1] = "";
        for (int k = 0; k < w->calls; ++k) where[k] = (char)('0' + (set >> k & 1));
        const double time = regret_plan_time(w, m, where);
        if (set == 0 || time < least) least = time;
    }
    return least;
}

static void the_best_plan_is_the_best_of_all(void)
{
    const regret_workload list[] = {regret_mixed(12), regret_mixed(48),
                                    regret_conjugate_gradients(12), regret_conjugate_gradients(40),
                                    regret_cyclic_reduction(5)};
    const regret_machine *const two[] = {&laptop, &opposed};
    for (size_t k = 0; k < sizeof list / sizeof *list; ++k)
        for (int n = 0; n < 2; ++n) {
            test_case("%s on %s", list[k].name, two[n]->name);
            const regret_plan plan = regret_best_plan(&list[k], two[n], 3);
            CHECK(plan.is_exhausted);
            CHECK_NEAR(plan.step, best_of_all(&list[k], two[n]), 0.001);
        }
}

/* The two workloads on machine @p k, or in a sample one of them. */
static void hold_sampled(const regret_workload *small, const regret_workload *large, int k)
{
    if (is_sampled(k, false)) hold(small, machines[k]);
    if (is_sampled(k, true)) hold(large, machines[k]);
}

static void cyclic_reduction_costs_no_more_than_the_best_plan(void)
{
    const regret_workload small = regret_cyclic_reduction(12);
    regret_workload large = regret_cyclic_reduction(16);
    for (int k = 0; k < MACHINES; ++k) {
        if (is_sampled(k, false)) hold(&small, machines[k]);
        if (!is_sampled(k, true)) continue;
        for (int more = test_long() ? 4 : 8; more <= 8; more += 4) {
            const regret_machine m = slower(machines[k], 1 << more);
            snprintf(large.name, sizeof large.name, "cyclic reduction of 2^%d - 1, 16 levels",
                     16 + more);
            hold(&large, &m);
        }
    }
}

static void conjugate_gradients_cost_no_more_than_the_best_plan(void)
{
    const regret_workload small = regret_conjugate_gradients(12),
                          large = regret_conjugate_gradients(40);
    for (int k = 0; k < MACHINES; ++k) {
        hold_sampled(&small, &large, k);
    }
}

static void a_miniapp_costs_no_more_than_the_best_plan(void)
{
    const regret_workload w = regret_miniapp(3, 24);
    for (int k = 0; k < MACHINES; ++k) hold(&w, machines[k]);
}

static void stencils_and_sums_cost_no_more_than_the_best_plan(void)
{
    const regret_workload small = regret_mixed(12), large = regret_mixed(48);
    for (int k = 0; k < MACHINES; ++k) {
        hold_sampled(&small, &large, k);
    }
    hold(&large, &opposed);
    hold(&large, &hopeless);
}

TEST_MAIN(PROMISE(plans_take_as_long_as_the_simulated_devices),
          PROMISE(the_best_plan_is_the_best_of_all),
          PROMISE(axpy_of_any_size_costs_no_more_than_the_best_plan),
          PROMISE(cyclic_reduction_costs_no_more_than_the_best_plan),
          PROMISE(conjugate_gradients_cost_no_more_than_the_best_plan),
          PROMISE(a_miniapp_costs_no_more_than_the_best_plan),
          PROMISE(stencils_and_sums_cost_no_more_than_the_best_plan))
