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

/* IMPORTED: runs of earlier processes count as three, so that four new ones outvote them. */
enum { OCTAVES = META_OCTAVES, WINDOW = META_TIMES_WINDOW, NEAR = 6, IMPORTED = 3 };

typedef meta_time_run run;

typedef struct octave {
    uint8_t count, next; /* runs so far, and the place of the next one in the window */
    uint8_t own;         /* those of this process in the window, the last ones */
    run recent[WINDOW];
    double cells, seconds; /* of the run whose time per cell is the median */
    double best;           /* seconds a cell, of the fastest run */
} octave;

typedef struct on_device {
    bool started; /* its first run is over */
    int octaves;  /* that have samples */
    double fixed, per_cell;
    octave of[OCTAVES];
} on_device;

typedef struct kernel {
    char *name;
    uint32_t type, hash;
    uint64_t identity;
    on_device *device;
} kernel;

struct meta_times {
    int devices, count, room;
    bool fixed;
    kernel *kernel;
    int *slot; /* twice as many as room: 1 + a kernel's number, at its hash or behind it; 0: free */
    meta_pace pace[]; /* of each device */
};

meta_times *meta_times_new(int devices)
{
    meta_times *t = calloc(1, sizeof *t + (size_t)devices * sizeof *t->pace);
    if (t) t->devices = devices;
    return t;
}

void meta_times_free(meta_times *t)
{
    if (!t) return;
    for (int k = 0; k < t->count; ++k) {
        free(t->kernel[k].name);
        free(t->kernel[k].device);
    }
    free(t->kernel);
    free(t->slot);
    free(t);
}

