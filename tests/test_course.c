/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_course.c
 *  What planning a loop takes beside its steps, alone: with times that change from run to run, as
 *  those of short kernels do, it stays within its share, and what matters is followed all the
 *  same. */
/* TEST: labels=core smoke=yes */
#include "auto/course.h"
#include "auto/link.h"
#include "auto/share.h"
#include "auto/worker.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 16, DEVICES = 2, BYTES = 1 << 10, STEPS = 40000 };

/* What planning may take: of the time of the steps, in advance, and at the end of one step, in
 * nanoseconds. */
static const double share = 0.02, credit = 70e6, at_once = 1e6;

meta_auto_machine meta_auto;
meta_share_state meta_share;

/* ------------------------------------------------------------------ the machine */

static double slower[DEVICES]; /* of each device's kernels now */
static double best[DEVICES];   /* what a kernel took at best */
static double jitter;          /* they take up to so much more or less */
static int moves;              /* plans that were followed */

static int runs[CALLS]; /* of each call on the second device; known after FEW */
enum { FEW = 3 };

static bool is_known(uint64_t call, int device)
{
    return device == 0 || runs[call] >= FEW;
}

/* A kernel takes 250 ns, and 400 on the second device, where 300 are expected before it is known.
 */
void meta_expect_times(const meta_loop_call *call, double *time)
{
    for (int d = 0; d < DEVICES; ++d) {
        const double usual = d == 0 ? 250 : is_known(call->signature, d) ? 400 * slower[d] : 300;
        time[d] = usual * (d == 0 ? slower[d] : 1) * (1 + jitter * (2 * test_random_real() - 1));
    }
}

double meta_expect_best(const meta_loop_call *call, int device)
{
    (void)call;
    return best[device];
}

double meta_expect_last(const meta_loop_call *call, int device)
{
    (void)call;
    return (device == 0 ? 250 : 400) * slower[device];
}

/* Each call's number is that of its cells. */
bool meta_expect_is_known(int kernel, int device, uint64_t cells)
{
    (void)kernel;
    return is_known(cells, device);
}

void meta_auto_link_line(int from, int to, double *latency, double *per_byte)
{
    *latency = from == to ? 0 : 1000;
    *per_byte = from == to ? 0 : 0.1;
}

bool meta_auto_alike(int a, int b)
{
    return a == b;
}

bool meta_worker_has(const meta_auto_device *device)
{
    (void)device;
    return false;
}

uint64_t meta_share_memory(int d)
{
    (void)d;
    return 0;
}

bool meta_share_turn(meta_share_what what)
{
    (void)what;
    return true;
}

void meta_share_claim(const double *time)
{
    (void)time;
}

void meta_explain_plan(const uint8_t *plan, uint32_t calls, double now, double next)
{
    (void)plan, (void)calls, (void)now, (void)next;
    ++moves;
}

void meta_explain_trial(uint32_t calls, int d)
{
    (void)calls, (void)d;
}

/* ------------------------------------------------------------------ the loop */

/* Each call reads two of eight buffers and writes a third. */
static meta_course *make_loop(void)
{
    static char buffer[8][BYTES];
    static meta_loop_event event[CALLS];
    const meta_loop_event *list[CALLS];
    for (int c = 0; c < CALLS; ++c) {
        runs[c] = FEW;
        event[c] = (meta_loop_event){
            .call = {.signature = (uint64_t)c, .cells = (uint64_t)c, .among = 3}, .uses = 3};
        for (int u = 0; u < 3; ++u)
            event[c].use[u] = (meta_loop_use){buffer[(c + u) % 8], BYTES, 0, BYTES, u < 2, u == 2};
        list[c] = &event[c];
    }
    for (int d = 0; d < DEVICES; ++d) {
        slower[d] = 1;
        best[d] = d == 0 ? 250 : 400;
    }
    moves = 0;
    meta_auto = (meta_auto_machine){.devices = DEVICES};
    for (int d = 0; d < DEVICES; ++d) meta_share.share[d] = 1;
    return meta_course_new(list, CALLS);
}

