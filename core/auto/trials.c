/* SPDX-License-Identifier: BSD-3-Clause */
/** @file trials.c
 *  Steps of a loop in which calls run elsewhere, to know how long they take there.
 *
 *  A plan is made of times that are known. Where some are not, what a device would have saved if it
 *  were as fast as the bound on it adds up, and buys a trial: a few steps in which the calls that
 * are unknown there run there. A device that has become slower than it was is tried again for a
 * fiftieth of the time that has passed since, and a call that is unknown on a device for a
 * hundredth, whatever the bound says: a device that is slow with some kernels may be fast with
 * others, and one call elsewhere may pay where all together do not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auto/course.h"
#include "auto/share.h"

/* In steps; it takes two for runs to be known, of which the first does not count, and as many more
 * as the device is behind. */
enum { LONGEST_TRIAL = 8 };

/* A device that was slower is tried for AGAIN steps, so that most of the runs that count are new
 * ones, but not after BEHIND calls that are as slow: the times of more may not be known yet.
 * Whether to is considered every AT_TIMES steps, and after as many steps every SELDOM ones whether
 * to try what is not known. What is slower by a few tenths only is noise. */
enum { AGAIN = 4, BEHIND = 8, AT_TIMES = 64, SELDOM = 8, TO_KNOW = 3 };
static const double again_share = 0.02, unknown_share = 0.01, noise = 0.7;
/* What considering trials may take of the time of loops, and before they have paid for it, in
 * nanoseconds. */
static const double trials_share = 0.01, trials_credit = 10e6;

/* Whether a call's time on device @p d is worth knowing. */
static bool may_gain(const meta_course *course, uint32_t c, int d)
{
    const meta_plan_call *call = &course->step.call[c];
    return course->call[c].among >> d & 1 && d != course->plan[c] &&
           !meta_course_knows(course, c, d) && call->time[d] < call->time[course->plan[c]];
}

/* The plan with device @p d for the calls whose time is worth knowing there, or for all if they
 * are @p together.
 * @return whether one is worth knowing */
static bool make_trial(meta_course *course, int d, bool together)
{
    bool any = false;
    for (uint32_t c = 0; c < course->step.calls; ++c) {
        const bool gains = may_gain(course, c, d);
        course->trial[c] =
            gains || (together && course->call[c].among >> d & 1) ? (uint8_t)d : course->plan[c];
        any |= gains;
    }
    return any;
}

/* Begin a trial on a device where it has been paid for. */
static void consider_trials(meta_course *course)
{
    bool together = false;
    course->tried = -1;
    for (int d = 0; d < course->step.devices; ++d) {
        if (!(meta_auto_usable() >> d & 1) || !make_trial(course, d, false)) continue;
        const double apart = meta_plan_cost(course->search, course->trial);
        make_trial(course, d, true);
        const double all = meta_plan_cost(course->search, course->trial);
        const bool is_all = all < apart;
        if (!is_all) make_trial(course, d, false);
        const double gain =
            (course->now - (is_all ? all : apart)) * (double)(course->turns - course->hoped_at);
        course->hoped[d] = gain > 0 ? course->hoped[d] + gain : 0;
        if (course->tried >= 0 || gain <= 0 ||
            course->hoped[d] <=
                course->price[d] * meta_plan_change(course->search, course->plan, course->trial))
            continue;
        course->tried = d;
        together = is_all;
    }
    course->hoped_at = course->turns;
    if (course->tried < 0) return;
    if (!meta_share_turn(META_SHARE_TRY)) {
        course->tried = -1;
        return;
    }
    make_trial(course, course->tried, together);
    meta_step_claim(course, course->trial);
    meta_explain_trial(course->step.calls, course->tried);
    course->hoped[course->tried] = 0;
    course->price[course->tried] *= 2;
    course->steps = course->least = 0;
}

/* Whether the calls so far of a device that is tried again take what they took of late. */
static bool is_still_slow(const meta_course *course)
{
    const uint32_t so_far = (uint32_t)course->steps * course->step.calls + course->at;
    double last = 0, hope = 0;
    for (uint32_t c = 0; c < course->step.calls && c + BEHIND < so_far; ++c) {
        if (course->trial[c] != course->tried) continue;
        last += noise * meta_expect_last(&course->call[c], course->tried);
        hope += meta_expect_best(&course->call[c], course->tried);
    }
    return last > hope;
}

/* A device was tried again. If others moved meanwhile little was learned, and it is soon worth it
 * once more. */
static void forget_wait(meta_course *course)
{
    double *since = &course->since[course->tried];
    const bool is_disturbed = course->moves != meta_share.seen;
    *since = is_disturbed ? *since / 2 : 0;
    course->is_due |= is_disturbed;
}

/* What @p steps steps of the trial take more than those of the plan, with moving there and back. */
static double trial_price(meta_course *course, int steps)
{
    const double slower = meta_plan_cost(course->search, course->trial) - course->now;
    const double change = meta_plan_change(course->search, course->plan, course->trial);
    return (slower > 0 ? slower * steps : 0) + 2 * change;
}

/* A call that was thought faster than it is has cost more than was thought as well: that is owed.
 */
static void settle(meta_course *course)
{
    const double price = trial_price(course, course->steps + 1);
    if (course->spent > 0 && price > course->spent) course->may_spend -= price - course->spent;
    course->spent = 0;
}

