/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cost.c
 *  The device with the least expected cost: when its queue is free and the inputs are there, what
 * must be moved, and the kernel's time, learned from time stamps and before that bounded from
 * below.
 *
 *  Moving data pays if the calls to come gain more than it costs. A call that was made n times is
 * expected n times more (rent or buy: Karlin, Manasse, Rudolph and Sleator 1988), unless the same
 * data had to be moved there the last time as well: then it has gone back in between, and will
 * again. */
#include "auto/auto.h"

#include <stdlib.h>

/* A call that is made again and again: its kernel with the same operands. */
typedef struct site {
    uint64_t key; /* 0: none */
    const meta_kernel_desc *desc;
    int kernel; /* in meta_auto.times */
    uint64_t count;
    int device; /* where it ran last */
    uint8_t
        moved[META_SLABS_DEVICES]; /* how often in a row it had to be moved there, at most 255 */
} site;

enum { SITES = 4096, PROBES = 8 };
static site *sites;
static site *chosen;                        /* of the launch that was chosen last; */
static uint64_t chosen_cells, chosen_bytes; /* its first call's, */
static double chosen_time[META_SLABS_DEVICES], chosen_move[META_SLABS_DEVICES]; /* nanoseconds */

meta_err meta_cost_open(void)
{
    sites = calloc(SITES, sizeof *sites);
    meta_auto.times = meta_times_new(meta_auto.devices);
    chosen = NULL;
    if (sites && meta_auto.times) return META_OK;
    meta_cost_close();
    return meta_fail(META_ERR_NO_MEMORY, "the host has no memory to learn times of kernels");
}

void meta_cost_close(void)
{
    free(sites);
    sites = NULL;
    meta_times_free(meta_auto.times);
    meta_auto.times = NULL;
}

/* ------------------------------------------------------------------ sites */

static uint64_t mix(uint64_t key, uint64_t more)
{
    key = (key ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static uint64_t key_of(const meta_launch *launch)
{
    uint64_t key = launch->count;
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        key = mix(key, (uintptr_t)call->desc ^ call->type);
        for (int d = 0; d < call->space->ndim; ++d)
            key = mix(key, (uint64_t)call->space->extent[d]);
        for (uint32_t k = 0; k < call->desc->operands; ++k) {
            key = mix(key, (uintptr_t)call->object[k]);
            key = mix(key, (uint64_t)meta_call_layout(call, k)->base);
        }
    }
    return key ? key : 1;
}

/* Names are unique but for kernels of different files; their types' times differ as well. */
static int kernel_of(const meta_call *call)
{
    return meta_times_kernel(meta_auto.times, call->desc->name, call->type);
}

/* The site of a launch; one that is made new takes the place of the least frequent. */
static site *site_of(const meta_launch *launch)
{
    const uint64_t key = key_of(launch);
    site *least = NULL;
    for (uint64_t k = 0; k < PROBES; ++k) {
        site *s = &sites[(key + k) % SITES];
        if (s->key == key && s->desc == launch->calls->desc) return s;
        if (!least || s->count < least->count) least = s;
    }
    *least = (site){.key = key, .desc = launch->calls->desc, .device = -1};
    least->kernel = kernel_of(launch->calls);
    return least;
}

/* ------------------------------------------------------------------ the choice */

static uint64_t cells_of(const meta_call *call)
{
    return (uint64_t)(call->space->rows * call->space->extent[0]);
}

/* Nanoseconds of all calls on device @p d. */
static double kernel_time(const site *s, const meta_launch *launch, int d)
{
    double seconds = 0;
    meta_time_basis basis;
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        const int kernel = call->desc == s->desc ? s->kernel : kernel_of(call);
        if (kernel < 0) continue;
        seconds += meta_times_expect(meta_auto.times, kernel, d, cells_of(call),
                                     meta_call_bytes(call), &basis);
    }
    return seconds * 1e9;
}

/* Until the inputs are there: work that is still under way where they come from. */
static double until_free(int d, uint64_t time)
{
    const uint64_t free_at = meta_auto.device[d].free_at;
    return free_at > time ? (double)(free_at - time) : 0;
}

int meta_cost_choose(const meta_auto_choice *c)
{
    const uint64_t time = meta_auto_now();
    double least = 0;
    int best = -1;
    meta_auto_read_samples();
    site *s = site_of(c->launch);
    const double repeats = s->count > 0 ? (double)s->count : 1;
    for (int d = 0; d < meta_auto.devices; ++d) {
        double move;
        if (!(c->among >> d & 1)) continue;
        const uint64_t missing = meta_auto_missing(c->range, c->ranges, d, &move);
        const bool recurs = s->moved[d] > 0;
        chosen_time[d] = kernel_time(s, c->launch, d);
        chosen_move[d] = missing > 0 ? move : 0;
        double cost =
            until_free(d, time) + chosen_time[d] + chosen_move[d] / (recurs ? 1 : repeats);
        if (d == s->device) cost *= 0.97; /* a tie is no reason to go elsewhere */
        if (best >= 0 && cost >= least) continue;
        best = d;
        least = cost;
    }
    ++s->count;
    chosen = s;
    chosen_cells = cells_of(c->launch->calls);
    chosen_bytes = meta_call_bytes(c->launch->calls);
    return best;
}

bool meta_cost_wanted(const meta_launch *launch, int d, meta_auto_sample *sample)
{
    enum { FIRST = 8, EVERY = 16 };
    if (!chosen || launch->count != 1 || chosen->kernel < 0) return false;
    *sample = (meta_auto_sample){chosen->kernel, d, 0, chosen_cells, chosen_bytes};
    return meta_times_samples(meta_auto.times, chosen->kernel, d, chosen_cells) < FIRST ||
           chosen->count % EVERY == 0;
}

void meta_cost_queued(int d)
{
    meta_auto_device *device = &meta_auto.device[d];
    const uint64_t time = meta_auto_now();
    if (!chosen) return;
    if (chosen_move[d] <= 0) chosen->moved[d] = 0;
    else if (chosen->moved[d] < 255) ++chosen->moved[d];
    chosen->device = d;
    if (device->free_at < time) device->free_at = time;
    device->free_at += (uint64_t)(chosen_time[d] + chosen_move[d]);
    chosen = NULL;
}
