/* SPDX-License-Identifier: BSD-3-Clause */
/** @file course.c
 *  The devices of a loop's calls from step to step. At the end of each step the search for a better
 *  plan goes on. What the best one would have saved so far adds up, and when it exceeds what the
 *  change costs, it is followed (to buy once the rent paid equals the price: Karlin, Manasse,
 *  Rudolph and Sleator 1988). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "auto/course.h"
#include "auto/share.h"

/* What is spent on the search at the end of a step, in pieces looked at. */
enum { WORK = 1 << 16 };
/* What the search may take of the time of loops, and before they have paid for it, in nanoseconds.
 */
static const double search_share = 0.01, search_credit = 60e6;

/* ------------------------------------------------------------------ at the end of a step */

static double price_of_change(meta_course *course)
{
    const uint64_t number = meta_plan_found_number(course->search);
    if (course->change < 0 || course->change_to != number) {
        course->change =
            meta_plan_change(course->search, course->plan, meta_plan_found(course->search));
        course->change_to = number;
    }
    return course->change;
}

/* Follow the best plan found once it would have saved what the change costs. */
static void consider(meta_course *course)
{
    const uint8_t *best = meta_plan_found(course->search);
    if (memcmp(best, course->plan, course->step.calls) == 0) {
        course->saved = 0;
        return;
    }
    const double next = meta_plan_found_cost(course->search), gain = course->now - next;
    course->saved = gain > 0 ? course->saved + gain : 0;
    if (gain <= 0 || course->saved <= price_of_change(course)) return;
    if (!meta_share_turn(META_SHARE_MOVE)) return;
    meta_step_claim(course, best);
    meta_explain_plan(best, course->step.calls, course->now, next);
    memcpy(course->plan, best, course->step.calls);
    course->now = next;
    course->saved = 0;
}

/* Begin the search anew if what was learned since it began is another thing to plan with. */
static void look_for_news(meta_course *course)
{
    const uint64_t news = meta_auto.learned - course->learned;
    const bool is_other_machine = news >= UINT32_MAX; /* others have moved */
    if (!is_other_machine && news <= course->step.calls && (news == 0 || meta_auto.attention == 0))
        return;
    if (is_other_machine || meta_step_is_old(course)) meta_step_read_times(course);
    course->learned = meta_auto.learned;
}

/* Behind a step. */
static void turn(meta_course *course)
{
    const uint32_t size =
        6 * (1 + course->step.calls + course->step.pieces + 2 * course->step.uses);
    if (course->tried >= 0) return;
    if (meta_auto.owed_search < search_credit) {
        look_for_news(course);
        if (course->is_searching)
            course->is_searching = meta_plan_search_on(course->search, 1 + WORK / size);
    }
    consider(course);
    meta_course_charge(course, &meta_auto.owed_search);
    meta_auto.owed_search = fmax(meta_auto.owed_search - search_share * course->now, 0);
    if (meta_auto.is_fixed) return;
    meta_trials_consider(course);
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
    meta_step_read_engines(&course->step);
    if (take_calls(course, event))
        course->search = meta_plan_search_new(&course->step, course->plan);
    if (!course->search) return meta_course_free(course), NULL;
    meta_step_read_times(course);
    return course;
}

uint64_t meta_course_due(const meta_course *course)
{
    return course->call[course->at].signature;
}

int meta_course_next(meta_course *course, meta_loop_call **call)
{
    const uint32_t at = course->at;
    if (course->tried >= 0) meta_trials_end(course);
    if (at == 0) turn(course);
    course->at = at + 1 < course->step.calls ? at + 1 : 0;
    *call = &course->call[at];
    const int device = course->tried >= 0 ? course->trial[at] : course->plan[at];
    (*call)->expected = course->step.call[at].time[device];
    (*call)->is_tried = device != course->plan[at];
    return device;
}
