/* SPDX-License-Identifier: BSD-3-Clause */
/** @file account.c
 *  Events for the profile, see account.h. */
#include "auto/auto.h"
#include "auto/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Static_assert((int)META_AUTO_MOST == (int)META_SLABS_DEVICES, "as many devices");

static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;
/* That are not taken yet: a ring of `room` places. They are taken when the program's next work is
 * recorded, so MOST is many. */
enum { MOST = 1 << 14 };
static meta_auto_event *events;
static size_t first, room;
static _Atomic size_t count;
static meta_account_rest rest;

/* What was chosen last for each kind of launch; another kind in its place is as a new one. So is
 * every kind when decisions are recorded again, in the next period. */
enum { KINDS = 1024 };
static _Atomic uint64_t period;
static struct {
    uint64_t key; /* 0: none */
    int chosen;
} last[KINDS];

void meta_account_want(int flags)
{
    if (flags & META_ACCOUNT_DECISIONS && !(meta_accounted & META_ACCOUNT_DECISIONS)) ++period;
    meta_accounted = flags;
}

const char *meta_auto_why_text(meta_auto_why why)
{
    static const char *const texts[META_AUTO_WHY_COUNT] = {
        [META_AUTO_WHY_OPERAND] = "operand of a kernel",
        [META_AUTO_WHY_HOME] = "carried home",
        [META_AUTO_WHY_PLAN] = "plan of a loop",
        [META_AUTO_WHY_TRIAL] = "trial of a kernel",
        [META_AUTO_WHY_ROOM] = "memory was short",
        [META_AUTO_WHY_HOST] = "copy with the host",
        [META_AUTO_WHY_HALO] = "message or halo",
        [META_AUTO_WHY_NATIVE] = "native object"};
    return why < META_AUTO_WHY_COUNT ? texts[why] : "";
}

static uint64_t host_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ------------------------------------------------------------------ events */

static void forget(meta_auto_event *e)
{
    if (e->stamp.work) meta_auto_stamp_drop(e->stamp.work);
    free(e->text);
}

static bool make_room(void)
{
    if (count < room) return true;
    const size_t more = room ? 2 * room : 64;
    meta_auto_event *larger = more <= MOST ? malloc(more * sizeof *larger) : NULL;
    if (!larger) return false;
    for (size_t k = 0; k < count; ++k) larger[k] = events[(first + k) % room];
    free(events);
    events = larger;
    room = more;
    first = 0;
    return true;
}

static void add_to_rest(const meta_auto_event *e)
{
    if (e->is_decision) ++rest.decisions;
    else ++rest.copies, rest.bytes += e->bytes;
}

static void add(meta_auto_event *e)
{
    pthread_mutex_lock(&events_lock);
    const bool fits = make_room();
    if (fits) events[(first + count++) % room] = *e;
    else add_to_rest(e);
    pthread_mutex_unlock(&events_lock);
    if (!fits) forget(e);
}

bool meta_account_take(meta_auto_event *event)
{
    if (count == 0) return false;
    pthread_mutex_lock(&events_lock);
    const bool found = count > 0;
    if (found) {
        *event = events[first];
        first = (first + 1) % room;
        --count;
    }
    pthread_mutex_unlock(&events_lock);
    return found;
}

meta_account_rest meta_account_take_rest(void)
{
    pthread_mutex_lock(&events_lock);
    const meta_account_rest taken = rest;
    rest = (meta_account_rest){0};
    pthread_mutex_unlock(&events_lock);
    return taken;
}

void meta_account_close(void)
{
    meta_auto_event e;
    while (meta_account_take(&e)) forget(&e);
    free(events);
    events = NULL;
    first = room = 0;
    rest = (meta_account_rest){0};
}

static void set_kernel(meta_auto_event *e, const meta_call *call)
{
    if (!call) return;
    snprintf(e->kernel, sizeof e->kernel, "%s", call->desc->name);
    e->type = call->type;
}