/* @return nanoseconds of the steps */
static double do_steps(meta_course *course, int steps)
{
    double time = 0;
    for (int k = 0; k < steps; ++k)
        for (int c = 0; c < CALLS; ++c) {
            meta_loop_call *call;
            meta_course_next(course, &call);
            time += call->expected;
            meta_auto.learned += 2;
        }
    return time;
}

/* What calls take where they run, while they come to be known.
 * @return nanoseconds of the steps */
static double do_real_steps(meta_course *course, int steps)
{
    double time = 0;
    for (int k = 0; k < steps * CALLS; ++k) {
        meta_loop_call *call;
        const int d = meta_course_next(course, &call);
        time += (d == 0 ? 250 : 400) * slower[d];
        runs[call->signature] += d == 1;
        meta_auto.learned += 2;
    }
    return time;
}

static int calls_on(const meta_course *course, int d)
{
    int count = 0;
    for (int c = 0; c < CALLS; ++c) count += course->plan[c] == d;
    return count;
}

/* ------------------------------------------------------------------ promises */

static void planning_takes_a_fiftieth_of_short_steps(void)
{
    for (jitter = 0; jitter < 1; jitter += 0.2) {
        meta_course *course = make_loop();
        if (!CHECK(course != NULL)) return;
        const double time = do_steps(course, STEPS);
        const double planned = meta_plan_spent(course->search);
        test_case("times that change by %g", jitter);
        CHECK(planned <= share * time + credit + at_once);
        CHECK_INT(calls_on(course, 0), CALLS);
        meta_course_free(course);
    }
}

static void a_device_that_becomes_slow_is_left_and_comes_back(void)
{
    jitter = 0.2;
    meta_course *course = make_loop();
    if (!CHECK(course != NULL)) return;
    do_steps(course, STEPS);
    CHECK_INT(calls_on(course, 0), CALLS);
    slower[0] = 10;
    do_steps(course, STEPS);
    CHECK_INT(calls_on(course, 1), CALLS);
    slower[0] = 1;
    do_steps(course, STEPS);
    CHECK_INT(calls_on(course, 0), CALLS);
    meta_course_free(course);
}

/* Each takes 50 times as long there as was thought. */
static void what_is_not_known_is_tried_for_a_hundredth_of_the_time(void)
{
    const double usual = 250 * CALLS, trial = 2 * FEW * 400 * 50;
    double time = 0;
    int known = 0;
    jitter = 0;
    meta_course *course = make_loop();
    if (!CHECK(course != NULL)) return;
    memset(runs, 0, sizeof runs);
    slower[1] = 50;
    best[1] = 50 * 400;
    for (int steps = 100; steps <= 2 * STEPS; steps += 100) {
        time += do_real_steps(course, 100);
        test_case("after %d steps", steps);
        CHECK(time - steps * usual <= 0.011 * time + trial);
    }
    for (int c = 0; c < CALLS; ++c) known += is_known((uint64_t)c, 1);
    CHECK_INT(known, CALLS);
    meta_course_free(course);
}

static void times_that_stay_begin_no_search(void)
{
    jitter = 0;
    meta_course *course = make_loop();
    if (!CHECK(course != NULL)) return;
    do_steps(course, STEPS);
    CHECK(meta_plan_spent(course->search) <= credit / 2);
    CHECK_INT(moves, 0);
    meta_course_free(course);
}

TEST_MAIN(PROMISE(planning_takes_a_fiftieth_of_short_steps),
          PROMISE(a_device_that_becomes_slow_is_left_and_comes_back),
          PROMISE(what_is_not_known_is_tried_for_a_hundredth_of_the_time),
          PROMISE(times_that_stay_begin_no_search))
