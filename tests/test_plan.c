/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_plan.c
 *  Plans for loops, alone: against the best of all plans, found by trying each one. */
/* TEST: labels=core smoke=yes */
#include "auto/plan.h"
#include "test.h"

#include <math.h>
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
    for (int d = 0; d < devices; ++d) step.engine[d] = d;
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
            step.latency[from][to] = from == to ? 0 : latency;
            step.per_byte[from][to] = from == to ? 0 : per_byte;
        }
}

static void random_step(void)
{
    double time[KINDS][META_SLABS_DEVICES];
    start_step((int)test_random_in(2, 4), 0, (uint32_t)test_random_in(1, BUFFERS));
    step.calls = (uint32_t)test_random_in(1, step.devices == 2 ? CALLS : step.devices == 3 ? 8 : 7);
    link_all((double)test_random_in(0, 20000), test_random_real() * test_random_real());
    for (int d = 0; d < step.devices; ++d) {
        static const double below[] = {0, 0, 100000, INFINITY};
        step.blocks_below[d] = below[test_random_in(0, 3)];
        step.engine[d] = d > 0 && test_random_in(0, 4) == 0 ? step.engine[d - 1] : d;
        for (int to = 0; to < step.devices; ++to) step.is_staged[d][to] = test_random_in(0, 3) == 0;
    }
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
        call[c].is_waited = test_random_in(0, 3) == 0;
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

/* What a machine does with the step's calls, event by event. */
typedef struct machine {
    double host, compute[META_SLABS_DEVICES], wire[META_SLABS_DEVICES];
    bool held[2 * BUFFERS][META_SLABS_DEVICES];
    double since[2 * BUFFERS][META_SLABS_DEVICES], busy[2 * BUFFERS][META_SLABS_DEVICES];
} machine;

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* The first device that holds a piece, since links are alike; -1: none. */
static int holder(const machine *m, uint32_t k)
{
    for (int e = 0; e < step.devices; ++e)
        if (m->held[k][e]) return e;
    return -1;
}

/* Bring pieces [k, last) from one device to another. */
static void transfer(machine *m, uint32_t k, uint32_t last, int from, int to, double *there)
{
    double at = most(m->host, most(m->wire[from], m->wire[to])), bytes = 0;
    for (uint32_t n = k; n < last; ++n) {
        at = most(at, most(m->since[n][from], m->busy[n][to]));
        bytes += (double)piece[n].bytes;
    }
    at += step.latency[from][to] + bytes * step.per_byte[from][to];
    for (uint32_t n = k; n < last; ++n) {
        m->held[n][to] = true;
        m->busy[n][from] = most(m->busy[n][from], at);
        m->since[n][to] = m->busy[n][to] = at;
    }
    m->wire[from] = m->wire[to] = at;
    if (step.is_staged[from][to]) m->host = at;
    *there = most(*there, at);
}

static void compute(machine *m, uint32_t c, int d)
{
    double at = 0;
    for (uint32_t u = call[c].first; u < call[c].last; ++u)
        for (uint32_t k = use[u].first; use[u].reads && k < use[u].last;) {
            uint32_t last = k + 1;
            const int from = m->held[k][d] ? -1 : holder(m, k);
            if (from >= 0) {
                while (last < use[u].last && !m->held[last][d] && holder(m, last) == from) ++last;
                transfer(m, k, last, from, d, &at);
            }
            m->held[k][d] = true;
            at = most(at, m->since[k][d]);
            k = last;
        }
    for (uint32_t u = call[c].first; u < call[c].last; ++u)
        for (uint32_t k = use[u].first; use[u].writes && k < use[u].last; ++k)
            at = most(at, m->busy[k][d]);
    double *unit = &m->compute[step.engine[d]];
    *unit = most(at, most(*unit, m->host)) + call[c].time[d];
    if (call[c].is_waited || call[c].time[d] < step.blocks_below[d]) m->host = *unit;
    for (uint32_t u = call[c].first; u < call[c].last; ++u)
        for (uint32_t k = use[u].first; k < use[u].last; ++k) {
            m->busy[k][d] = most(m->busy[k][d], *unit);
            if (!use[u].writes) continue;
            for (int e = 0; e < step.devices; ++e) m->held[k][e] = e == d;
            m->since[k][d] = *unit;
        }
}

static double follow(const uint8_t *plan, machine *m)
{
    for (uint32_t c = 0; c < step.calls; ++c) compute(m, c, plan[c]);
    double end = m->host;
    for (int d = 0; d < step.devices; ++d) end = most(end, most(m->compute[d], m->wire[d]));
    return end;
}

static double steady(const uint8_t *plan)
{
    machine m = {.host = 0};
    follow(plan, &m);
    const double two = follow(plan, &m);
    for (int n = 0; n < 3; ++n) follow(plan, &m);
    return (follow(plan, &m) - two) / 4;
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

/* Steps of no program: most are within a twentieth of the best plan. */
static void random_steps_are_mostly_planned_within_a_twentieth_of_the_best(void)
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
    CHECK(above <= count / 20);
}

/* Kernel time of each call on each device. */
static void set_times(uint32_t c, double on_0, double on_1)
{
    call[c].among = 3;
    call[c].kind = c;
    call[c].time[0] = on_0;
    call[c].time[1] = on_1;
    call[c].is_waited = true;
    call[c].first = call[c].last = step.uses;
}

/* Halves of what was before, as in cyclic reduction: each level reads one buffer and writes the
 * next, down and up again. Large levels are fast on device 1, small ones on device 0. */
static void the_small_levels_of_a_reduction_run_where_launches_are_cheap(void)
{
    enum { LEVELS = 5 };
    const double moved = 1e-3, launch = 5000;
    uint8_t found[CALLS], best[CALLS];
    start_step(2, 2 * LEVELS, LEVELS);
    link_all(1000, moved);
    for (uint32_t b = 0; b < LEVELS; ++b) {
        buffer[b] = UINT64_C(0x4000000) >> 4 * b;
        piece[2 * b] = (meta_plan_piece){buffer[b] / 2, b};
        piece[2 * b + 1] = (meta_plan_piece){buffer[b] / 2, b};
    }
    for (uint32_t c = 0; c < 2 * LEVELS; ++c) {
        const uint32_t b = c < LEVELS ? c : 2 * LEVELS - 1 - c, from = c == 0       ? 0
                                                                       : c < LEVELS ? b - 1
                                                                                    : b;
        set_times(c, (double)buffer[b] * 1e-2, launch + (double)buffer[b] * 1e-4);
        add_use(c, from, 0, true, false);
        add_use(c, b, 0, true, true);
    }
    CHECK_NEAR(searched(found), best_of_all(best), 1e-12);
    CHECK(memcmp(found, best, step.calls) == 0);
    CHECK_INT(found[0], 1);
    CHECK_INT(found[LEVELS - 1], 0);
}

static void a_call_stays_where_it_can_run(void)
{
    uint8_t found[CALLS];
    start_step(2, 2, 1);
    link_all(10, 0);
    buffer[0] = 16;
    piece[0] = piece[1] = (meta_plan_piece){8, 0};
    for (uint32_t c = 0; c < 2; ++c) {
        set_times(c, 1000, 1);
        add_use(c, 0, 0, true, true);
    }
    call[0].among = 1;
    searched(found);
    CHECK_INT(found[0], 0);
    CHECK_INT(found[1], 1);
}

/* One device is faster, but what the calls use does not fit there. */
static void data_that_a_device_has_no_memory_for_stays_away(void)
{
    for (int fast = 0; fast < 2; ++fast) {
        uint8_t found[CALLS];
        test_case("device %d is fast", fast);
        start_step(2, 2, 2);
        link_all(10, 1);
        for (uint32_t c = 0; c < 2; ++c) {
            buffer[c] = 1 << 20;
            piece[2 * c] = piece[2 * c + 1] = (meta_plan_piece){1 << 19, c};
            set_times(c, fast ? 1e5 : 1e4, fast ? 1e4 : 1e5);
            add_use(c, c, 0, true, true);
        }
        searched(found);
        CHECK_INT(found[0] + found[1], 2 * fast);
        step.memory[fast] = 3 << 19;
        searched(found);
        CHECK_INT(found[0] + found[1], 1);
    }
}

/* One buffer that is written and one that is only read: both must come. */
static void a_change_costs_what_must_be_moved_once(void)
{
    const uint8_t now[] = {0}, next[] = {1};
    start_step(2, 1, 2);
    link_all(100, 0.5);
    for (uint32_t b = 0; b < 2; ++b) {
        buffer[b] = 2000;
        piece[2 * b] = piece[2 * b + 1] = (meta_plan_piece){1000, b};
    }
    set_times(0, 10, 20);
    add_use(0, 0, 0, true, true);
    add_use(0, 1, 0, true, false);
    meta_plan_search *search = meta_plan_search_new(&step, now);
    if (!CHECK(search != NULL)) return;
    CHECK_NEAR(meta_plan_cost(search, now), 10, 1e-12);
    CHECK_NEAR(meta_plan_cost(search, next), 20, 1e-12);
    CHECK_NEAR(meta_plan_change(search, now, next), 2 * (100 + 1000), 1e-12);
    CHECK_NEAR(meta_plan_change(search, now, now), 0, 1e-12);
    meta_plan_search_free(search);
}

TEST_MAIN(PROMISE(the_small_levels_of_a_reduction_run_where_launches_are_cheap),
          PROMISE(a_call_stays_where_it_can_run),
          PROMISE(data_that_a_device_has_no_memory_for_stays_away),
          PROMISE(a_change_costs_what_must_be_moved_once),
          PROMISE(random_steps_are_mostly_planned_within_a_twentieth_of_the_best))
