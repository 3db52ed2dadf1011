/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plan.c
 *  Local search for the devices of a loop's calls. A neighbour of a plan has a stretch of calls, or
 *  all that use a buffer or are of one kind, on another device. A plan's cost is that of its second
 *  step: the first one brings the data to where the plan keeps it. */
#include "auto/plan.h"

#include <stdlib.h>
#include <string.h>

/* CUTS: places where a stretch may begin or end. With fewer calls that is anywhere. */
enum { CUTS = 24, GROUPS = 64 };

/* Calls that use a buffer, or are of one kind. */
typedef struct group {
    bool is_kind;
    uint64_t what;
} group;

struct meta_plan_search {
    const meta_plan_step *step;
    uint8_t *found, *other; /* the best plan, and one that is looked at */
    uint32_t *valid;
    double cost;
    uint32_t cuts, groups, next, in_vain; /* the next neighbour; so many in turn were no better */
    uint32_t cut[CUTS];
    group group[GROUPS];
};

/* ------------------------------------------------------------------ what a step costs */

/* The device that holds a piece from where it reaches device @p d soonest; -1: none. */
static int source(const meta_plan_step *s, uint32_t valid, uint64_t bytes, int d)
{
    int found = -1;
    double least = 0;
    for (; valid; valid &= valid - 1) {
        const int from = __builtin_ctz(valid);
        const double time = s->latency[from][d] + (double)bytes * s->per_byte[from][d];
        if (found >= 0 && time >= least) continue;
        found = from;
        least = time;
    }
    return found;
}

/* Neighbouring pieces from one device are one copy. */
static double fetch(const meta_plan_step *s, const meta_plan_use *use, int d, uint32_t *valid)
{
    const uint32_t bit = UINT32_C(1) << d;
    double time = 0;
    int last = -1;
    for (uint32_t k = use->first; k < use->last; ++k) {
        int from = -1;
        if (!(valid[k] & bit)) from = source(s, valid[k], s->piece[k].bytes, d);
        if (from >= 0)
            time += (from == last ? 0 : s->latency[from][d]) +
                    (double)s->piece[k].bytes * s->per_byte[from][d];
        valid[k] |= bit;
        last = from;
    }
    return time;
}

double meta_plan_pass(const meta_plan_step *s, const uint8_t *device, uint32_t *valid)
{
    double time = 0;
    for (uint32_t c = 0; c < s->calls; ++c) {
        const meta_plan_call *call = &s->call[c];
        const int d = device[c];
        time += call->time[d];
        for (uint32_t u = call->first; u < call->last; ++u)
            if (s->use[u].reads) time += fetch(s, &s->use[u], d, valid);
        for (uint32_t u = call->first; u < call->last; ++u)
            for (uint32_t k = s->use[u].first; s->use[u].writes && k < s->use[u].last; ++k)
                valid[k] = UINT32_C(1) << d;
    }
    return time;
}

/* A device that has no memory for all that a step uses there loses each copy before it is used
 * again: everything comes and goes once a step. */
static double thrashing(const meta_plan_step *s, const uint8_t *device, uint32_t *seen)
{
    uint64_t held[META_SLABS_DEVICES] = {0};
    double time = 0;
    memset(seen, 0, s->buffers * sizeof *seen);
    for (uint32_t c = 0; c < s->calls; ++c)
        for (uint32_t u = s->call[c].first; u < s->call[c].last; ++u) {
            const uint32_t b = s->piece[s->use[u].first].buffer;
            if (seen[b] >> device[c] & 1) continue;
            seen[b] |= UINT32_C(1) << device[c];
            held[device[c]] += s->buffer[b];
        }
    for (int d = 0; d < s->devices; ++d) {
        if (s->memory[d] == 0 || held[d] <= s->memory[d]) continue;
        const int other = d == 0 && s->devices > 1 ? 1 : 0;
        time += (double)held[d] * (s->per_byte[other][d] + s->per_byte[d][other]);
    }
    return time;
}

/* Leaves what is valid after two steps in search->valid. */
double meta_plan_cost(meta_plan_search *search, const uint8_t *device)
{
    const meta_plan_step *s = search->step;
    const double out_of_memory = thrashing(s, device, search->valid);
    memset(search->valid, 0, s->pieces * sizeof *search->valid);
    meta_plan_pass(s, device, search->valid);
    return meta_plan_pass(s, device, search->valid) + out_of_memory;
}

double meta_plan_change(meta_plan_search *search, const uint8_t *now, const uint8_t *next)
{
    const double then = meta_plan_cost(search, next);
    meta_plan_cost(search, now);
    return meta_plan_pass(search->step, next, search->valid) - then;
}

/* ------------------------------------------------------------------ neighbours */

/* How much the devices' times change relative to each other from the call before to call @p c. */
static double contrast(const meta_plan_step *s, uint32_t c)
{
    const meta_plan_call *here = &s->call[c], *before = &s->call[(c + s->calls - 1) % s->calls];
    double sum = 0;
    for (int d = 1; d < s->devices; ++d) {
        const double change = (here->time[d] - here->time[0]) - (before->time[d] - before->time[0]);
        sum += change < 0 ? -change : change;
    }
    return sum;
}

