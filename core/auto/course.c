/* SPDX-License-Identifier: BSD-3-Clause */
/** @file course.c
 *  The devices of a loop's calls from step to step. At the end of each step the search for a better
 *  plan goes on. What the best one would have saved so far adds up, and when it exceeds what the
 *  change costs, it is followed (to buy once the rent paid equals the price: Karlin, Manasse,
 *  Rudolph and Sleator 1988).
 *
 *  A plan is made of times that are known. Where some are not, what a device would have saved if it
 *  were as fast as the bound on it adds up likewise, and buys a trial: a few steps in which the
 *  calls that are unknown there run there. A device that has become slower than it was is tried
 *  again for a fiftieth of the time that has passed since, and a call that is unknown on a device
 *  for a hundredth, whatever the bound says: a device that is slow with some kernels may be fast
 * with others, and one call elsewhere may pay where all together do not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auto/loop.h"
#include "auto/share.h"
#include "auto/worker.h"

/* WORK: what is spent on the search at the end of a step, in pieces looked at; LONGEST_TRIAL: in
 * steps. It takes two for runs to be known, of which the first does not count, and as many more as
 * the device is behind. */
enum { WORK = 1 << 15, LONGEST_TRIAL = 8 };

/* A device that was slower is tried for AGAIN steps, so that most of the runs that count are new
 * ones, but not after BEHIND calls that are as slow: the times of more may not be known yet.
 * Whether to is considered every AT_TIMES steps, and after as many steps every SELDOM ones whether
 * to try what is not known. What is slower by a few tenths only is noise. */
enum { AGAIN = 4, BEHIND = 8, AT_TIMES = 64, SELDOM = 8, TO_KNOW = 3 };
static const double again_share = 0.02, unknown_share = 0.01, noise = 0.7;

struct meta_course {
    meta_plan_step step;
    meta_plan_search *search;
    meta_loop_call *call;
    uint8_t *plan, *trial;            /* the trial's plan */
    uint32_t at;                      /* the call that is due */
    uint64_t learned;                 /* meta_auto.learned when times were read */
    double saved;                     /* nanoseconds, by the best plan found */
    double hoped[META_SLABS_DEVICES]; /* nanoseconds that trials on the devices might have saved */
    double price[META_SLABS_DEVICES]; /* of trials there, times the cost; doubles with each */
    int tried;                        /* the device of a trial; -1: there is none */
    int steps, least;                 /* of it so far, and at least */
    uint64_t turns;
    double since[META_SLABS_DEVICES]; /* nanoseconds since the device was tried again */
    bool is_searching;                /* for a better plan */
    bool is_due;                      /* to consider devices that were slower */
    double unknown_since;             /* nanoseconds since a call that is unknown was tried */
    uint32_t unknown;                 /* which call and device is considered next */
    uint64_t moves;                   /* meta_share.seen when one was tried */
};

/* ------------------------------------------------------------------ times */

static bool is_known(const meta_course *course, uint32_t c, int d)
{
    return meta_expect_is_known(course->call[c].kernel, d, course->call[c].cells);
}

/* OpenMP, and OpenCL on the CPU, compute on the same cores, and on the first the caller waits. */
static void read_engines(meta_plan_step *s)
{
    int cores = -1;
    for (int d = 0; d < s->devices; ++d) {
        const bool is_cpu = meta_auto.device[d].is_cpu;
        if (is_cpu && cores < 0) cores = d;
        s->engine[d] = is_cpu ? cores : d;
        s->blocks_below[d] = meta_worker_has(&meta_auto.device[d]) ? META_WORKER_LONG
                             : meta_auto.device[d].is_host         ? INFINITY
                                                                   : 0;
        for (int from = 0; from < s->devices; ++from)
            s->is_staged[from][d] = !meta_auto.device[from].is_host &&
                                    !meta_auto.device[d].is_host &&
                                    !(meta_auto.peers[d] >> from & 1);
    }
}

static void read_links(meta_plan_step *s)
{
    const uint64_t much = 1 << 20;
    for (int from = 0; from < s->devices; ++from)
        for (int to = 0; to < s->devices; ++to) {
            s->latency[from][to] = meta_auto_move_time(from, to, 0);
            s->per_byte[from][to] =
                (meta_auto_move_time(from, to, much) - s->latency[from][to]) / (double)much;
        }
}

/* Devices on which a call's time is not known are not planned for it. */
static void read_times(meta_course *course)
{
    read_links(&course->step);
    for (int d = 0; d < course->step.devices; ++d) course->step.memory[d] = meta_share_memory(d);
    course->learned = meta_auto.learned;
    for (uint32_t c = 0; c < course->step.calls; ++c) {
        const meta_loop_call *call = &course->call[c];
        meta_expect_times(call, course->step.call[c].time);
        course->step.call[c].is_waited = call->is_waited || call->kernel == META_LOOP_COPY_OUT;
        course->step.call[c].among = 0;
        for (int d = 0; d < course->step.devices; ++d)
            if (call->among >> d & 1 && (d == course->plan[c] || is_known(course, c, d)))
                course->step.call[c].among |= UINT32_C(1) << d;
    }
    meta_plan_search_again(course->search);
    course->is_searching = true;
}

