/* SPDX-License-Identifier: BSD-3-Clause */
/** @file regret_plan.c
 *  The best plan for a loop on a simulated machine, by dynamic programming over its calls.
 *
 *  After each call there are partial plans, one for each way to give the calls so far to devices.
 *  One is dropped where another is at least as good: it has every array wherever the first one has
 *  it, no later, and its host, devices and links are free no later. Times are computed as in
 *  sim_work.c: the host queues work, which begins when the device's engine is free and what it
 *  waits for is done.
 *
 *  The loop begins with all data everywhere. The best plan of 2 R steps less that of R steps is R
 *  times a step in the best cycle, if R steps are enough for the way into it. */
#include "regret.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT = 400, COMPUTE = 0, IN, OUT, ENGINES };
static const double submit = 0.2; /* microseconds of the host for a launch or a copy */

typedef struct partial {
    double host, end; /* end: when all is done */
    double engine[REGRET_DEVICES][ENGINES];
    struct {
        uint32_t valid;
        double ready[REGRET_DEVICES]; /* when the bytes there are valid */
        double used[REGRET_DEVICES];  /* until when they are read or written */
    } buffer[REGRET_BUFFERS];
    uint32_t devices; /* that have been used */
    char where[REGRET_CALLS + 1];
} partial;

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* ------------------------------------------------------------------ transfers */

static double copy_time(const regret_device *d, double bytes)
{
    return d->latency + bytes / d->bandwidth / 1e3;
}

static double peer_time(const regret_device *a, const regret_device *b, double bytes)
{
    return later(a->latency, b->latency) + bytes / (a->peer < b->peer ? a->peer : b->peer) / 1e3;
}

static bool are_peers(const regret_device *a, const regret_device *b)
{
    return a->peer > 0 && b->peer > 0;
}

static double move_time(const regret_machine *m, int from, int to, double bytes)
{
    const regret_device *a = &m->device[from], *b = &m->device[to];
    if (a->is_host) return copy_time(b, bytes);
    if (b->is_host) return copy_time(a, bytes);
    if (are_peers(a, b)) return peer_time(a, b, bytes);
    return copy_time(a, bytes) + copy_time(b, bytes);
}

static double occupy(double *engine, double begin, double time)
{
    return *engine = later(begin, *engine) + time;
}

/* In pieces through the host: one is copied in while the next is copied out. The host waits for the
 * last. */
static double staged(partial *p, const regret_machine *m, int from, int to, double bytes,
                     double begin)
{
    const double piece = 4 << 20;
    double end = begin;
    for (double at = 0; at < bytes; at += piece) {
        const double now = bytes - at < piece ? bytes - at : piece;
        p->host += 2 * submit;
        const double out =
            occupy(&p->engine[from][OUT], later(begin, p->host), copy_time(&m->device[from], now));
        end = occupy(&p->engine[to][IN], out, copy_time(&m->device[to], now));
    }
    return p->host = later(p->host, end);
}

static void fetch(partial *p, const regret_machine *m, int buffer, int to, double bytes)
{
    int from = -1;
    for (int d = 0; d < m->devices; ++d)
        if (p->buffer[buffer].valid >> d & 1 &&
            (from < 0 || move_time(m, d, to, bytes) < move_time(m, from, to, bytes)))
            from = d;
    const regret_device *a = &m->device[from], *b = &m->device[to];
    double begin = later(p->buffer[buffer].ready[from], p->buffer[buffer].used[to]), end;
    if (a->is_host || b->is_host) {
        const regret_device *one = a->is_host ? b : a;
        double *engine = a->is_host ? &p->engine[to][IN] : &p->engine[from][OUT];
        begin = later(begin, p->host += submit);
        end = occupy(engine, begin, copy_time(one, bytes));
    } else if (are_peers(a, b)) {
        begin = later(begin, p->host += submit);
        begin = later(begin, p->engine[from][OUT]);
        end = occupy(&p->engine[to][IN], begin, peer_time(a, b, bytes));
        p->engine[from][OUT] = end;
    } else {
        end = staged(p, m, from, to, bytes, begin);
    }
    p->buffer[buffer].used[from] = later(p->buffer[buffer].used[from], end);
    p->buffer[buffer].ready[to] = p->buffer[buffer].used[to] = end;
    p->buffer[buffer].valid |= UINT32_C(1) << to;
    p->end = later(p->end, end);
}

