/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_plan.c
 *  Plans for loops, alone: against the best of all plans, found by trying each one. */
/* TEST: labels=core smoke=yes timeout=120 */
#include "auto/plan.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 10, USES = 3, BUFFERS = 5, KINDS = 4, PLANS = 1 << 16 };

/* Plans looked at before the search gives up, at most. */
enum { ENOUGH = 1 << 20 };

static meta_plan_call call[CALLS];
static meta_plan_use use[CALLS * USES];
static meta_plan_piece piece[2 * BUFFERS];
static uint64_t buffer[BUFFERS];
static meta_plan_step step;

/* ------------------------------------------------------------------ steps */

/* Each buffer is two pieces. */
static void start_step(int devices, uint32_t calls, uint32_t buffers)
{
    step = (meta_plan_step){.devices = devices,
                            .calls = calls,
                            .pieces = 2 * buffers,
                            .buffers = buffers,
                            .call = call,
                            .use = use,
                            .piece = piece,
                            .buffer = buffer};
}

static void add_use(uint32_t c, uint32_t b, int part, bool reads, bool writes)
{
    const uint32_t first = 2 * b + (part == 2 ? 1 : 0), last = 2 * b + (part == 1 ? 1 : 2);
    if (step.uses == 0 || call[c].last != step.uses) call[c].first = step.uses;
    use[step.uses++] = (meta_plan_use){first, last, reads, writes};
    call[c].last = step.uses;
}

/* A machine with links of one kind. */
static void link_all(double latency, double per_byte)
{
    for (int from = 0; from < step.devices; ++from)
        for (int to = 0; to < step.devices; ++to) {
            step.latency[from][to] = latency;
            step.per_byte[from][to] = per_byte;
        }
}

static void random_step(void)
{
    double time[KINDS][META_SLABS_DEVICES];
    start_step((int)test_random_in(2, 4), 0, (uint32_t)test_random_in(1, BUFFERS));
    step.calls = (uint32_t)test_random_in(1, step.devices == 2 ? CALLS : step.devices == 3 ? 8 : 7);
    link_all((double)test_random_in(0, 20000), test_random_real() * test_random_real());
    for (uint32_t b = 0; b < step.buffers; ++b) {
        const uint64_t size = UINT64_C(8) << test_random_in(0, 20);
        buffer[b] = size;
        piece[2 * b] = (meta_plan_piece){size / 8, b};
        piece[2 * b + 1] = (meta_plan_piece){size - size / 8, b};
    }
    for (int k = 0; k < KINDS; ++k)
        for (int d = 0; d < step.devices; ++d)
            time[k][d] = (double)test_random_in(1000, 10000) * (double)test_random_in(1, 40);
    for (uint32_t c = 0; c < step.calls; ++c) {
        const int kind = (int)test_random_in(0, KINDS - 1), uses = (int)test_random_in(1, USES);
        call[c].kind = (uint64_t)kind;
        call[c].among = (UINT32_C(1) << step.devices) - 1;
        call[c].first = call[c].last = step.uses;
        memcpy(call[c].time, time[kind], sizeof time[kind]);
        for (int u = 0; u < uses; ++u) {
            const bool writes = test_random_in(0, 1);
            add_use(c, (uint32_t)test_random_in(0, step.buffers - 1), (int)test_random_in(0, 2),
                    !writes || test_random_in(0, 1), writes);
        }
    }
}

/* ------------------------------------------------------------------ the best of all */

/* Of one step, each call of which fetches what its device lacks from where that is fastest. */
static double follow(const uint8_t *plan, bool held[2 * BUFFERS][META_SLABS_DEVICES])
{
    double time = 0;
    for (uint32_t c = 0; c < step.calls; ++c) {
        const int d = plan[c];
        time += call[c].time[d];
        for (uint32_t u = call[c].first; u < call[c].last; ++u) {
            int before = -1;
            for (uint32_t k = use[u].first; use[u].reads && k < use[u].last; ++k) {
                int from = -1;
                for (int e = 0; e < step.devices && !held[k][d]; ++e)
                    if (held[k][e] && from < 0) from = e; /* links are alike */
                if (from >= 0)
                    time += (from == before ? 0 : step.latency[from][d]) +
                            (double)piece[k].bytes * step.per_byte[from][d];
                before = from;
                held[k][d] = true;
            }
        }
        for (uint32_t u = call[c].first; u < call[c].last; ++u)
            for (uint32_t k = use[u].first; use[u].writes && k < use[u].last; ++k)
                for (int e = 0; e < step.devices; ++e) held[k][e] = e == d;
    }
    return time;
}

static double steady(const uint8_t *plan)
{
    bool held[2 * BUFFERS][META_SLABS_DEVICES] = {{false}};
    follow(plan, held);
    return follow(plan, held);
}

static double best_of_all(uint8_t *best)
{
    uint8_t plan[CALLS] = {0};
    double least = -1;
    for (;;) {
        const double time = steady(plan);
        uint32_t c = 0;
        if (least < 0 || time < least) {
            least = time;
            memcpy(best, plan, step.calls);
        }
        while (c < step.calls && ++plan[c] == step.devices) plan[c++] = 0;
        if (c == step.calls) return least;
    }
}

static double searched(uint8_t *found)
{
    const uint8_t zero[CALLS] = {0};
    meta_plan_search *search = meta_plan_search_new(&step, zero);
    if (!CHECK(search != NULL)) return 0;
    CHECK(!meta_plan_search_on(search, ENOUGH));
    memcpy(found, meta_plan_found(search), step.calls);
    const double cost = meta_plan_cost(search, found);
    CHECK_NEAR(cost, steady(found), 1e-12);
    meta_plan_search_free(search);
    return cost;
}

/* ------------------------------------------------------------------ promises */

static void random_steps_are_planned_within_a_twentieth_of_the_best_plan(void)
{
    int exact = 0, above = 0;
    double worst = 1;
    const int count = test_long() ? 20000 : 1000;
    for (int n = 0; n < count; ++n) {
        uint8_t best[CALLS], found[CALLS];
        random_step();
        test_case("step %d: %u calls, %d devices", n, step.calls, step.devices);
        const double least = best_of_all(best), cost = searched(found);
        if (cost <= least * (1 + 1e-9)) ++exact;
        if (cost > 1.05 * least) ++above;
        if (cost / least > worst) worst = cost / least;
    }
    printf("%d steps: %d plans are the best, %d cost more than 1.05 of it, at most %.3f\n", count,
           exact, above, worst);
    CHECK(above <= count / 100);
}

TEST_MAIN(PROMISE(random_steps_are_planned_within_a_twentieth_of_the_best_plan))
