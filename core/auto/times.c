/* SPDX-License-Identifier: BSD-3-Clause */
/** @file times.c
 *  For each kernel, device and octave of cells the median of the last runs, so that an outlier does
 * not count and a device that has become slower does after a few. The first run of a kernel on a
 * device does not count at all: it compiles, and touches memory first. Over the octaves goes a
 * line, launch time and time per cell, in the manner of StarPU's models (Augonnet, Thibault and
 * Namyst 2009). */
#include "auto/times.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { OCTAVES = 48, WINDOW = 7, NAME = 64, NEAR = 6 };

typedef struct octave {
    uint8_t count, next; /* runs so far, and the place of the next one in the window */
    float recent[WINDOW];
    double cells, seconds; /* medians */
} octave;

typedef struct on_device {
    bool started; /* its first run is over */
    int octaves;  /* that have samples */
    double fixed, per_cell;
    octave of[OCTAVES];
} on_device;

typedef struct kernel {
    char name[NAME];
    uint32_t type;
    on_device *device;
} kernel;

struct meta_times {
    int devices, count, room;
    kernel *kernel;
    double rate[]; /* bytes a second, the best of each device */
};

meta_times *meta_times_new(int devices)
{
    meta_times *t = calloc(1, sizeof *t + (size_t)devices * sizeof *t->rate);
    if (t) t->devices = devices;
    return t;
}

void meta_times_free(meta_times *t)
{
    if (!t) return;
    for (int k = 0; k < t->count; ++k) free(t->kernel[k].device);
    free(t->kernel);
    free(t);
}

int meta_times_kernel(meta_times *t, const char *name, uint32_t type)
{
    for (int k = 0; k < t->count; ++k)
        if (t->kernel[k].type == type && strncmp(t->kernel[k].name, name, NAME - 1) == 0) return k;
    if (t->count == t->room) {
        const int room = t->room ? 2 * t->room : 16;
        kernel *larger = realloc(t->kernel, (size_t)room * sizeof *larger);
        if (!larger) return -1;
        t->kernel = larger;
        t->room = room;
    }
    kernel *k = &t->kernel[t->count];
    memset(k, 0, sizeof *k);
    k->type = type;
    strncpy(k->name, name, NAME - 1);
    k->device = calloc((size_t)t->devices, sizeof *k->device);
    return k->device ? t->count++ : -1;
}

static int octave_of(uint64_t cells)
{
    const int o = cells > 1 ? 63 - __builtin_clzll(cells) : 0;
    return o < OCTAVES ? o : OCTAVES - 1;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The lower one of two in the middle. */
static double median(const float *of, int count)
{
    float sorted[WINDOW];
    memcpy(sorted, of, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    return (double)sorted[(count - 1) / 2];
}

/* A line through the octaves that makes the sum of squared relative errors least. */
static void fit(on_device *d)
{
    double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    for (int o = 0; o < OCTAVES; ++o) {
        const octave *s = &d->of[o];
        if (s->count == 0) continue;
        const double weight = 1 / (s->seconds * s->seconds);
        w += weight;
        wx += weight * s->cells;
        wxx += weight * s->cells * s->cells;
        wy += weight * s->seconds;
        wxy += weight * s->cells * s->seconds;
    }
    const double determinant = w * wxx - wx * wx;
    d->fixed = d->octaves > 1 && determinant > 0 ? (wy * wxx - wx * wxy) / determinant : 0;
    if (d->fixed < 0) d->fixed = 0;
    d->per_cell = (wxy - d->fixed * wx) / wxx;
    if (d->per_cell >= 0) return;
    d->per_cell = 0;
    d->fixed = wy / w;
}

void meta_times_add(meta_times *t, int number, int device, uint64_t cells, uint64_t bytes,
                    double seconds)
{
    on_device *d = &t->kernel[number].device[device];
    if (!(seconds > 0) || cells == 0) return;
    if (!d->started) {
        d->started = true;
        return;
    }
    octave *s = &d->of[octave_of(cells)];
    if (s->count == 0) {
        ++d->octaves;
        s->cells = (double)cells;
    }
    /* Those of other numbers of cells are scaled to that of the first. */
    s->recent[s->next] = (float)(seconds * s->cells / (double)cells);
    s->next = (uint8_t)((s->next + 1) % WINDOW);
    if (s->count < 255) ++s->count;
    s->seconds = median(s->recent, s->count < WINDOW ? s->count : WINDOW);
    fit(d);
    const double rate = (double)bytes / s->seconds;
    if (rate > t->rate[device]) t->rate[device] = rate;
}

uint32_t meta_times_samples(const meta_times *t, int number, int device, uint64_t cells)
{
    return t->kernel[number].device[device].of[octave_of(cells)].count;
}

/* An octave with samples within so many of @p o; -1: none. */
static int near(const on_device *d, int o)
{
    for (int away = 1; away <= NEAR; ++away) {
        if (o + away < OCTAVES && d->of[o + away].count > 0) return o + away;
        if (o - away >= 0 && d->of[o - away].count > 0) return o - away;
    }
    return -1;
}

double meta_times_expect(const meta_times *t, int number, int device, uint64_t cells,
                         uint64_t bytes, meta_time_basis *basis)
{
    const on_device *d = &t->kernel[number].device[device];
    const int o = octave_of(cells);
    const octave *s = &d->of[o];
    const double line = d->fixed + d->per_cell * (double)cells;
    if (s->count > 0) {
        *basis = META_TIME_SAMPLED;
        return s->seconds * line / (d->fixed + d->per_cell * s->cells);
    }
    if (d->octaves > 0 && near(d, o) >= 0) {
        *basis = META_TIME_FITTED;
        return line;
    }
    *basis = META_TIME_BOUND;
    return (double)bytes / (t->rate[device] > 0 ? 2 * t->rate[device] : 4e12);
}