/* ------------------------------------------------------------------ a call */

static double kernel_time(const regret_device *d, const regret_cost *c)
{
    double time = d->launch + c->bytes / d->rate / 1e3;
    for (int k = 0; k < REGRET_FACTORS && d->factor[k].kernel; ++k)
        if (strcmp(d->factor[k].kernel, c->kernel) == 0) time *= d->factor[k].factor;
    return time;
}

static void run(partial *p, const regret_machine *m, const regret_cost *c, int d)
{
    double begin = 0;
    for (int k = 0; k < c->accesses; ++k)
        if (c->access[k].reads && !(p->buffer[c->access[k].buffer].valid >> d & 1))
            fetch(p, m, c->access[k].buffer, d, c->access[k].bytes);
    begin = p->host += submit;
    for (int k = 0; k < c->accesses; ++k) {
        const int b = c->access[k].buffer;
        if (c->access[k].reads) begin = later(begin, p->buffer[b].ready[d]);
        if (c->access[k].writes) begin = later(begin, p->buffer[b].used[d]);
    }
    const double end = occupy(&p->engine[d][COMPUTE], begin, kernel_time(&m->device[d], c));
    for (int k = 0; k < c->accesses; ++k) {
        const int b = c->access[k].buffer;
        p->buffer[b].used[d] = later(p->buffer[b].used[d], end);
        if (!c->access[k].writes) continue;
        p->buffer[b].valid = UINT32_C(1) << d;
        p->buffer[b].ready[d] = end;
    }
    if (m->device[d].is_host || c->is_awaited) p->host = later(p->host, end);
    p->end = later(p->end, end);
    p->devices |= UINT32_C(1) << d;
}

/* ------------------------------------------------------------------ comparing */

/* Nothing begins before the host's time, so that earlier times are equal to it. */
static bool is_later(double a, double b, double host)
{
    return later(a, host) > later(b, host) + 1e-9;
}

/* Whether @p a is at least as good as @p b. */
static bool is_as_good(const partial *a, const partial *b, const regret_machine *m, int buffers)
{
    if (a->host > b->host + 1e-9 || a->end > b->end + 1e-9) return false;
    for (int k = 0; k < buffers; ++k)
        if (b->buffer[k].valid & ~a->buffer[k].valid) return false;
    for (int d = 0; d < m->devices; ++d)
        for (int e = 0; e < ENGINES; ++e)
            if (is_later(a->engine[d][e], b->engine[d][e], b->host)) return false;
    for (int k = 0; k < buffers; ++k)
        for (int d = 0; d < m->devices; ++d) {
            if (is_later(a->buffer[k].used[d], b->buffer[k].used[d], b->host)) return false;
            if (b->buffer[k].valid >> d & 1 &&
                is_later(a->buffer[k].ready[d], b->buffer[k].ready[d], b->host))
                return false;
        }
    return true;
}

static int by_end(const void *a, const void *b)
{
    const partial *const *x = a, *const *y = b;
    return ((*x)->end > (*y)->end) - ((*x)->end < (*y)->end);
}

/* ------------------------------------------------------------------ the search */

typedef struct search {
    const regret_workload *w;
    const regret_machine *m;
    regret_cost cost[REGRET_CALLS];
    uint32_t among;
    partial *now, *next, **sorted;
    int count;
    bool is_exhausted;
} search;

/* Whether the next call that uses the buffer writes all of it: its contents are not needed. */
static bool is_dead(const search *s, int buffer, int call)
{
    for (int n = 1; n <= s->w->calls; ++n) {
        const regret_cost *c = &s->cost[(call + n) % s->w->calls];
        bool reads = false, writes = false;
        for (int k = 0; k < c->accesses; ++k) {
            if (c->access[k].buffer != buffer) continue;
            reads |= c->access[k].reads;
            writes |= c->access[k].writes;
        }
        if (reads || writes) return !reads;
    }
    return true;
}