/* ------------------------------------------------------------------ at the end of a step */

/* The devices of @p plan are used as long as its calls take there. */
static void claim(const meta_course *course, const uint8_t *plan)
{
    double time[META_SLABS_DEVICES] = {0};
    for (uint32_t c = 0; c < course->step.calls; ++c)
        if (course->call[c].kernel >= 0)
            time[plan[c]] += course->step.call[c].time[plan[c]] / meta_share.share[plan[c]];
    meta_share_claim(time);
}

/* Follow the best plan found once it would have saved what the change costs. */
static void consider(meta_course *course)
{
    const uint8_t *best = meta_plan_found(course->search);
    if (memcmp(best, course->plan, course->step.calls) == 0) {
        course->saved = 0;
        return;
    }
    const double now = meta_plan_cost(course->search, course->plan),
                 next = meta_plan_cost(course->search, best);
    const double gain = now - next;
    course->saved = gain > 0 ? course->saved + gain : 0;
    if (gain <= 0 || course->saved <= meta_plan_change(course->search, course->plan, best)) return;
    if (!meta_share_turn(META_SHARE_MOVE)) return;
    claim(course, best);
    meta_explain_plan(best, course->step.calls, now, next);
    memcpy(course->plan, best, course->step.calls);
    course->saved = 0;
    read_times(course);
}

/* Whether a call's time on device @p d is worth knowing. */
static bool may_gain(const meta_course *course, uint32_t c, int d)
{
    const meta_plan_call *call = &course->step.call[c];
    return course->call[c].among >> d & 1 && d != course->plan[c] && !is_known(course, c, d) &&
           call->time[d] < call->time[course->plan[c]];
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
        const double now = meta_plan_cost(course->search, course->plan);
        const double apart = meta_plan_cost(course->search, course->trial);
        make_trial(course, d, true);
        const double all = meta_plan_cost(course->search, course->trial);
        const bool is_all = all < apart;
        if (!is_all) make_trial(course, d, false);
        const double gain =
            (now - (is_all ? all : apart)) * (course->turns < AT_TIMES ? 1 : SELDOM);
        course->hoped[d] = gain > 0 ? course->hoped[d] + gain : 0;
        if (course->tried >= 0 || gain <= 0 ||
            course->hoped[d] <=
                course->price[d] * meta_plan_change(course->search, course->plan, course->trial))
            continue;
        course->tried = d;
        together = is_all;
    }
    if (course->tried < 0) return;
    if (!meta_share_turn(META_SHARE_TRY)) {
        course->tried = -1;
        return;
    }
    make_trial(course, course->tried, together);
    claim(course, course->trial);
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

/* A trial ends as soon as its calls' times are known, or when they do not come to be. */
static void end_trial(meta_course *course)
{
    bool is_known_now = true;
    course->steps += course->at == 0;
    for (uint32_t c = 0; c < course->step.calls; ++c)
        is_known_now &=
            course->trial[c] == course->plan[c] || is_known(course, c, course->trial[c]);
    if (course->least > 0 ? course->steps < course->least && !is_still_slow(course)
                          : course->steps < LONGEST_TRIAL && !is_known_now)
        return;
    if (course->least > 0) forget_wait(course);
    course->tried = -1;
    claim(course, course->plan);
    read_times(course);
}

/* ------------------------------------------------------------------ devices that were slower */

/* Take the device's best times for calls that are not there.
 * @return whether there are any */
static bool be_hopeful(meta_course *course, int d)
{
    bool any = false;
    for (uint32_t c = 0; c < course->step.calls; ++c) {
        const double best = meta_expect_best(&course->call[c], d);
        double *time = &course->step.call[c].time[d];
        if (course->plan[c] == d || best == 0 || best > noise * *time) continue;
        *time = best;
        any = true;
    }
    return any;
}

/* What a step would cost with the trial's plan if the device were what it was; as much as @p now
 * if nothing is known to have changed. */
static double hoped_cost(meta_course *course, int d, double now)
{
    const size_t bytes = course->step.calls * sizeof *course->step.call;
    meta_plan_call *kept = malloc(bytes);
    double cost = now;
    if (!kept) return now;
    memcpy(kept, course->step.call, bytes);
    if (be_hopeful(course, d)) cost = meta_plan_cost(course->search, course->trial);
    memcpy(course->step.call, kept, bytes);
    free(kept);
    return cost;
}

/* Whether to try device @p d again, with all calls. */
static bool is_worth_it(meta_course *course, int d, double now)
{
    for (uint32_t c = 0; c < course->step.calls; ++c)
        course->trial[c] = course->call[c].among >> d & 1 ? (uint8_t)d : course->plan[c];
    const double slow = meta_plan_cost(course->search, course->trial);
    const double change = meta_plan_change(course->search, course->plan, course->trial);
    const double price = (slow - now) * (BEHIND + 1) / course->step.calls + 2 * change;
    return price <= again_share * course->since[d] && hoped_cost(course, d, now) < now;
}