/* The calls before which the contrast is highest, all if there are few. */
static void find_cuts(meta_plan_search *search)
{
    const meta_plan_step *s = search->step;
    double least = -1; /* of those that are taken */
    search->cuts = 0;
    for (uint32_t c = 0; c < s->calls; ++c) {
        const double here = contrast(s, c);
        uint32_t at = search->cuts;
        if (at < CUTS) {
            search->cut[search->cuts++] = c;
            if (at == 0 || here < least) least = here;
            continue;
        }
        if (here <= least) continue;
        for (at = 0; contrast(s, search->cut[at]) > least;) ++at;
        memmove(search->cut + at, search->cut + at + 1, (CUTS - 1 - at) * sizeof *search->cut);
        search->cut[CUTS - 1] = c;
        least = here;
        for (uint32_t k = 0; k < CUTS; ++k)
            if (contrast(s, search->cut[k]) < least) least = contrast(s, search->cut[k]);
    }
}

static void add_group(meta_plan_search *search, group g)
{
    for (uint32_t k = 0; k < search->groups; ++k)
        if (search->group[k].is_kind == g.is_kind && search->group[k].what == g.what) return;
    if (search->groups < GROUPS) search->group[search->groups++] = g;
}

static void find_groups(meta_plan_search *search)
{
    const meta_plan_step *s = search->step;
    search->groups = 0;
    for (uint32_t b = 0; b < s->buffers; ++b) add_group(search, (group){false, b});
    for (uint32_t c = 0; c < s->calls; ++c) add_group(search, (group){true, s->call[c].kind});
}

static bool is_in(const meta_plan_step *s, const group *g, uint32_t c)
{
    const meta_plan_call *call = &s->call[c];
    if (g->is_kind) return call->kind == g->what;
    for (uint32_t u = call->first; u < call->last; ++u)
        if (s->piece[s->use[u].first].buffer == g->what) return true;
    return false;
}

static void put(const meta_plan_search *search, uint32_t c, int d)
{
    if (search->step->call[c].among >> d & 1) search->other[c] = (uint8_t)d;
}

static int fastest(const meta_plan_step *s, uint32_t c)
{
    int best = -1;
    for (int d = 0; d < s->devices; ++d)
        if (s->call[c].among >> d & 1 && (best < 0 || s->call[c].time[d] < s->call[c].time[best]))
            best = d;
    return best < 0 ? 0 : best;
}

/* A plan of its own, then groups, single calls and stretches, each on each device. */
static uint32_t neighbours(const meta_plan_search *search)
{
    const uint32_t of_a_device =
        1 + search->groups + search->step->calls + search->cuts * (search->cuts - 1);
    return 1 + (uint32_t)search->step->devices * of_a_device;
}

/* Stretch @p n: the calls from one cut to another one, over the end of the step if need be. */
static void put_stretch(const meta_plan_search *search, uint32_t n, int d)
{
    const uint32_t calls = search->step->calls, from = n / (search->cuts - 1);
    uint32_t to = n % (search->cuts - 1);
    if (to >= from) ++to;
    for (uint32_t c = search->cut[from]; c != search->cut[to]; c = (c + 1) % calls)
        put(search, c, d);
}

static void make(const meta_plan_search *search, uint32_t n)
{
    const meta_plan_step *s = search->step;
    memcpy(search->other, search->found, s->calls);
    if (n == 0) {
        for (uint32_t c = 0; c < s->calls; ++c) search->other[c] = (uint8_t)fastest(s, c);
        return;
    }
    const int d = (int)((n - 1) % (uint32_t)s->devices);
    n = (n - 1) / (uint32_t)s->devices;
    if (n == 0) {
        for (uint32_t c = 0; c < s->calls; ++c) put(search, c, d);
    } else if (n <= search->groups) {
        for (uint32_t c = 0; c < s->calls; ++c)
            if (is_in(s, &search->group[n - 1], c)) put(search, c, d);
    } else if (n <= search->groups + s->calls) {
        put(search, n - 1 - search->groups, d);
    } else {
        put_stretch(search, n - 1 - search->groups - s->calls, d);
    }
}

/* ------------------------------------------------------------------ search */

meta_plan_search *meta_plan_search_new(const meta_plan_step *step, const uint8_t *device)
{
    meta_plan_search *search = calloc(1, sizeof *search);
    const uint32_t marks = step->pieces > step->buffers ? step->pieces : step->buffers;
    if (!search) return NULL;
    search->step = step;
    search->found = malloc(step->calls);
    search->other = malloc(step->calls);
    search->valid = calloc(marks + 1, sizeof *search->valid);
    if (!search->found || !search->other || !search->valid)
        return meta_plan_search_free(search), NULL;
    memcpy(search->found, device, step->calls);
    meta_plan_search_again(search);
    return search;
}

void meta_plan_search_free(meta_plan_search *search)
{
    if (!search) return;
    free(search->found);
    free(search->other);
    free(search->valid);
    free(search);
}

void meta_plan_search_again(meta_plan_search *search)
{
    find_cuts(search);
    find_groups(search);
    search->next = search->in_vain = 0;
    search->cost = meta_plan_cost(search, search->found);
}

bool meta_plan_search_on(meta_plan_search *search, uint32_t plans)
{
    const uint32_t all = neighbours(search);
    const double least_gain = 1e-6; /* what rounding may make of equal plans */
    for (; plans > 0 && search->in_vain < all; --plans) {
        make(search, search->next);
        search->next = (search->next + 1) % all;
        ++search->in_vain;
        if (memcmp(search->other, search->found, search->step->calls) == 0) continue;
        const double cost = meta_plan_cost(search, search->other);
        if (cost >= search->cost * (1 - least_gain)) continue;
        memcpy(search->found, search->other, search->step->calls);
        search->cost = cost;
        search->in_vain = 0;
    }
    return search->in_vain < all;
}

const uint8_t *meta_plan_found(const meta_plan_search *search)
{
    return search->found;
}
