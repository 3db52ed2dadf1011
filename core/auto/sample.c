/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sample.c
 *  What is learned while the program runs: times of kernels and of copies between devices, read
 * from time stamps once the work is complete. */
#include "auto/auto.h"
#include "auto/link.h"
#include "auto/share.h"

#include <stdlib.h>

enum { WAITING = 64 };

/* Samples whose work may not be complete. Of one more the oldest is forgotten. */
static struct {
    meta_auto_sample sample;
    meta_auto_stamp *stamp;
} waiting[WAITING];
static size_t first, count;

meta_auto_stamp *meta_auto_share(const meta_ops *ops, const meta_stamp *stamp, int users)
{
    meta_auto_stamp *shared = malloc(sizeof *shared);
    if (shared) *shared = (meta_auto_stamp){users, ops, *stamp, NULL};
    return shared;
}

/* From the beginning of the first part to the end of the last. */
static void join(meta_stamp *to, const meta_stamp *part)
{
    if (part->begin < to->begin) to->begin = part->begin;
    if (part->end > to->end) to->end = part->end;
}

bool meta_auto_stamp_read(meta_auto_stamp *s)
{
    if (s->earlier && !meta_auto_stamp_read(s->earlier)) return false;
    if (s->stamp.work) {
        if (!s->ops->stamp_read(s->stamp.work, &s->stamp.begin, &s->stamp.end)) return false;
        s->ops->stamp_release(s->stamp.work);
        s->stamp.work = NULL;
    }
    if (!s->earlier) return true;
    join(&s->stamp, &s->earlier->stamp);
    meta_auto_stamp_drop(s->earlier);
    s->earlier = NULL;
    return true;
}

void meta_auto_stamp_drop(meta_auto_stamp *s)
{
    if (--s->users > 0) return;
    if (s->stamp.work) s->ops->stamp_release(s->stamp.work);
    if (s->earlier) meta_auto_stamp_drop(s->earlier);
    free(s);
}

/* ------------------------------------------------------------------ samples */

/* How long a run takes alone is not known if others came, went or moved meanwhile: that is better
 * than nothing, and no more. */
static void learn_kernel(const meta_auto_sample *s, double seconds)
{
    enum { ATTENTION = 64, ENOUGH = 3 };
    meta_time_basis basis;
    const uint64_t moves = atomic_load_explicit(meta_share.moves, memory_order_relaxed);
    if (s->moves != 1 + moves) {
        if (meta_times_samples(meta_auto.times, s->kernel, s->device, s->cells) < ENOUGH)
            meta_times_add_unsure(meta_auto.times, s->kernel, s->device, s->cells, s->bytes,
                                  seconds);
        return;
    }
    const double expected =
        meta_times_expect(meta_auto.times, s->kernel, s->device, s->cells, s->bytes, &basis);
    if (basis == META_TIME_SAMPLED && (seconds > 2 * expected || seconds < expected / 2))
        meta_auto.attention = ATTENTION;
    meta_times_add(meta_auto.times, s->kernel, s->device, s->cells, s->bytes, seconds);
}

void meta_auto_learn(const meta_auto_sample *s, double time)
{
    ++meta_auto.learned;
    if (s->kernel < 0) meta_auto_link_learn(s->from, s->device, s->bytes, time);
    else learn_kernel(s, time * 1e-9 / s->share);
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

/* A stamp, of the last of several parts, for who asked; NULL: what it has is enough. */
static void give(meta_stamp *asked, meta_auto_stamp *shared)
{
    meta_auto_stamp *earlier = asked->work;
    const bool is_first = !earlier && asked->end == 0;
    if (!shared->stamp.work && !earlier) {
        if (is_first) *asked = shared->stamp;
        else join(asked, &shared->stamp);
        meta_auto_stamp_drop(shared);
        return;
    }
    if (!earlier && !is_first) earlier = meta_auto_share(NULL, asked, 1);
    shared->earlier = earlier;
    *asked = (meta_stamp){.work = shared};
}

void meta_auto_hand_stamp(const meta_ops *ops, const meta_stamp *stamp, meta_stamp *asked,
                          const meta_auto_sample *sample)
{
    const int users = (asked != NULL) + (sample != NULL);
    if (users == 0) return;
    meta_auto_stamp *shared = meta_auto_share(ops, stamp, users);
    if (!shared) {
        if (stamp->work) ops->stamp_release(stamp->work);
        return;
    }
    if (asked) give(asked, shared);
    if (sample) meta_auto_sampled(sample, shared);
}

void meta_auto_samples_close(void)
{
    for (; count > 0; --count, first = (first + 1) % WAITING)
        meta_auto_stamp_drop(waiting[first].stamp);
    meta_auto_links_close();
}