void meta_account_move(const meta_auto_moved *m, const meta_ops *ops, const meta_stamp *stamp,
                       const meta_auto_sample *sample)
{
    meta_auto_event e = {.from = meta_auto.device[m->from].device,
                         .to = meta_auto.device[m->to].device,
                         .on = meta_auto.device[m->on].device,
                         .queue = META_QUEUE_HALO,
                         .why = meta_auto.why,
                         .bytes = m->bytes,
                         .queued = m->queued,
                         .operand = -1};
    const meta_call *call = meta_auto.call;
    set_kernel(&e, call);
    if (call && meta_auto.why != META_AUTO_WHY_ROOM && meta_auto.operand < call->desc->operands)
        e.operand = (int)meta_auto.operand;
    if (ops) meta_auto_hand_stamp(ops, stamp, &e.stamp, sample);
    else e.stamp = *stamp;
    add(&e);
}

uint64_t meta_account_now(void)
{
    return meta_accounted ? host_now() : 0;
}

/* ------------------------------------------------------------------ decisions */

static uint64_t cells_of(const meta_launch *launch)
{
    uint64_t cells = 0;
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_space *s = meta_launch_call(launch, n)->space;
        cells += (uint64_t)(s->rows * s->extent[0]);
    }
    return cells;
}

static bool is_new(const meta_call *call, uint64_t cells, int chosen)
{
    const uint64_t octave = cells > 0 ? (uint64_t)(63 - __builtin_clzll(cells)) : 0;
    uint64_t key = meta_auto_kernel(call->desc) * UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ call->type ^ octave << 8 ^ period << 16) * UINT64_C(0xbf58476d1ce4e5b9) | 1;
    const size_t at = (key >> 32) % KINDS;
    if (last[at].key == key && last[at].chosen == chosen) return false;
    last[at].key = key;
    last[at].chosen = chosen;
    return true;
}

void meta_account_decide(const meta_launch *launch, meta_queue_kind queue,
                         const meta_auto_reasons *reasons, int chosen)
{
    const uint64_t cells = cells_of(launch);
    char text[1024] = "by META_POLICY";
    if (!is_new(launch->calls, cells, chosen)) return;
    if (reasons) meta_explain_terms(reasons, text, sizeof text);
    meta_auto_event e = {.is_decision = true,
                         .to = meta_auto.device[chosen].device,
                         .on = meta_auto.device[chosen].device,
                         .queue = queue,
                         .why = meta_auto.why,
                         .bytes = cells,
                         .queued = host_now(),
                         .operand = -1,
                         .text = strdup(text)};
    set_kernel(&e, launch->calls);
    add(&e);
}

/* ------------------------------------------------------------------ what was learned */

meta_device *meta_account_device(int number)
{
    return number < meta_auto.devices ? meta_auto.device[number].device : NULL;
}

bool meta_account_expect(const char *kernel, uint32_t type, int device, uint64_t cells,
                         double *time)
{
    const double never = 1e5; /* seconds; see meta_cost_refused() */
    meta_time_basis basis = META_TIME_BOUND;
    double seconds = 0;
    if (!meta_auto.times) return false;
    pthread_mutex_lock(&meta_auto.lock);
    const int number = meta_times_find(meta_auto.times, kernel, type);
    if (number >= 0) seconds = meta_times_expect(meta_auto.times, number, device, cells, 0, &basis);
    pthread_mutex_unlock(&meta_auto.lock);
    *time = 1e9 * seconds;
    return basis != META_TIME_BOUND && seconds < never;
}

bool meta_account_expect_copies(int device, bool out, uint64_t copies, uint64_t bytes, double *time)
{
    int host = 0;
    while (host < meta_auto.devices && !meta_auto.device[host].is_host) ++host;
    if (host == meta_auto.devices || host == device) return false;
    const int from = out ? device : host, to = out ? host : device;
    pthread_mutex_lock(&meta_auto.lock);
    const bool known = meta_auto_moves_measured(from, to, copies, bytes, time);
    pthread_mutex_unlock(&meta_auto.lock);
    return known;
}
