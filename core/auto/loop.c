/* SPDX-License-Identifier: BSD-3-Clause */
/** @file loop.c
 *  Recognises loops: a sequence of calls that has come twice in turn. From then on its calls are
 *  compared with the one that is due, and go where the loop's course says. */
#include "auto/loop.h"

#include <stdlib.h>
#include <string.h>

/* LONGEST: calls of a step; FEWEST: calls that must have repeated themselves; LOOPS: that are
 * remembered. */
enum { LONGEST = 256, FEWEST = 8, LOOPS = 4, EVENTS = 2 * LONGEST };

static struct {
    meta_course *course;
    uint64_t used; /* the highest was used last */
} loops[LOOPS];
static meta_course *inside;    /* the one that the program is in */
static meta_loop_call *latest; /* the call that came last; NULL: it is not known */
static uint64_t left, uses;
static uint32_t failed; /* meta_auto.failed when the loops were found */

/* The calls noted last: number n is events[n % EVENTS]. */
static meta_loop_event *events;
static uint64_t noted, since;       /* how many; the first that counts */
static uint32_t period;             /* a loop's, if it is one; 0: none in sight */
static uint32_t repeated;           /* so many calls were equal to those a period before */
static uint64_t signatures[EVENTS]; /* theirs once more, close together */

static void forget_events(void)
{
    since = noted;
    period = repeated = 0;
}

static void forget_loops(void)
{
    for (int k = 0; k < LOOPS; ++k) {
        meta_course_free(loops[k].course);
        loops[k].course = NULL;
    }
    inside = NULL;
    latest = NULL;
}

/* ------------------------------------------------------------------ inside */

/* A loop that was left goes on with the call at which that was. */
static meta_course *resumed(uint64_t signature)
{
    for (int k = 0; k < LOOPS; ++k) {
        if (!loops[k].course || meta_course_due(loops[k].course) != signature) continue;
        loops[k].used = ++uses;
        return loops[k].course;
    }
    return NULL;
}

int meta_loop_next(uint64_t signature, const meta_loop_call **call)
{
    if (failed != meta_auto.failed) {
        forget_loops();
        failed = meta_auto.failed;
    }
    if (inside && meta_course_due(inside) != signature) {
        inside = NULL;
        ++left;
        forget_events();
    }
    if (!inside) inside = resumed(signature);
    if (!inside) return -1;
    const int device = meta_course_next(inside, &latest);
    *call = latest;
    return device;
}

/* ------------------------------------------------------------------ recognition */

static meta_loop_event *event_of(uint64_t number)
{
    return &events[number % EVENTS];
}

/* In the place of the loop that was used least recently. */
static void enter(uint64_t first, uint32_t calls)
{
    const meta_loop_event *event[LONGEST];
    int oldest = 0;
    for (uint32_t c = 0; c < calls; ++c) event[c] = event_of(first + c);
    for (int k = 1; k < LOOPS; ++k)
        if (!loops[k].course || loops[k].used < loops[oldest].used) oldest = k;
    meta_course_free(loops[oldest].course);
    inside = loops[oldest].course = meta_course_new(event, calls);
    loops[oldest].used = ++uses;
    latest = NULL;
    forget_events();
}

/* How many calls ago the same one was noted; 0: not within a step's. */
static uint32_t last_seen(uint64_t signature, uint64_t number)
{
    const uint64_t calls = number - since < LONGEST ? number - since : LONGEST;
    for (uint32_t ago = 1; ago <= calls; ++ago)
        if (signatures[(number - ago) % EVENTS] == signature) return ago;
    return 0;
}

static bool repeats(uint64_t number, uint64_t signature)
{
    return period > 0 && number - period >= since &&
           signatures[(number - period) % EVENTS] == signature;
}

void meta_loop_note(const meta_loop_call *call, const meta_auto_range *range, size_t ranges,
                    const double *time, int device)
{
    if (!events) events = malloc(EVENTS * sizeof *events);
    if (!events) return;
    latest = NULL;
    if (ranges > META_LOOP_USES) {
        forget_events();
        return;
    }
    const uint64_t number = noted++;
    meta_loop_event *e = event_of(number);
    e->call = *call;
    latest = &e->call;
    e->device = device;
    e->uses = (uint32_t)ranges;
    memcpy(e->time, time, sizeof e->time);
    for (size_t k = 0; k < ranges; ++k)
        e->use[k] = (meta_loop_use){range[k].buffer->address, range[k].buffer->bytes,
                                    range[k].begin,           range[k].end,
                                    range[k].reads,           range[k].writes};
    signatures[number % EVENTS] = call->signature;
    if (repeats(number, call->signature)) {
        ++repeated;
    } else {
        period = last_seen(call->signature, number);
        repeated = period > 0;
    }
    if (period > 0 && repeated >= period && repeated >= FEWEST) enter(number + 1 - period, period);
}

void meta_loop_waited(void)
{
    if (latest) latest->is_waited = true;
}

uint64_t meta_loop_left(void)
{
    return left;
}

void meta_loop_close(void)
{
    forget_loops();
    free(events);
    events = NULL;
    noted = since = left = uses = 0;
    period = repeated = failed = 0;
}