static bool is_same_device(const regret_device *a, const regret_device *b)
{
    if (a->is_host != b->is_host || a->launch != b->launch || a->rate != b->rate ||
        a->latency != b->latency || a->bandwidth != b->bandwidth || a->peer != b->peer)
        return false;
    for (int k = 0; k < REGRET_FACTORS; ++k) {
        if (!a->factor[k].kernel != !b->factor[k].kernel) return false;
        if (a->factor[k].kernel && (strcmp(a->factor[k].kernel, b->factor[k].kernel) != 0 ||
                                    a->factor[k].factor != b->factor[k].factor))
            return false;
    }
    return true;
}

/* Of equal devices that are unused so far only the first is tried. */
static bool is_other_unused(const search *s, const partial *p, int d)
{
    if (p->devices >> d & 1) return false;
    for (int e = 0; e < d; ++e)
        if (s->among >> e & 1 && !(p->devices >> e & 1) &&
            is_same_device(&s->m->device[e], &s->m->device[d]))
            return true;
    return false;
}

static void keep(search *s, int candidates)
{
    partial *kept = s->now;
    for (int k = 0; k < candidates; ++k) s->sorted[k] = &s->next[k];
    qsort(s->sorted, (size_t)candidates, sizeof *s->sorted, by_end);
    s->count = 0;
    for (int k = 0; k < candidates; ++k) {
        bool is_needed = true;
        for (int n = 0; n < s->count && is_needed; ++n)
            is_needed = !is_as_good(&kept[n], s->sorted[k], s->m, s->w->buffers);
        if (!is_needed) continue;
        if (s->count == KEPT) {
            s->is_exhausted = false;
            return;
        }
        kept[s->count++] = *s->sorted[k];
    }
}

static void advance(search *s, int call)
{
    int candidates = 0;
    for (int n = 0; n < s->count; ++n)
        for (int d = 0; d < s->m->devices; ++d) {
            if (!(s->among >> d & 1) || is_other_unused(s, &s->now[n], d)) continue;
            partial *p = &s->next[candidates++];
            *p = s->now[n];
            run(p, s->m, &s->cost[call], d);
            p->where[call] = (char)('0' + d);
            for (int k = 0; k < s->cost[call].accesses; ++k)
                if (is_dead(s, s->cost[call].access[k].buffer, call))
                    p->buffer[s->cost[call].access[k].buffer].valid = 0;
        }
    keep(s, candidates);
}

static double loop(search *s)
{
    const int repeats = 4 + 64 / s->w->calls; /* short steps need more of them */
    double half = 0;
    s->count = 1;
    memset(s->now, 0, sizeof *s->now);
    for (int k = 0; k < s->w->buffers; ++k) s->now->buffer[k].valid = s->among;
    for (int n = 0; n < 2 * repeats; ++n) {
        if (n == repeats) half = s->now->end;
        for (int call = 0; call < s->w->calls; ++call) advance(s, call);
    }
    return (s->now->end - half) / repeats;
}

static void begin(search *s)
{
    for (int k = 0; k < s->w->calls; ++k) s->cost[k] = regret_cost_of(s->w, &s->w->call[k]);
}

double regret_plan_time(const regret_workload *w, const regret_machine *m, const char *where)
{
    enum { STEPS = 20 };
    search s = {.w = w, .m = m};
    partial p = {0};
    double half = 0;
    begin(&s);
    for (int k = 0; k < w->buffers; ++k) p.buffer[k].valid = (UINT32_C(1) << m->devices) - 1;
    for (int n = 0; n < 2 * STEPS; ++n) {
        if (n == STEPS) half = p.end;
        for (int k = 0; k < w->calls; ++k) run(&p, m, &s.cost[k], where[k] - '0');
    }
    return (p.end - half) / STEPS;
}

regret_plan regret_best_plan(const regret_workload *w, const regret_machine *m, uint32_t among)
{
    const size_t most = (size_t)KEPT * REGRET_DEVICES;
    search s = {.w = w, .m = m, .among = among, .is_exhausted = true};
    regret_plan plan = {0};
    begin(&s);
    s.now = malloc(KEPT * sizeof *s.now);
    s.next = malloc(most * sizeof *s.next);
    s.sorted = malloc(most * sizeof *s.sorted);
    if (s.now && s.next && s.sorted) {
        plan.step = loop(&s);
        plan.is_exhausted = s.is_exhausted;
        memcpy(plan.where, s.now->where, sizeof plan.where);
    }
    free(s.now);
    free(s.next);
    free(s.sorted);
    return plan;
}
