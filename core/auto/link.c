/* SPDX-License-Identifier: BSD-3-Clause */
/** @file link.c
 *  Times of copies between devices: a mean for each octave of bytes, and a line through the
 *  smallest and the largest octave for sizes that were not measured. */
#include "auto/link.h"

#include <string.h>

/* Nanoseconds and bytes a nanosecond before a copy was measured. */
static const double first_latency = 10e3, first_bandwidth = 8;
/* A line through octaves that are closer would show noise. */
static const double far_apart = 4;
static const double most_bandwidth = 1e6;

typedef struct octave {
    double bytes, time; /* means; bytes 0: not measured */
} octave;

typedef struct link {
    uint64_t copies;
    octave octave[META_OCTAVES];
    double latency, per_byte;
    bool is_measured; /* by this process or an earlier one */
    bool is_own;      /* by this process */
} link;
static link links[META_SLABS_DEVICES][META_SLABS_DEVICES];

static octave *octave_of(link *l, uint64_t bytes)
{
    return &l->octave[meta_octave(bytes)];
}

/* A quarter of what is new; a single outlier is taken as four times what is known. */
static void follow(octave *o, uint64_t bytes, double time)
{
    if (o->bytes == 0) {
        *o = (octave){(double)bytes, time};
        return;
    }
    o->bytes += ((double)bytes - o->bytes) / 4;
    o->time += ((time > 4 * o->time ? 4 * o->time : time) - o->time) / 4;
}

static double line(const link *l, double bytes)
{
    return l->latency + bytes * l->per_byte;
}

/* How much of the time of a single octave is latency cannot be seen. Of a small copy it is what is
 * left at the bandwidth assumed, lest larger ones be thought to take forever; of others at most
 * what was assumed. What an earlier process found is kept if it agrees. */
static void fit_one(link *l, const octave *o)
{
    enum { SMALL = 16 << 10 };
    const double known = line(l, o->bytes), left = o->time - o->bytes / first_bandwidth;
    if (l->is_measured && o->time < 2 * known && o->time > known / 2) return;
    if (left <= 0) l->latency = o->time / 2;
    else l->latency = left;
    if (l->latency > first_latency && o->bytes > SMALL) l->latency = first_latency;
    l->per_byte = (o->time - l->latency) / o->bytes;
}

static void fit(link *l)
{
    const octave *low = NULL, *high = NULL;
    for (const octave *o = l->octave; o < l->octave + META_OCTAVES; ++o) {
        if (o->bytes == 0) continue;
        if (!low) low = o;
        high = o;
    }
    if (high->bytes < far_apart * low->bytes) {
        fit_one(l, high);
        return;
    }
    l->per_byte = (high->time - low->time) / (high->bytes - low->bytes);
    if (l->per_byte < 1 / most_bandwidth) l->per_byte = 1 / most_bandwidth;
    l->latency = low->time - low->bytes * l->per_byte;
    if (l->latency >= 0) return;
    l->latency = 0;
    l->per_byte = high->time / high->bytes;
}

void meta_auto_link_learn(int from, int to, uint64_t bytes, double time)
{
    link *l = &links[from][to];
    if (time <= 0 || bytes == 0) return;
    follow(octave_of(l, bytes), bytes, time);
    fit(l);
    l->is_measured = l->is_own = true;
}

void meta_auto_link_line(int from, int to, double *latency, double *per_byte)
{
    const link *l = &links[from][to];
    *latency = l->is_measured ? l->latency : first_latency;
    *per_byte = l->is_measured ? l->per_byte : 1 / first_bandwidth;
}

double meta_auto_move_time(int from, int to, uint64_t bytes)
{
    link *l = &links[from][to];
    const octave *o = octave_of(l, bytes);
    if (!l->is_measured) return first_latency + (double)bytes / first_bandwidth;
    const double there = o->bytes > 0 ? line(l, o->bytes) : 0;
    return line(l, (double)bytes) * (there > 0 && bytes > 0 ? o->time / there : 1);
}

bool meta_auto_moves_measured(int from, int to, uint64_t copies, uint64_t bytes, double *time)
{
    const link *l = &links[from][to];
    *time = l->is_measured ? (double)copies * l->latency + (double)bytes * l->per_byte : 0;
    return l->is_measured;
}

bool meta_auto_move_wanted(int from, int to)
{
    enum { FIRST = 8, EVERY = 16 };
    const uint64_t copies = links[from][to].copies++;
    return copies < FIRST || copies % EVERY == 0;
}

void meta_auto_link_import(int from, int to, const meta_learned_link *known)
{
    link *l = &links[from][to];
    l->is_measured = known->latency > 0 || known->bandwidth > 0;
    l->latency = known->latency;
    l->per_byte = 1 / (known->bandwidth > 0 ? known->bandwidth : first_bandwidth);
}

bool meta_auto_link_export(int from, int to, meta_learned_link *own)
{
    const link *l = &links[from][to];
    own->latency = l->is_own ? l->latency : 0;
    own->bandwidth = l->is_own ? 1 / l->per_byte : 0;
    return l->is_own;
}

void meta_auto_links_close(void)
{
    memset(links, 0, sizeof links);
}
