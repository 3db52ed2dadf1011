/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plan.c
 *  Local search for the devices of a loop's calls. A neighbour of a plan has on another device a
 *  stretch of calls, all that use a buffer, are of one kind or depend on each other, or any two.
 * What a plan takes is worked out as the devices run it: each call begins when what it uses is
 * there and its device is free, and the host goes on at once unless it waits for a result. */
#include "auto/plan.h"

#include <stdlib.h>
#include <string.h>

/* CUTS: places where a stretch may begin or end; with fewer calls that is anywhere. PAIRS: calls of
 * which any two may change together. STEPS: over which what one takes is averaged. */
enum { CUTS = 24, GROUPS = 64, PAIRS = 16, STEPS = 4 };

/* Nanoseconds to look at a call, a use or a piece, on a core of 2020. */
static const double glance = 4;

/* Calls that use a buffer, are of one kind, or depend on each other, if by way of others. */
typedef struct group {
    enum { BUFFER, KIND, PART } of;
    uint64_t what;
} group;

/* A piece on a device while steps run, in nanoseconds since the first one began. */
typedef struct copy_state {
    double ready; /* since when it is there */
    double used;  /* until when it is read or written */
} copy_state;

/* The host, the devices and their links are busy until then. */
typedef struct clock_state {
    double host, engine[META_SLABS_DEVICES], link[META_SLABS_DEVICES];
    double work; /* the sum of all times */
} clock_state;

