/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_overlap.c
 *  How much of the communication time was hidden behind the application's kernels: two sets of
 *  intervals, whose past is folded into sums now and then. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

enum { FULL = 1 << 14 };

typedef struct interval {
    uint64_t begin, end;
} interval;

typedef struct set {
    interval *of;
    size_t count, room;
} set;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static set work, comm; /* those of comm are disjoint and sorted */
static int open;       /* messages and exchanges under way */
static uint64_t since; /* when the first of them began */
static uint64_t comm_sum, hidden_sum;

static void add(set *s, uint64_t begin, uint64_t end)
{
    if (begin >= end) return;
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 256;
        interval *larger = realloc(s->of, room * sizeof *larger);
        if (!larger) return;
        s->of = larger;
        s->room = room;
    }
    s->of[s->count++] = (interval){begin, end};
}

bool meta_overlap_work(uint64_t begin, uint64_t end)
{
    pthread_mutex_lock(&lock);
    add(&work, begin, end);
    const bool full = work.count >= FULL || comm.count >= FULL;
    pthread_mutex_unlock(&lock);
    return full;
}

void meta_overlap_comm(int change)
{
    pthread_mutex_lock(&lock);
    const uint64_t now = meta_profile_now();
    if (open == 0) since = now;
    open += change;
    if (open == 0) add(&comm, since, now);
    pthread_mutex_unlock(&lock);
}

static int order(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Sort the intervals and join those that overlap. */
static void merge(set *s)
{
    size_t last = 0;
    if (s->count == 0) return;
    qsort(s->of, s->count, sizeof *s->of, order);
    for (size_t k = 1; k < s->count; ++k) {
        if (s->of[k].begin > s->of[last].end) s->of[++last] = s->of[k];
        else if (s->of[k].end > s->of[last].end) s->of[last].end = s->of[k].end;
    }
    s->count = last + 1;
}

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The time before @p until that two sets have in common. */
static uint64_t common(const set *a, const set *b, uint64_t until)
{
    uint64_t sum = 0;
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        const interval *x = &a->of[i], *y = &b->of[k];
        const uint64_t begin = x->begin > y->begin ? x->begin : y->begin;
        const uint64_t end = min(min(x->end, y->end), until);
        if (begin < end) sum += end - begin;
        if (x->end < y->end) ++i;
        else ++k;
    }
    return sum;
}

/* Remove the time before @p until. @return how much it was. */
static uint64_t cut(set *s, uint64_t until)
{
    uint64_t sum = 0;
    size_t kept = 0;
    for (size_t k = 0; k < s->count; ++k) {
        interval *i = &s->of[k];
        if (i->begin < until) sum += min(i->end, until) - i->begin;
        if (i->begin < until) i->begin = until;
        if (i->begin < i->end) s->of[kept++] = *i;
    }
    s->count = kept;
    return sum;
}

void meta_overlap_fold(uint64_t until)
{
    pthread_mutex_lock(&lock);
    if (open > 0 && since < until) {
        add(&comm, since, until);
        since = until;
    }
    merge(&work);
    hidden_sum += common(&work, &comm, until);
    comm_sum += cut(&comm, until);
    cut(&work, until);
    pthread_mutex_unlock(&lock);
}

void meta_overlap_sums(double *seconds, double *hidden)
{
    meta_overlap_fold(meta_profile_now());
    pthread_mutex_lock(&lock);
    *seconds = 1e-9 * (double)comm_sum;
    *hidden = 1e-9 * (double)hidden_sum;
    pthread_mutex_unlock(&lock);
}

void meta_overlap_forget(void)
{
    pthread_mutex_lock(&lock);
    free(work.of);
    free(comm.of);
    work = comm = (set){0};
    comm_sum = hidden_sum = 0;
    since = meta_profile_now();
    pthread_mutex_unlock(&lock);
}
