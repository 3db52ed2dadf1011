/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pace.c
 *  The best rate of a device. Most of a short run may be its launch, so for more bytes than the run
 * with the best rate has moved, the rate counts at which it moved what it had more than a shorter
 * one: short runs do not make a device look slow. */
#include "auto/pace.h"

#include <stdbool.h>

static bool is_faster(const meta_pace_run *r, const meta_pace_run *than)
{
    return than->bytes <= 0 || r->bytes * than->seconds > than->bytes * r->seconds;
}

static void find_rates(meta_pace *p)
{
    const double best = p->top.bytes / p->top.seconds;
    double beyond = META_PACE_UNKNOWN;
    for (int o = 0; o < META_OCTAVES; ++o) {
        const meta_pace_run *less = &p->best[o];
        const double seconds = p->top.seconds - less->seconds;
        if (less->bytes <= 0 || less->bytes > p->top.bytes / 4 || seconds <= 0) continue;
        const double rate = (p->top.bytes - less->bytes) / seconds;
        if (rate < beyond) beyond = rate;
    }
    p->per_byte = 1 / (2 * best);
    p->per_more = 1 / (2 * (beyond > best ? beyond : best));
}

void meta_pace_raise(meta_pace *p, const meta_pace_run *r)
{
    if (!(r->bytes >= 1)) return;
    meta_pace_run *best = &p->best[meta_octave((uint64_t)r->bytes)];
    if (!is_faster(r, best)) return;
    *best = *r;
    if (is_faster(r, &p->top)) p->top = *r;
    find_rates(p);
}
