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
 *  again for a fiftieth of the time that has passed since. */
#include <stdlib.h>
#include <string.h>

#include "auto/loop.h"
#include "auto/plan.h"

/* WORK: what is spent on the search at the end of a step, in pieces looked at; LONGEST_TRIAL: in
 * steps. It takes two for runs to be known, of which the first does not count, and as many more as
 * the device is behind. */
enum { WORK = 1 << 14, LONGEST_TRIAL = 8 };

/* A device that was slower is tried for AGAIN steps, so that most of the runs that count are new
 * ones, but not after BEHIND calls that are as slow: the times of more may not be known yet.
 * Whether to is considered every AT_TIMES steps. What is slower by a few tenths only is noise. */
enum { AGAIN = 4, BEHIND = 8, AT_TIMES = 64 };
static const double again_share = 0.02, noise = 0.7;

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
};

/* ------------------------------------------------------------------ what a step uses */

static int by_place(const void *a, const void *b)
{
    const meta_loop_use *u = a, *v = b;
    if (u->address != v->address) return u->address < v->address ? -1 : 1;
    return (u->begin > v->begin) - (u->begin < v->begin);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The pieces of one buffer, of which there are @p count uses: cut where any begins or ends. */
static void cut_buffer(meta_plan_step *s, const meta_loop_use *u, size_t count, uint64_t *end)
{
    size_t ends = 0;
    for (size_t k = 0; k < count; ++k) {
        end[ends++] = u[k].begin;
        end[ends++] = u[k].end;
    }
    qsort(end, ends, sizeof *end, by_number);
    for (size_t k = 1; k < ends; ++k)
        if (end[k] > end[k - 1])
            s->piece[s->pieces++] = (meta_plan_piece){end[k] - end[k - 1], s->buffers};
    s->buffer[s->buffers++] = u->size;
}

/* The piece that begins at byte @p to, of a buffer whose first one is @p piece and begins at
 * @p at. */
static uint32_t piece_at(const meta_plan_step *s, uint32_t piece, uint64_t at, uint64_t to)
{
    while (at < to) at += s->piece[piece++].bytes;
    return piece;
}

/* The pieces of the uses of the buffer at @p address. */
static void divide_uses(meta_plan_step *s, const meta_loop_event *const *event,
                        const meta_loop_use *lowest, uint32_t first_piece)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < s->calls; ++c)
        for (uint32_t u = 0; u < event[c]->uses; ++u, ++n) {
            const meta_loop_use *of = &event[c]->use[u];
            if (of->address != lowest->address) continue;
            s->use[n].first = piece_at(s, first_piece, lowest->begin, of->begin);
            s->use[n].last = piece_at(s, s->use[n].first, of->begin, of->end);
            s->use[n].reads = of->reads;
            s->use[n].writes = of->writes;
        }
}

static bool divide(meta_plan_step *s, const meta_loop_event *const *event)
{
    size_t count = 0, n = 0;
    for (uint32_t c = 0; c < s->calls; ++c) count += event[c]->uses;
    meta_loop_use *sorted = malloc((count + 1) * sizeof *sorted);
    uint64_t *end = malloc((2 * count + 1) * sizeof *end);
    s->use = malloc((count + 1) * sizeof *s->use);
    s->piece = malloc((2 * count + 1) * sizeof *s->piece);
    s->buffer = malloc((count + 1) * sizeof *s->buffer);
    const bool has_room = sorted && end && s->use && s->piece && s->buffer;
    for (uint32_t c = 0; has_room && c < s->calls; ++c)
        for (uint32_t u = 0; u < event[c]->uses; ++u) sorted[n++] = event[c]->use[u];
    if (has_room && count > 0) qsort(sorted, count, sizeof *sorted, by_place);
    for (size_t k = 0, done = 0; has_room && done < count; done = k) {
        const uint32_t first_piece = s->pieces;
        while (k < count && sorted[k].address == sorted[done].address) ++k;
        cut_buffer(s, sorted + done, k - done, end);
        divide_uses(s, event, &sorted[done], first_piece);
    }
    free(sorted);
    free(end);
    return has_room;
}

/* ------------------------------------------------------------------ times */

