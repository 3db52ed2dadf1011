/* SPDX-License-Identifier: BSD-3-Clause */
/** @file figures.c
 *  Statistics of a row's samples. */
#include "config.h"

#include "figures.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The limit for work without memory traffic is a time, not a bandwidth. */
static double bytes_of(const contender *c)
{
    return c->bytes > 0 ? c->bytes : 1;
}

static double median(const contender *c, int rounds)
{
    return spread_of(c->seconds, rounds).median;
}

static double gbps(const contender *c, int rounds)
{
    return c->bytes > 0 ? 1e-9 * c->bytes / median(c, rounds) : NAN;
}

static const contender *fastest_limit(const row *r, int rounds)
{
    const contender *best = NULL;
    double most = 0;
    for (int k = 0; k < r->count; ++k) {
        const contender *c = &r->list[k];
        if (c->dropped || !(c->role & LIMIT)) continue;
        const double speed = bytes_of(c) / median(c, rounds);
        if (speed > most) {
            most = speed;
            best = c;
        }
    }
    return best;
}

/* The median over the rounds of a/b, or of a-b. */
static double compare(const contender *a, const contender *b, int rounds, bool subtract)
{
    double *each = malloc((size_t)rounds * sizeof *each);
    if (each == NULL) return NAN;
    for (int k = 0; k < rounds; ++k)
        each[k] = subtract ? a->seconds[k] - b->seconds[k] : a->seconds[k] / b->seconds[k];
    const double value = spread_of(each, rounds).median;
    free(each);
    return value;
}

static void compare_with_limit(figures *f, const row *r, const contender *limit, int rounds)
{
    const contender *subject = &r->list[0];
    const double share = compare(limit, subject, rounds, false) / bytes_of(limit);
    f->limit = limit->name;
    f->limit_gbps = gbps(limit, rounds);
    f->fraction = share * bytes_of(subject);
    if (r->sector_bytes > 0) f->sector_fraction = share * r->sector_bytes;
}

/* The fraction of the first one's time that is hidden when both overlap. */
static double hidden_of(const row *r, int rounds)
{
    const contender *both = &r->list[0], *one = &r->list[1], *other = &r->list[2];
    double *each = malloc((size_t)rounds * sizeof *each);
    if (each == NULL || one->dropped || other->dropped) {
        free(each);
        return NAN;
    }
    for (int k = 0; k < rounds; ++k)
        each[k] = (one->seconds[k] + other->seconds[k] - both->seconds[k]) / one->seconds[k];
    const double value = spread_of(each, rounds).median;
    free(each);
    return value;
}

figures figures_of(const row *r, int rounds)
{
    const contender *subject = &r->list[0], *limit = fastest_limit(r, rounds);
    figures f = {.limit_gbps = NAN,
                 .fraction = NAN,
                 .sector_fraction = NAN,
                 .over_raw_seconds = NAN,
                 .over_fixed_seconds = NAN,
                 .hidden = NAN,
                 .peer_seconds = {NAN, NAN, NAN}};
    f.seconds = spread_of(subject->seconds, rounds);
    f.gbps = gbps(subject, rounds);
    if (limit != NULL) compare_with_limit(&f, r, limit, rounds);
    if (r->hides) f.hidden = hidden_of(r, rounds);
    for (int k = 1; k < r->count; ++k) {
        const contender *c = &r->list[k];
        if (c->dropped || !(c->role & PEER)) continue;
        if (strcmp(c->name, "raw") == 0) f.over_raw_seconds = compare(subject, c, rounds, true);
        if (strcmp(c->name, "fixed") == 0) f.over_fixed_seconds = compare(subject, c, rounds, true);
        if (r->times_peer && f.peers == 0) f.peer_seconds = spread_of(c->seconds, rounds);
        f.peer[f.peers].name = c->name;
        f.peer[f.peers].ratio = compare(c, subject, rounds, false);
        if (strcmp(c->name, "slow") == 0)
            f.peer[f.peers].ratio = f.peer_seconds.least / f.seconds.least;
        ++f.peers;
    }
    return f;
}