struct meta_plan_search {
    const meta_plan_step *step;
    uint8_t *found, *other; /* the best plan, and one that is looked at */
    uint32_t *valid;        /* of each piece: the devices that hold it; 0: nobody has written it */
    copy_state *copy;       /* of each piece on each device */
    clock_state clock;
    uint32_t *seen;    /* of each buffer */
    uint32_t *part;    /* of each call: the number of the first one that it depends on */
    double time, work; /* of the best plan: what a step takes, and that of all devices together */
    double other_work; /* of the plan that was looked at */
    bool is_first;     /* the last one looked at was counted from the first one */
    uint64_t found_number, looked;
    uint32_t cuts, groups;
    uint32_t first, next, in_vain; /* the next neighbours; so many in turn were no better */
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

static double later(double a, double b)
{
    return a > b ? a : b;
}

static copy_state *copy_of(meta_plan_search *search, uint32_t piece, int d)
{
    return &search->copy[piece * (uint32_t)search->step->devices + (uint32_t)d];
}

/* A copy of pieces [first, last), which begins when they are there, nobody uses what it overwrites
 * and both links are free. */
static void carry(meta_plan_search *search, uint32_t first, uint32_t last, int from, int to)
{
    const meta_plan_step *s = search->step;
    clock_state *clock = &search->clock;
    double begin = later(clock->host, later(clock->link[from], clock->link[to]));
    uint64_t bytes = 0;
    for (uint32_t k = first; k < last; ++k) {
        begin = later(begin, later(copy_of(search, k, from)->ready, copy_of(search, k, to)->used));
        bytes += s->piece[k].bytes;
    }
    const double time = s->latency[from][to] + (double)bytes * s->per_byte[from][to];
    const double end = begin + time;
    clock->work += time;
    clock->link[from] = clock->link[to] = end;
    if (s->is_staged[from][to]) clock->host = end;
    for (uint32_t k = first; k < last; ++k) {
        copy_state *source_copy = copy_of(search, k, from);
        search->valid[k] |= UINT32_C(1) << to;
        source_copy->used = later(source_copy->used, end);
        *copy_of(search, k, to) = (copy_state){end, end};
    }
}

/* Neighbouring pieces from one device are one copy.
 * @return when all pieces are there */
static double fetch(meta_plan_search *search, const meta_plan_use *use, int d)
{
    const meta_plan_step *s = search->step;
    uint32_t *valid = search->valid;
    const uint32_t bit = UINT32_C(1) << d;
    double ready = 0;
    for (uint32_t k = use->first, last; k < use->last; k = last) {
        int from = -1;
        last = k + 1;
        if (!(valid[k] & bit)) from = source(s, valid[k], s->piece[k].bytes, d);
        while (from >= 0 && last < use->last && !(valid[last] & bit) &&
               source(s, valid[last], s->piece[last].bytes, d) == from)
            ++last;
        if (from >= 0) carry(search, k, last, from, d);
        else valid[k] |= bit;
        ready = later(ready, copy_of(search, k, d)->ready);
    }
    return ready;
}

static void run(meta_plan_search *search, const meta_plan_call *call, int d)
{
    const meta_plan_step *s = search->step;
    clock_state *clock = &search->clock;
    double *engine = call->is_copy ? &clock->link[d] : &clock->engine[s->engine[d]];
    double begin = 0;
    for (uint32_t u = call->first; u < call->last; ++u)
        if (s->use[u].reads) begin = later(begin, fetch(search, &s->use[u], d));
    for (uint32_t u = call->first; u < call->last; ++u)
        for (uint32_t k = s->use[u].first; s->use[u].writes && k < s->use[u].last; ++k)
            begin = later(begin, copy_of(search, k, d)->used);
    const double end = later(begin, later(*engine, clock->host)) + call->time[d];
    clock->work += call->time[d];
    *engine = end;
    if (call->is_waited || (call->time[d] < s->blocks_below[d] && !call->is_copy))
        clock->host = end;
    for (uint32_t u = call->first; u < call->last; ++u)
        for (uint32_t k = s->use[u].first; k < s->use[u].last; ++k) {
            copy_state *copy = copy_of(search, k, d);
            copy->used = later(copy->used, end);
            if (!s->use[u].writes) continue;
            search->valid[k] = UINT32_C(1) << d;
            copy->ready = end;
        }
}

/* Run one step with call n on device[n].
 * @return when all that was begun is complete */
static double pass(meta_plan_search *search, const uint8_t *device)
{
    const meta_plan_step *s = search->step;
    const clock_state *clock = &search->clock;
    for (uint32_t c = 0; c < s->calls; ++c) run(search, &s->call[c], device[c]);
    search->looked += s->calls + s->pieces + 2 * s->uses;
    double end = clock->host;
    for (int d = 0; d < s->devices; ++d) end = later(end, later(clock->engine[d], clock->link[d]));
    return end;
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

/* What is valid stays, and time begins anew. */
static void restart(meta_plan_search *search)
{
    const meta_plan_step *s = search->step;
    search->clock = (clock_state){.host = 0};
    memset(search->copy, 0, s->pieces * (size_t)s->devices * sizeof *search->copy);
}

/* Leaves what is valid after it in search->valid. The first step brings the data to its places, the
 * second one fills the queues, and the third one takes what all others do. */
double meta_plan_cost(meta_plan_search *search, const uint8_t *device)
{
    const meta_plan_step *s = search->step;
    const double out_of_memory = thrashing(s, device, search->seen);
    restart(search);
    memset(search->valid, 0, s->pieces * sizeof *search->valid);
    pass(search, device);
    const double two = pass(search, device), work = search->clock.work;
    double end = two;
    for (int n = 0; n < STEPS; ++n) end = pass(search, device);
    search->other_work = (search->clock.work - work) / STEPS + out_of_memory;
    return (end - two) / STEPS + out_of_memory;
}

double meta_plan_change(meta_plan_search *search, const uint8_t *now, const uint8_t *next)
{
    const double then = meta_plan_cost(search, next);
    meta_plan_cost(search, now);
    restart(search);
    return later(pass(search, next) - then, 0);
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
        if (search->group[k].of == g.of && search->group[k].what == g.what) return;
    if (search->groups < GROUPS) search->group[search->groups++] = g;
}

static uint32_t buffer_of(const meta_plan_step *s, uint32_t u)
{
    return s->piece[s->use[u].first].buffer;
}

/* Calls of one part use buffers that other calls of it use. */
static void find_parts(meta_plan_search *search)
{
    const meta_plan_step *s = search->step;
    bool more = true;
    for (uint32_t b = 0; b < s->buffers; ++b) search->seen[b] = s->calls;
    for (uint32_t c = 0; c < s->calls; ++c) search->part[c] = c;
    while (more) {
        more = false;
        for (uint32_t c = 0; c < s->calls; ++c)
            for (uint32_t u = s->call[c].first; u < s->call[c].last; ++u) {
                uint32_t *of_buffer = &search->seen[buffer_of(s, u)], *of_call = &search->part[c];
                if (*of_buffer == *of_call) continue;
                more = true;
                if (*of_buffer < *of_call) *of_call = *of_buffer;
                else *of_buffer = *of_call;
            }
    }
}

static void find_groups(meta_plan_search *search)
{
    const meta_plan_step *s = search->step;
    search->groups = 0;
    find_parts(search);
    for (uint32_t c = 0; c < s->calls; ++c) add_group(search, (group){PART, search->part[c]});
    for (uint32_t c = 0; c < s->calls; ++c) add_group(search, (group){KIND, s->call[c].kind});
    for (uint32_t b = 0; b < s->buffers; ++b) add_group(search, (group){BUFFER, b});
}

static bool is_in(const meta_plan_search *search, const group *g, uint32_t c)
{
    const meta_plan_step *s = search->step;
    const meta_plan_call *call = &s->call[c];
    if (g->of == PART) return search->part[c] == g->what;
    if (g->of == KIND) return call->kind == g->what;
    for (uint32_t u = call->first; u < call->last; ++u)
        if (buffer_of(s, u) == g->what) return true;
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

static uint32_t pairs(const meta_plan_search *search)
{
    const uint32_t places = search->step->calls * (uint32_t)search->step->devices;
    return search->step->calls <= PAIRS ? places * places : 0;
}

/* A plan of its own, then groups, single calls and stretches, each on each device, and pairs. */
static uint32_t neighbours(const meta_plan_search *search)
{
    const uint32_t of_a_device =
        1 + search->groups + search->step->calls + search->cuts * (search->cuts - 1);
    return 1 + (uint32_t)search->step->devices * of_a_device + pairs(search);
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
    const uint32_t first_pair = neighbours(search) - pairs(search);
    if (n >= first_pair) {
        const uint32_t places = s->calls * (uint32_t)s->devices;
        const uint32_t one = (n - first_pair) / places, two = (n - first_pair) % places;
        put(search, one % s->calls, (int)(one / s->calls));
        put(search, two % s->calls, (int)(two / s->calls));
        return;
    }
    const int d = (int)((n - 1) % (uint32_t)s->devices);
    n = (n - 1) / (uint32_t)s->devices;
    if (n == 0) {
        for (uint32_t c = 0; c < s->calls; ++c) put(search, c, d);
    } else if (n <= search->groups) {
        for (uint32_t c = 0; c < s->calls; ++c)
            if (is_in(search, &search->group[n - 1], c)) put(search, c, d);
    } else if (n <= search->groups + s->calls) {
        put(search, n - 1 - search->groups, d);
    } else {
        put_stretch(search, n - 1 - search->groups - s->calls, d);
    }
}

/* From the first one on, since the first ones change most, and between them from where that was
 * left when times changed last: so changes that come before all were looked at leave none out. */
static uint32_t due(meta_plan_search *search, uint32_t all)
{
    const uint32_t next = search->next;
    search->is_first = !search->is_first;
    if (search->is_first && search->first < all) return search->first++;
    search->next = (next + 1) % all;
    ++search->in_vain;
    return next % all;
}

/* ------------------------------------------------------------------ search */

meta_plan_search *meta_plan_search_new(const meta_plan_step *step, const uint8_t *device)
{
    meta_plan_search *search = calloc(1, sizeof *search);
    if (!search) return NULL;
    search->step = step;
    search->found = malloc(step->calls);
    search->other = malloc(step->calls);
    search->valid = calloc(step->pieces + 1, sizeof *search->valid);
    search->copy = calloc((step->pieces + 1) * (size_t)step->devices, sizeof *search->copy);
    search->seen = calloc(step->buffers + 1, sizeof *search->seen);
    search->part = calloc(step->calls, sizeof *search->part);
    if (!search->found || !search->other || !search->valid || !search->copy || !search->seen ||
        !search->part)
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
    free(search->copy);
    free(search->seen);
    free(search->part);
    free(search);
}

void meta_plan_search_again(meta_plan_search *search)
{
    find_cuts(search);
    find_groups(search);
    search->first = search->in_vain = 0;
    search->time = meta_plan_cost(search, search->found);
    search->work = search->other_work;
}

/* A step takes less, or as much with less work. */
static bool is_better(const meta_plan_search *search, double time, double work)
{
    const double rounding = 1e-6;
    const double by_time = time / search->time - 1, by_work = work / search->work - 1;
    return by_time < -rounding || (by_time < rounding && by_work < -rounding);
}

bool meta_plan_search_on(meta_plan_search *search, uint32_t plans)
{
    const uint32_t all = neighbours(search);
    for (; plans > 0; --plans) {
        if (search->in_vain >= all) return false;
        make(search, due(search, all));
        if (memcmp(search->other, search->found, search->step->calls) == 0) continue;
        const double time = meta_plan_cost(search, search->other);
        if (!is_better(search, time, search->other_work)) continue;
        memcpy(search->found, search->other, search->step->calls);
        search->time = time;
        search->work = search->other_work;
        search->in_vain = 0;
        ++search->found_number;
    }
    return true;
}

const uint8_t *meta_plan_found(const meta_plan_search *search)
{
    return search->found;
}

double meta_plan_found_cost(const meta_plan_search *search)
{
    return search->time;
}

uint64_t meta_plan_found_number(const meta_plan_search *search)
{
    return search->found_number;
}

double meta_plan_spent(const meta_plan_search *search)
{
    return glance * (double)search->looked;
}
