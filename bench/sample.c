/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sample.c
 *  Timing: contenders alternate in rounds. */
#include "config.h"

#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "job.h"

/* A sample is long compared with the clock's resolution and an interrupt. */
static const double SAMPLE_SECONDS = 5e-3;
enum { MOST_GROWTH = 16, TRIES = 4, CHUNKS = 16 };
static const int64_t MOST_TIMES = INT64_C(1) << 24;

void row_add(row *r, const char *name, unsigned role, void (*run)(void *, int64_t), void *with,
             double bytes)
{
    r->list[r->count++] = (contender){
        .name = name, .role = role, .run = run, .with = with, .bytes = bytes, .each = 1};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds per call. Unless calls are long, an untimed call first wakes the threads and warms the
 * caches, whichever contender ran before. On a preempted machine a sample can take thousands of
 * times as long as expected; a single process then stops early, but ranks must make the same
 * number of calls. */
static double time_once(const contender *c)
{
    const int64_t chunk = (c->times + CHUNKS - 1) / CHUNKS;
    const double most = job_here()->size > 1 ? INFINITY : 4 * SAMPLE_SECONDS;
    int64_t done = 0;
    double elapsed = 0;
    if (c->expected < 4 * SAMPLE_SECONDS) c->run(c->with, 1);
    job_barrier();
    const double start = now();
    while (done < c->times && elapsed < most) {
        const int64_t next = c->times - done < chunk ? c->times - done : chunk;
        c->run(c->with, next);
        done += next;
        elapsed = now() - start;
    }
    return elapsed / (double)done;
}

static void drop(row *r, contender *c, const char *why)
{
    c->dropped = true;
    if (c == r->list) note_print("%s: skipped: %s", r->name, why);
    else
        note_print_once("without %s in %.*s: %s", c->name, (int)strcspn(r->name, "."), r->name,
                        why);
}

/* Seconds per call, measured again if far more than expected: a disturbed sample would seem long
 * enough. Negative if the contender failed. */
static double undisturbed(row *r, contender *c)
{
    char why[NOTE_ROOM];
    const double enough = SAMPLE_SECONDS / (double)c->times;
    double least = INFINITY;
    for (int k = 0; k < TRIES; ++k) {
        double seconds = time_once(c);
        job_most(&seconds, 1);
        if (note_agree(why)) {
            drop(r, c, why);
            return -1;
        }
        least = fmin(least, seconds);
        if (least < fmax(enough, 2 * c->expected) || least > 20 * enough) break;
    }
    return least;
}

/* Given @p seconds per call, lengthen samples shorter than @p least. @return whether it was
 * lengthened */
static bool grow(contender *c, double seconds, double least)
{
    const double sample = (double)c->times * seconds + 1e-9;
    c->expected = seconds;
    if (sample >= least || c->times >= MOST_TIMES) return false;
    c->times = (int64_t)ceil((double)c->times * fmin(1.1 * SAMPLE_SECONDS / sample, MOST_GROWTH));
    return true;
}

/* The first call of all is the warm-up: it builds kernels, opens connections and touches pages. */
static void calibrate(row *r, contender *c, int rounds)
{
    char why[NOTE_ROOM];
    double seconds;
    c->times = 1;
    c->seconds = calloc((size_t)rounds, sizeof *c->seconds);
    if (c->seconds == NULL) note("no room in host memory for %d rounds; ask for fewer", rounds);
    c->run(c->with, 1);
    if (note_agree(why)) {
        drop(r, c, why);
        return;
    }
    do seconds = undisturbed(r, c);
    while (!c->dropped && grow(c, seconds, SAMPLE_SECONDS));
}

static void run_round(row *r, int round)
{
    double seconds[MOST_CONTENDERS] = {0};
    for (int k = 0; k < r->count; ++k)
        if (!r->list[k].dropped) seconds[k] = time_once(&r->list[k]);
    job_most(seconds, r->count);
    for (int k = 0; k < r->count; ++k) {
        contender *c = &r->list[k];
        if (c->dropped) continue;
        c->seconds[round] = seconds[k] / c->each;
        grow(c, seconds[k], SAMPLE_SECONDS / 4);
    }
}

bool sample(row *r, int rounds)
{
    char why[NOTE_ROOM];
    for (int k = 0; k < r->count && !r->list[0].dropped; ++k) calibrate(r, &r->list[k], rounds);
    for (int round = 0; round < rounds && !r->list[0].dropped; ++round) {
        run_round(r, round);
        if (note_agree(why)) drop(r, &r->list[0], why);
    }
    return !r->list[0].dropped;
}

void sample_free(row *r)
{
    for (int k = 0; k < r->count; ++k) free(r->list[k].seconds);
    r->count = 0;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

spread spread_of(const double *values, int count)
{
    double *sorted = count > 0 ? malloc((size_t)count * sizeof *sorted) : NULL;
    spread s = {NAN, NAN, NAN};
    if (sorted == NULL) return s;
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    const double low = sorted[(count - 1) / 2], high = sorted[count / 2];
    s = (spread){(low + high) / 2, sorted[0], sorted[count - 1]};
    free(sorted);
    return s;
}