static bool is_known(const meta_course *l, uint32_t c, int d)
{
    return meta_cost_is_known(l->call[c].kernel, d, l->call[c].cells);
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
static void read_times(meta_course *l)
{
    read_links(&l->step);
    l->learned = meta_auto.learned;
    for (uint32_t c = 0; c < l->step.calls; ++c) {
        const meta_loop_call *call = &l->call[c];
        meta_cost_times(call, l->step.call[c].time);
        l->step.call[c].among = 0;
        for (int d = 0; d < l->step.devices; ++d)
            if (call->among >> d & 1 && (d == l->plan[c] || is_known(l, c, d)))
                l->step.call[c].among |= UINT32_C(1) << d;
    }
    meta_plan_search_again(l->search);
    l->is_searching = true;
}

/* ------------------------------------------------------------------ at the end of a step */

/* Follow the best plan found once it would have saved what the change costs. */
static void consider(meta_course *l)
{
    const uint8_t *best = meta_plan_found(l->search);
    if (memcmp(best, l->plan, l->step.calls) == 0) {
        l->saved = 0;
        return;
    }
    const double now = meta_plan_cost(l->search, l->plan), next = meta_plan_cost(l->search, best);
    const double gain = now - next;
    l->saved = gain > 0 ? l->saved + gain : 0;
    if (gain <= 0 || l->saved <= meta_plan_change(l->search, l->plan, best)) return;
    meta_explain_plan(best, l->step.calls, now, next);
    memcpy(l->plan, best, l->step.calls);
    l->saved = 0;
    read_times(l);
}

/* Whether a call's time on device @p d is worth knowing. */
static bool may_gain(const meta_course *l, uint32_t c, int d)
{
    const meta_plan_call *call = &l->step.call[c];
    return l->call[c].among >> d & 1 && d != l->plan[c] && !is_known(l, c, d) &&
           call->time[d] < call->time[l->plan[c]];
}

/* The plan with device @p d for the calls whose time is worth knowing there, or for all if they
 * are @p together.
 * @return whether one is worth knowing */
static bool make_trial(meta_course *l, int d, bool together)
{
    bool any = false;
    for (uint32_t c = 0; c < l->step.calls; ++c) {
        const bool gains = may_gain(l, c, d);
        l->trial[c] = gains || (together && l->call[c].among >> d & 1) ? (uint8_t)d : l->plan[c];
        any |= gains;
    }
    return any;
}

/* Begin a trial on a device where it has been paid for. */
static void consider_trials(meta_course *l)
{
    bool together = false;
    l->tried = -1;
    for (int d = 0; d < l->step.devices; ++d) {
        if (!(meta_auto_usable() >> d & 1) || !make_trial(l, d, false)) continue;
        const double now = meta_plan_cost(l->search, l->plan);
        const double apart = meta_plan_cost(l->search, l->trial);
        make_trial(l, d, true);
        const double all = meta_plan_cost(l->search, l->trial);
        const bool is_all = all < apart;
        if (!is_all) make_trial(l, d, false);
        const double gain = now - (is_all ? all : apart);
        l->hoped[d] = gain > 0 ? l->hoped[d] + gain : 0;
        if (l->tried >= 0 || gain <= 0 ||
            l->hoped[d] <= l->price[d] * meta_plan_change(l->search, l->plan, l->trial))
            continue;
        l->tried = d;
        together = is_all;
    }
    if (l->tried < 0) return;
    make_trial(l, l->tried, together);
    meta_explain_trial(l->step.calls, l->tried);
    l->hoped[l->tried] = 0;
    l->price[l->tried] *= 2;
    l->steps = l->least = 0;
}

/* Whether the calls so far of a device that is tried again take what they took of late. */
static bool is_still_slow(const meta_course *l)
{
    const uint32_t so_far = (uint32_t)l->steps * l->step.calls + l->at;
    double last = 0, hope = 0;
    for (uint32_t c = 0; c < l->step.calls && c + BEHIND < so_far; ++c) {
        if (l->trial[c] != l->tried) continue;
        last += noise * meta_cost_last(&l->call[c], l->tried);
        hope += meta_cost_best(&l->call[c], l->tried);
    }
    return last > hope;
}

/* A trial ends as soon as its calls' times are known, or when they do not come to be. */
static void end_trial(meta_course *l)
{
    bool is_known_now = true;
    l->steps += l->at == 0;
    for (uint32_t c = 0; c < l->step.calls; ++c)
        is_known_now &= l->trial[c] == l->plan[c] || is_known(l, c, l->trial[c]);
    if (l->least > 0 ? l->steps < l->least && !is_still_slow(l)
                     : l->steps < LONGEST_TRIAL && !is_known_now)
        return;
    l->tried = -1;
    read_times(l);
}

/* ------------------------------------------------------------------ devices that were slower */

/* Take the device's best times for calls that are not there.
 * @return whether there are any */
static bool be_hopeful(meta_course *l, int d)
{
    bool any = false;
    for (uint32_t c = 0; c < l->step.calls; ++c) {
        const double best = meta_cost_best(&l->call[c], d);
        double *time = &l->step.call[c].time[d];
        if (l->plan[c] == d || best == 0 || best > noise * *time) continue;
        *time = best;
        any = true;
    }
    return any;
}

/* What a step would cost with the trial's plan if the device were what it was; as much as @p now
 * if nothing is known to have changed. */
static double hoped_cost(meta_course *l, int d, double now)
{
    const size_t bytes = l->step.calls * sizeof *l->step.call;
    meta_plan_call *kept = malloc(bytes);
    double cost = now;
    if (!kept) return now;
    memcpy(kept, l->step.call, bytes);
    if (be_hopeful(l, d)) cost = meta_plan_cost(l->search, l->trial);
    memcpy(l->step.call, kept, bytes);
    free(kept);
    return cost;
}

/* Whether to try device @p d again, with all calls. */
static bool is_worth_it(meta_course *l, int d, double now)
{
    for (uint32_t c = 0; c < l->step.calls; ++c)
        l->trial[c] = l->call[c].among >> d & 1 ? (uint8_t)d : l->plan[c];
    const double slow = meta_plan_cost(l->search, l->trial);
    const double change = meta_plan_change(l->search, l->plan, l->trial);
    const double price = (slow - now) * (BEHIND + 1) / l->step.calls + 2 * change;
    return price <= again_share * l->since[d] && hoped_cost(l, d, now) < now;
}

static void consider_again(meta_course *l)
{
    const double now = meta_plan_cost(l->search, l->plan);
    for (int d = 0; d < l->step.devices; ++d) {
        l->since[d] += AT_TIMES * now;
        if (l->tried >= 0) return;
        if (!(meta_auto_usable() >> d & 1) || !is_worth_it(l, d, now)) continue;
        l->tried = d;
        l->since[d] = 0;
        l->steps = 0;
        l->least = AGAIN;
        meta_auto.attention = AGAIN * (int)l->step.calls;
        meta_explain_trial(l->step.calls, d);
    }
}

/* Behind a step. */
static void turn(meta_course *l)
{
    const uint32_t size = 1 + l->step.calls + l->step.pieces + 2 * l->step.uses;
    const uint64_t news = meta_auto.learned - l->learned;
    if (l->tried >= 0) return;
    if (news > l->step.calls || (news > 0 && meta_auto.attention > 0)) read_times(l);
    if (l->is_searching) l->is_searching = meta_plan_search_on(l->search, 1 + WORK / size);
    consider(l);
    consider_trials(l);
    if (++l->turns % AT_TIMES == 0) consider_again(l);
}

/* ------------------------------------------------------------------ to the recognition */

void meta_course_free(meta_course *l)
{
    if (!l) return;
    meta_plan_search_free(l->search);
    free(l->step.call);
    free(l->step.use);
    free(l->step.piece);
    free(l->step.buffer);
    free(l->call);
    free(l->plan);
    free(l->trial);
    free(l);
}

static bool take_calls(meta_course *l, const meta_loop_event *const *event)
{
    meta_plan_step *s = &l->step;
    s->call = calloc(s->calls, sizeof *s->call);
    l->call = calloc(s->calls, sizeof *l->call);
    l->plan = calloc(s->calls, 1);
    l->trial = calloc(s->calls, 1);
    if (!s->call || !l->call || !l->plan || !l->trial) return false;
    for (uint32_t c = 0; c < s->calls; ++c) {
        meta_plan_call *call = &s->call[c];
        call->first = s->uses;
        call->last = s->uses += event[c]->uses;
        call->kind = (uint64_t)(event[c]->call.kernel - META_LOOP_COPY_OUT);
        memcpy(call->time, event[c]->time, sizeof call->time);
        l->call[c] = event[c]->call;
        l->plan[c] = (uint8_t)event[c]->device;
    }
    return divide(s, event);
}

meta_course *meta_course_new(const meta_loop_event *const *event, uint32_t calls)
{
    meta_course *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->step.devices = meta_auto.devices;
    l->step.calls = calls;
    l->tried = -1;
    for (int d = 0; d < meta_auto.devices; ++d) {
        l->step.memory[d] = meta_auto.device[d].device->desc.memory;
        l->price[d] = 1;
    }
    if (take_calls(l, event)) l->search = meta_plan_search_new(&l->step, l->plan);
    if (!l->search) return meta_course_free(l), NULL;
    read_times(l);
    return l;
}

uint64_t meta_course_due(const meta_course *l)
{
    return l->call[l->at].signature;
}

int meta_course_next(meta_course *l, meta_loop_call **call)
{
    const uint32_t at = l->at;
    if (l->tried >= 0) end_trial(l);
    if (at == 0) turn(l);
    l->at = at + 1 < l->step.calls ? at + 1 : 0;
    *call = &l->call[at];
    return l->tried >= 0 ? l->trial[at] : l->plan[at];
}