static uint32_t hash_of(const char *name, uint32_t type, uint64_t identity)
{
    uint32_t hash = 2166136261u ^ type ^ (uint32_t)identity; /* FNV-1a */
    for (; *name; ++name) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

/* The slot of a kernel, or the free one that it would get. */
static int *slot_of(const meta_times *t, const char *name, uint32_t type, uint64_t identity,
                    uint32_t hash)
{
    const uint32_t last = 2 * (uint32_t)t->room - 1;
    for (uint32_t at = hash & last;; at = (at + 1) & last) {
        int *slot = &t->slot[at];
        if (*slot == 0) return slot;
        const kernel *k = &t->kernel[*slot - 1];
        if (k->hash == hash && k->type == type && k->identity == identity &&
            strcmp(k->name, name) == 0)
            return slot;
    }
}

/* Room for twice as many kernels; the slots are half empty at least. */
static bool grow(meta_times *t)
{
    const int room = t->room ? 2 * t->room : 16;
    int *slot = calloc(2 * (size_t)room, sizeof *slot);
    kernel *larger = slot ? realloc(t->kernel, (size_t)room * sizeof *larger) : NULL;
    if (!larger) return free(slot), false;
    free(t->slot);
    t->slot = slot;
    t->kernel = larger;
    t->room = room;
    for (int n = 0; n < t->count; ++n) {
        const kernel *k = &t->kernel[n];
        *slot_of(t, k->name, k->type, k->identity, k->hash) = n + 1;
    }
    return true;
}

int meta_times_kernel(meta_times *t, const char *name, uint32_t type, uint64_t identity)
{
    const uint32_t hash = hash_of(name, type, identity);
    int *slot = t->room ? slot_of(t, name, type, identity, hash) : NULL;
    if (slot && *slot) return *slot - 1;
    if (t->count == t->room) {
        if (!grow(t)) return -1;
        slot = slot_of(t, name, type, identity, hash);
    }
    const size_t bytes = strlen(name) + 1;
    kernel k = {.name = malloc(bytes), .type = type, .hash = hash, .identity = identity};
    k.device = k.name ? calloc((size_t)t->devices, sizeof *k.device) : NULL;
    if (!k.device) return free(k.name), -1;
    memcpy(k.name, name, bytes);
    t->kernel[t->count] = k;
    *slot = ++t->count;
    return t->count - 1;
}

int meta_times_find(const meta_times *t, const char *name, uint32_t type)
{
    int k = t->count - 1;
    while (k >= 0 && (t->kernel[k].type != type || strcmp(t->kernel[k].name, name) != 0)) --k;
    return k;
}

int meta_times_kernels(const meta_times *t)
{
    return t->count;
}

static int by_time_per_cell(const void *a, const void *b)
{
    const run *r = a, *s = b;
    const double x = r->seconds * s->cells, y = s->seconds * r->cells;
    return (x > y) - (x < y);
}

/* The median by time per cell, the lower one of two in the middle: a run as it was measured, which
 * lies on the line where all do. Scaled to other numbers of cells it would not. */
static run median(const run *of, int count)
{
    run sorted[WINDOW];
    memcpy(sorted, of, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_time_per_cell);
    return sorted[(count - 1) / 2];
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

/* One more run, which may be the best one if it is @p sure how long it took. */
static void put(on_device *d, octave *s, run r, bool sure)
{
    if (s->count == 0) ++d->octaves;
    s->recent[s->next] = r;
    s->next = (uint8_t)((s->next + 1) % WINDOW);
    if (s->count < 255) ++s->count;
    const run middle = median(s->recent, s->count < WINDOW ? s->count : WINDOW);
    if (sure && (s->best == 0 || r.seconds / r.cells < s->best)) s->best = r.seconds / r.cells;
    s->cells = middle.cells;
    s->seconds = middle.seconds;
    fit(d);
}

void meta_times_raise_pace(meta_times *t, int device, const meta_pace_run *one)
{
    meta_pace_raise(&t->pace[device], one);
}

static void add(meta_times *t, int number, int device, uint64_t cells, uint64_t bytes,
                double seconds, bool sure)
{
    on_device *d = &t->kernel[number].device[device];
    if (!(seconds > 0) || cells == 0) return;
    if (!d->started) {
        d->started = true;
        return;
    }
    octave *s = &d->of[meta_octave(cells)];
    put(d, s, (run){(double)cells, seconds}, sure);
    if (s->own < WINDOW) ++s->own;
    const meta_pace_run one = {(double)bytes / (double)cells * s->cells, s->seconds};
    if (sure) meta_times_raise_pace(t, device, &one);
}

void meta_times_add(meta_times *t, int number, int device, uint64_t cells, uint64_t bytes,
                    double seconds)
{
    add(t, number, device, cells, bytes, seconds, true);
}

void meta_times_add_unsure(meta_times *t, int number, int device, uint64_t cells, uint64_t bytes,
                           double seconds)
{
    add(t, number, device, cells, bytes, seconds, false);
}

double meta_times_best(const meta_times *t, int number, int device, uint64_t cells)
{
    return t->kernel[number].device[device].of[meta_octave(cells)].best * (double)cells;
}

double meta_times_last(const meta_times *t, int number, int device, uint64_t cells)
{
    const octave *s = &t->kernel[number].device[device].of[meta_octave(cells)];
    const run *r = &s->recent[(s->next + WINDOW - 1) % WINDOW];
    return s->count > 0 ? r->seconds / r->cells * (double)cells : 0;
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

uint32_t meta_times_samples(const meta_times *t, int number, int device, uint64_t cells)
{
    const on_device *d = &t->kernel[number].device[device];
    const int o = meta_octave(cells);
    if (t->fixed) return d->of[o].count > 0 || near(d, o) >= 0 ? 255 : 0;
    return d->of[o].count;
}

/* Of more cells than those of the only octave: in between may lie a launch and little more. */
static double more_of(const meta_times *t, int device, const octave *s, double line, double cells,
                      double bytes)
{
    const double more = bytes / cells * (cells - s->cells);
    const double seconds = s->seconds + meta_pace_more(&t->pace[device], more);
    return seconds < line ? seconds : line;
}

/* Expected seconds by what runs on the device tell; -1: they tell nothing. */
static inline double expect_on(const meta_times *t, const on_device *d, int device, uint64_t cells,
                               uint64_t bytes, meta_time_basis *basis)
{
    const int o = meta_octave(cells);
    const octave *s = &d->of[o];
    const double line = d->fixed + d->per_cell * (double)cells;
    if (s->count > 0) {
        *basis = META_TIME_SAMPLED;
        return s->seconds * line / (d->fixed + d->per_cell * s->cells);
    }
    const int by = d->octaves > 0 ? near(d, o) : -1;
    *basis = by >= 0 ? META_TIME_FITTED : META_TIME_BOUND;
    if (by < 0) return -1;
    if (t->fixed || d->octaves > 1 || by > o) return line;
    return more_of(t, device, &d->of[by], line, (double)cells, (double)bytes);
}

/* The longest that is expected on any device; -1: none has run it. */
static double slowest(const meta_times *t, const on_device *d, uint64_t cells, uint64_t bytes)
{
    double most = -1;
    for (int n = 0; n < t->devices; ++n) {
        meta_time_basis unused;
        const double seconds = expect_on(t, &d[n], n, cells, bytes, &unused);
        if (seconds > most) most = seconds;
    }
    return most;
}

double meta_times_expect(const meta_times *t, int number, int device, uint64_t cells,
                         uint64_t bytes, meta_time_basis *basis)
{
    const on_device *d = t->kernel[number].device;
    const double known = expect_on(t, &d[device], device, cells, bytes, basis);
    if (*basis != META_TIME_BOUND) return known;
    const double most = t->fixed ? slowest(t, d, cells, bytes) : -1;
    if (most >= 0) return most;
    return meta_pace_bound(&t->pace[device], (double)bytes);
}

/* ------------------------------------------------------------------ from one process to the next
 */

/* The runs' places in the order of time per cell. */
static void sort_places(const meta_time_runs *r, int place[WINDOW])
{
    for (int k = 0; k < r->count; ++k) {
        int at = k;
        for (; at > 0 && by_time_per_cell(&r->run[place[at - 1]], &r->run[k]) > 0; --at)
            place[at] = place[at - 1];
        place[at] = k;
    }
}

void meta_times_thin(meta_time_runs *r, int most)
{
    const int middle = (r->count - 1) / 2, below = (most - 1) / 2, above = most - 1 - below;
    int place[WINDOW] = {0}, kept = 0;
    bool stays[WINDOW] = {false};
    if (r->count <= most) return;
    sort_places(r, place);
    stays[place[middle]] = true;
    for (int k = 0; k < below; ++k) stays[place[(2 * k + 1) * middle / (2 * below)]] = true;
    for (int k = 0; k < above; ++k)
        stays[place[middle + 1 + (2 * k + 1) * (r->count - 1 - middle) / (2 * above)]] = true;
    for (int k = 0; k < r->count; ++k)
        if (stays[k]) r->run[kept++] = r->run[k];
    r->count = kept;
}

void meta_times_import(meta_times *t, int number, const meta_time_runs *runs)
{
    on_device *d = &t->kernel[number].device[runs->device];
    meta_time_runs few = *runs;
    meta_times_thin(&few, IMPORTED);
    for (int k = 0; k < few.count; ++k) put(d, &d->of[runs->octave], few.run[k], true);
}

bool meta_times_export(const meta_times *t, int number, int device, int o, meta_time_runs *runs)
{
    const octave *s = &t->kernel[number].device[device].of[o];
    *runs = (meta_time_runs){.device = device, .octave = o};
    for (int k = s->own; k > 0; --k) {
        const run r = s->recent[(s->next + WINDOW - k) % WINDOW];
        if (r.seconds < META_TIME_NEVER) runs->run[runs->count++] = r;
    }
    return runs->count > 0;
}

void meta_times_identify(const meta_times *t, int number, const char **name, uint32_t *type,
                         uint64_t *identity)
{
    const kernel *k = &t->kernel[number];
    *name = k->name;
    *type = k->type;
    *identity = k->identity;
}

const meta_pace *meta_times_pace(const meta_times *t, int device)
{
    return &t->pace[device];
}

void meta_times_fix(meta_times *t)
{
    t->fixed = true;
}
