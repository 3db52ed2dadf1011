/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sample.c
 *  What is learned while the program runs: times of kernels and of copies between devices, read
 * from time stamps once the work is complete. */
#include "auto/auto.h"

#include <stdlib.h>

enum { WAITING = 64 };

/* Samples whose work may not be complete. Of one more the oldest is forgotten. */
static struct {
    meta_auto_sample sample;
    meta_auto_stamp *stamp;
} waiting[WAITING];
static size_t first, count;

/* Copies from one device to another. */
typedef struct link {
    uint64_t copies;
    double latency;   /* nanoseconds */
    double bandwidth; /* bytes a nanosecond */
    bool has_latency, has_bandwidth;
} link;
static link links[META_SLABS_DEVICES][META_SLABS_DEVICES];

meta_auto_stamp *meta_auto_share(const meta_ops *ops, const meta_stamp *stamp, int users)
{
    meta_auto_stamp *shared = malloc(sizeof *shared);
    if (shared) *shared = (meta_auto_stamp){users, ops, *stamp};
    return shared;
}

bool meta_auto_stamp_read(meta_auto_stamp *s)
{
    if (!s->stamp.work) return true;
    if (!s->ops->stamp_read(s->stamp.work, &s->stamp.begin, &s->stamp.end)) return false;
    s->ops->stamp_release(s->stamp.work);
    s->stamp.work = NULL;
    return true;
}

void meta_auto_stamp_drop(meta_auto_stamp *s)
{
    if (--s->users > 0) return;
    if (s->stamp.work) s->ops->stamp_release(s->stamp.work);
    free(s);
}

/* ------------------------------------------------------------------ links */

/* Before a copy was measured. */
static double latency_of(const link *l)
{
    return l->has_latency ? l->latency : 10e3;
}
static double bandwidth_of(const link *l)
{
    return l->has_bandwidth ? l->bandwidth : 8.0;
}

/* A quarter of what is new; a single outlier is taken as four times what is known. */
static void follow(double *known, bool *has, double now)
{
    if (!*has) *known = now;
    else *known += ((now > 4 * *known ? 4 * *known : now) - *known) / 4;
    *has = true;
}

static void learn_link(int from, int to, uint64_t bytes, double time)
{
    enum { SMALL = 16 << 10 };
    link *l = &links[from][to];
    if (time <= 0) return;
    if (bytes <= SMALL) {
        follow(&l->latency, &l->has_latency, time);
        return;
    }
    const double moving = time - (l->has_latency ? l->latency : 0);
    follow(&l->bandwidth, &l->has_bandwidth,
           (double)bytes / (moving > time / 2 ? moving : time / 2));
}

double meta_auto_move_time(int from, int to, uint64_t bytes)
{
    const link *l = &links[from][to];
    return latency_of(l) + (double)bytes / bandwidth_of(l);
}

bool meta_auto_move_wanted(int from, int to)
{
    enum { FIRST = 8, EVERY = 16 };
    const uint64_t copies = links[from][to].copies++;
    return copies < FIRST || copies % EVERY == 0;
}

/* ------------------------------------------------------------------ samples */

static void learn_kernel(const meta_auto_sample *s, double seconds)
{
    enum { ATTENTION = 64 };
    meta_time_basis basis;
    const double expected =
        meta_times_expect(meta_auto.times, s->kernel, s->device, s->cells, s->bytes, &basis);
    if (basis == META_TIME_SAMPLED && (seconds > 2 * expected || seconds < expected / 2))
        meta_auto.attention = ATTENTION;
    meta_times_add(meta_auto.times, s->kernel, s->device, s->cells, s->bytes, seconds);
}

void meta_auto_learn(const meta_auto_sample *s, double time)
{
    ++meta_auto.learned;
    if (s->kernel < 0) learn_link(s->from, s->device, s->bytes, time);
    else learn_kernel(s, time * 1e-9 / meta_share.share[s->device]);
}

static void learn_from(const meta_auto_sample *sample, const meta_auto_stamp *s)
{
    if (s->stamp.end > s->stamp.begin)
        meta_auto_learn(sample, (double)(s->stamp.end - s->stamp.begin));
}

void meta_auto_read_samples(void)
{
    while (count > 0 && meta_auto_stamp_read(waiting[first].stamp)) {
        learn_from(&waiting[first].sample, waiting[first].stamp);
        meta_auto_stamp_drop(waiting[first].stamp);
        first = (first + 1) % WAITING;
        --count;
    }
}

void meta_auto_sampled(const meta_auto_sample *sample, meta_auto_stamp *stamp)
{
    if (meta_auto_stamp_read(stamp)) {
        learn_from(sample, stamp);
        meta_auto_stamp_drop(stamp);
        return;
    }
    if (count == WAITING) {
        meta_auto_stamp_drop(waiting[first].stamp);
        first = (first + 1) % WAITING;
        --count;
    }
    waiting[(first + count) % WAITING].sample = *sample;
    waiting[(first + count++) % WAITING].stamp = stamp;
}

void meta_auto_hand_stamp(const meta_ops *ops, const meta_stamp *stamp, meta_stamp *asked,
                          const meta_auto_sample *sample)
{
    const int users = (asked != NULL) + (sample != NULL);
    if (users == 0) return;
    if (!stamp->work && asked) *asked = *stamp;
    meta_auto_stamp *shared = meta_auto_share(ops, stamp, users);
    if (!shared) {
        if (stamp->work) ops->stamp_release(stamp->work);
        return;
    }
    if (asked && stamp->work) asked->work = shared;
    else if (asked) meta_auto_stamp_drop(shared);
    if (sample) meta_auto_sampled(sample, shared);
}

void meta_auto_samples_close(void)
{
    for (; count > 0; --count, first = (first + 1) % WAITING)
        meta_auto_stamp_drop(waiting[first].stamp);
    for (int from = 0; from < META_SLABS_DEVICES; ++from)
        for (int to = 0; to < META_SLABS_DEVICES; ++to) links[from][to] = (link){0};
}