/* @return false: it is to be considered again soon */
static bool consider_again(meta_course *course)
{
    const double now = meta_plan_cost(course->search, course->plan);
    for (int d = 0; d < course->step.devices; ++d) {
        if (!(meta_auto_usable() >> d & 1)) continue;
        if (!is_worth_it(course, d, now)) continue;
        if (!meta_share_turn(META_SHARE_TRY_AGAIN)) return false;
        claim(course, course->trial);
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
            !is_known(course, c, d) && is_first_of_kind(d))
            break;
    }
    if (k == pairs) return;
    memcpy(course->trial, course->plan, course->step.calls);
    course->trial[c] = (uint8_t)d;
    const double slower = meta_plan_cost(course->search, course->trial) -
                          meta_plan_cost(course->search, course->plan);
    const double change = meta_plan_change(course->search, course->plan, course->trial);
    const double price = (slower > 0 ? slower : 0) * TO_KNOW + 2 * change;
    if (price > unknown_share * course->unknown_since || !meta_share_turn(META_SHARE_TRY)) return;
    claim(course, course->trial);
    meta_explain_trial(course->step.calls, d);
    course->tried = d;
    course->unknown_since = 0;
    course->steps = course->least = 0;
}

/* Every so many steps, and later where others are about to do so. */
static void look_again(meta_course *course)
{
    if (++course->turns % AT_TIMES == 0) {
        const double now = meta_plan_cost(course->search, course->plan);
        course->unknown_since += AT_TIMES * now;
        for (int d = 0; d < course->step.devices; ++d) course->since[d] += AT_TIMES * now;
        course->is_due = true;
    }
    if (course->is_due && course->tried < 0) course->is_due = !consider_again(course);
    if (course->turns % SELDOM == 0 && course->tried < 0) consider_unknown(course);
}

/* Behind a step. */
static void turn(meta_course *course)
{
    const uint32_t size =
        6 * (1 + course->step.calls + course->step.pieces + 2 * course->step.uses);
    const uint64_t news = meta_auto.learned - course->learned;
    if (course->tried >= 0) return;
    if (news > course->step.calls || (news > 0 && meta_auto.attention > 0)) read_times(course);
    if (course->is_searching)
        course->is_searching = meta_plan_search_on(course->search, 1 + WORK / size);
    consider(course);
    if (meta_auto.is_fixed) return;
    if (course->turns < AT_TIMES || course->turns % SELDOM == 0) consider_trials(course);
    look_again(course);
}

/* ------------------------------------------------------------------ to the recognition */

void meta_course_free(meta_course *course)
{
    if (!course) return;
    meta_plan_search_free(course->search);
    free(course->step.call);
    free(course->step.use);
    free(course->step.piece);
    free(course->step.buffer);
    free(course->call);
    free(course->plan);
    free(course->trial);
    free(course);
}

static bool take_calls(meta_course *course, const meta_loop_event *const *event)
{
    meta_plan_step *s = &course->step;
    s->call = calloc(s->calls, sizeof *s->call);
    course->call = calloc(s->calls, sizeof *course->call);
    course->plan = calloc(s->calls, 1);
    course->trial = calloc(s->calls, 1);
    if (!s->call || !course->call || !course->plan || !course->trial) return false;
    for (uint32_t c = 0; c < s->calls; ++c) {
        meta_plan_call *call = &s->call[c];
        call->first = s->uses;
        call->last = s->uses += event[c]->uses;
        call->is_copy = event[c]->call.kernel == META_LOOP_COPY_IN ||
                        event[c]->call.kernel == META_LOOP_COPY_OUT;
        call->kind = (uint64_t)(event[c]->call.kernel - META_LOOP_COPY_OUT);
        memcpy(call->time, event[c]->time, sizeof call->time);
        course->call[c] = event[c]->call;
        course->plan[c] = (uint8_t)event[c]->device;
    }
    return meta_loop_divide(s, event);
}

meta_course *meta_course_new(const meta_loop_event *const *event, uint32_t calls)
{
    meta_course *course = calloc(1, sizeof *course);
    if (!course) return NULL;
    course->step.devices = meta_auto.devices;
    course->step.calls = calls;
    course->tried = -1;
    for (int d = 0; d < meta_auto.devices; ++d) {
        course->step.memory[d] = meta_share_memory(d);
        course->price[d] = 1;
    }
    read_engines(&course->step);
    if (take_calls(course, event))
        course->search = meta_plan_search_new(&course->step, course->plan);
    if (!course->search) return meta_course_free(course), NULL;
    read_times(course);
    return course;
}

uint64_t meta_course_due(const meta_course *course)
{
    return course->call[course->at].signature;
}

int meta_course_next(meta_course *course, meta_loop_call **call)
{
    const uint32_t at = course->at;
    if (course->tried >= 0) end_trial(course);
    if (at == 0) turn(course);
    course->at = at + 1 < course->step.calls ? at + 1 : 0;
    *call = &course->call[at];
    const int device = course->tried >= 0 ? course->trial[at] : course->plan[at];
    (*call)->expected = course->step.call[at].time[device];
    (*call)->is_tried = device != course->plan[at];
    return device;
}