void meta_trials_end(meta_course *course)
{
    bool is_known_now = true;
    course->steps += course->at == 0;
    for (uint32_t c = 0; c < course->step.calls; ++c)
        is_known_now &=
            course->trial[c] == course->plan[c] || meta_course_knows(course, c, course->trial[c]);
    if (course->least > 0 ? course->steps < course->least && !is_still_slow(course)
                          : course->steps < LONGEST_TRIAL && !is_known_now)
        return;
    if (course->least > 0) forget_wait(course);
    course->tried = -1;
    meta_step_claim(course, course->plan);
    meta_step_read_times(course);
    settle(course);
}

/* ------------------------------------------------------------------ devices that were slower */

/* The device's best time for a call that is not there and was faster; 0: it is, or was not. */
static double better_time(const meta_course *course, uint32_t c, int d)
{
    if (course->plan[c] == d) return 0;
    const double best = meta_expect_best(&course->call[c], d);
    return best <= noise * course->step.call[c].time[d] ? best : 0;
}

static bool was_faster(const meta_course *course, int d)
{
    for (uint32_t c = 0; c < course->step.calls; ++c)
        if (better_time(course, c, d) > 0) return true;
    return false;
}

/* What a step would cost with the trial's plan if the device were what it was. */
static double hoped_cost(meta_course *course, int d)
{
    const size_t bytes = course->step.calls * sizeof *course->step.call;
    meta_plan_call *kept = malloc(bytes);
    if (!kept) return course->now;
    memcpy(kept, course->step.call, bytes);
    for (uint32_t c = 0; c < course->step.calls; ++c) {
        const double best = better_time(course, c, d);
        if (best > 0) course->step.call[c].time[d] = best;
    }
    const double cost = meta_plan_cost(course->search, course->trial);
    memcpy(course->step.call, kept, bytes);
    free(kept);
    return cost;
}

/* Whether to try device @p d again, with all calls. */
static bool is_worth_it(meta_course *course, int d)
{
    for (uint32_t c = 0; c < course->step.calls; ++c)
        course->trial[c] = course->call[c].among >> d & 1 ? (uint8_t)d : course->plan[c];
    const double slow = meta_plan_cost(course->search, course->trial);
    const double change = meta_plan_change(course->search, course->plan, course->trial);
    const double price = (slow - course->now) * (BEHIND + 1) / course->step.calls + 2 * change;
    return price <= again_share * course->since[d] && hoped_cost(course, d) < course->now;
}

/* @return false: it is to be considered again soon */
static bool consider_again(meta_course *course)
{
    for (int d = 0; d < course->step.devices; ++d) {
        if (!(meta_auto_usable() >> d & 1)) continue;
        if (!was_faster(course, d) || !is_worth_it(course, d)) continue;
        if (!meta_share_turn(META_SHARE_TRY_AGAIN)) return false;
        meta_step_claim(course, course->trial);
        course->tried = d;
        course->moves = meta_share.seen;
        course->steps = 0;
        course->least = AGAIN;
        meta_auto.attention = AGAIN * (int)course->step.calls;
        meta_explain_trial(course->step.calls, d);
        break;
    }
    return true;
}

/* Of devices of one kind the first tells enough. */
static bool is_first_of_kind(int d)
{
    int first = 0;
    while (first < d && !(meta_auto_usable() >> first & 1 && meta_auto_alike(first, d))) ++first;
    return first == d;
}

/* Try the next call that is unknown on a device, if that costs little. */
static void consider_unknown(meta_course *course)
{
    const uint32_t devices = (uint32_t)course->step.devices, pairs = course->step.calls * devices;
    uint32_t c = 0, k = 0;
    int d = 0;
    for (; k < pairs; ++k) {
        c = course->unknown / devices;
        d = (int)(course->unknown % devices);
        course->unknown = (course->unknown + 1) % pairs;
        if (course->call[c].among & meta_auto_usable() & UINT32_C(1) << d && d != course->plan[c] &&
            !meta_course_knows(course, c, d) && is_first_of_kind(d))
            break;
    }
    if (k == pairs) return;
    memcpy(course->trial, course->plan, course->step.calls);
    course->trial[c] = (uint8_t)d;
    const double price = trial_price(course, TO_KNOW);
    if (price > course->may_spend || !meta_share_turn(META_SHARE_TRY)) return;
    course->may_spend -= price;
    course->spent = price;
    meta_step_claim(course, course->trial);
    meta_explain_trial(course->step.calls, d);
    course->tried = d;
    course->steps = course->least = 0;
}

static void count_step(meta_course *course)
{
    if (++course->turns % AT_TIMES == 0) {
        const double passed = AT_TIMES * course->now;
        course->may_spend += unknown_share * passed;
        for (int d = 0; d < course->step.devices; ++d) course->since[d] += passed;
        course->is_due = true;
    }
}

/* Every so many steps, and later where others are about to do so. */
static void look_again(meta_course *course)
{
    if (course->is_due && course->tried < 0) course->is_due = !consider_again(course);
    if (course->turns % SELDOM == 0 && course->tried < 0) consider_unknown(course);
}

void meta_trials_consider(meta_course *course)
{
    count_step(course);
    if (meta_auto.owed_trials < trials_credit) {
        if (course->turns < AT_TIMES || course->turns % SELDOM == 0) consider_trials(course);
        look_again(course);
    }
    meta_course_charge(course, &meta_auto.owed_trials);
    meta_auto.owed_trials = fmax(meta_auto.owed_trials - trials_share * course->now, 0);
}
