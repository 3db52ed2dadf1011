/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cost.c
 *  The least expected cost, from times of kernels and copies as they were measured.
 *
 *  Buffers that calls use together are a cluster, which has a home: the device where its calls run.
 *  A call runs elsewhere if it gains more than carrying its operands there and its results back
 *  costs. What the calls of a cluster would have gained on another device adds up, and falls to no
 *  less than 0 where they would have lost (the sums of Page 1954); when it exceeds the cost of
 * moving the cluster, the other device is its home from then on. That is to buy once the rent paid
 * equals the price (Karlin, Manasse, Rudolph and Sleator 1988): a loop's data moves after a few
 * steps, and never to and fro.
 *
 *  A kernel that has not run on a device may be fast there. Where the gain would pay if it were as
 * fast as the device's memory, each kernel of the cluster runs there as often as it takes to know.
 */
#include "auto/auto.h"

#include <stdlib.h>

/** Buffers that calls use together. */
struct meta_auto_cluster {
    int home; /* -1: no call yet */
    int buffers;
    uint64_t bytes;
    double gain[META_SLABS_DEVICES];     /* nanoseconds that another home would have saved */
    bool is_guessed[META_SLABS_DEVICES]; /* a part of the gain, by a bound */
    bool tries[META_SLABS_DEVICES];      /* kernels that have not run there do */
};

/* ENOUGH: runs of which the first, which does not count, may be one. */
enum { NUMBERS = 256, ENOUGH = 2 };

/* The kernel's number in meta_auto.times. */
static struct {
    const meta_kernel_desc *desc;
    uint32_t type;
    int number;
} numbers[NUMBERS];

/* What is known of the launch whose device was chosen last. */
static struct {
    meta_auto_cluster *cluster; /* NULL: none was chosen by cost */
    int kernel;
    uint64_t cells, bytes;
    double time[META_SLABS_DEVICES];
} now;

meta_err meta_cost_open(void)
{
    for (int k = 0; k < NUMBERS; ++k) numbers[k].desc = NULL;
    now.cluster = NULL;
    meta_auto.times = meta_times_new(meta_auto.devices);
    if (meta_auto.times) return META_OK;
    return meta_fail(META_ERR_NO_MEMORY, "the host has no memory to learn times of kernels");
}

void meta_cost_close(void)
{
    meta_times_free(meta_auto.times);
    meta_auto.times = NULL;
}

/* ------------------------------------------------------------------ clusters */

void meta_cost_leave(meta_auto_buffer *b)
{
    meta_auto_cluster *c = b->cluster;
    if (!c) return;
    c->bytes -= b->bytes;
    if (--c->buffers == 0) {
        if (now.cluster == c) now.cluster = NULL;
        free(c);
    }
    b->cluster = NULL;
}

/* NULL: memory is out. */
static meta_auto_cluster *cluster_of(meta_auto_buffer *b)
{
    if (b->cluster) return b->cluster;
    meta_auto_cluster *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->home = -1;
    c->buffers = 1;
    c->bytes = b->bytes;
    return b->cluster = c;
}

/* One cluster of two; its home is that of the larger. */
static meta_auto_cluster *join(meta_auto_cluster *a, meta_auto_cluster *b)
{
    if (a == b) return a;
    meta_auto_cluster *into = a->bytes >= b->bytes ? a : b, *from = into == a ? b : a;
    for (meta_auto_buffer *buffer = meta_auto.newest; buffer; buffer = buffer->older)
        if (buffer->cluster == from) buffer->cluster = into;
    if (into->home < 0) into->home = from->home;
    into->buffers += from->buffers;
    into->bytes += from->bytes;
    for (int d = 0; d < meta_auto.devices; ++d) {
        into->tries[d] |= from->tries[d];
        into->is_guessed[d] |= from->is_guessed[d];
    }
    free(from);
    return into;
}

static meta_auto_cluster *cluster_of_all(const meta_auto_choice *choice)
{
    meta_auto_cluster *all = NULL;
    for (size_t k = 0; k < choice->ranges; ++k) {
        meta_auto_cluster *one = cluster_of(choice->range[k].buffer);
        if (!one) return NULL;
        all = all ? join(all, one) : one;
    }
    return all;
}

/* Where the most of its first operand that anyone has lies; without that the first device. */
static int first_home(const meta_auto_choice *choice)
{
    for (size_t k = 0; k < choice->ranges; ++k) {
        const int d = meta_auto_holder(&choice->range[k], choice->among);
        if (d >= 0) return d;
    }
    return __builtin_ctz(choice->among);
}

/* ------------------------------------------------------------------ times */

static int number_of(const meta_call *call)
{
    const uintptr_t at = ((uintptr_t)call->desc / 16 + call->type) % NUMBERS;
    if (numbers[at].desc != call->desc || numbers[at].type != call->type) {
        numbers[at].number = meta_learn_kernel(call->desc, call->type);
        numbers[at].type = call->type;
        numbers[at].desc = call->desc;
    }
    return numbers[at].number;
}

static uint64_t cells_of(const meta_call *call)
{
    return (uint64_t)(call->space->rows * call->space->extent[0]);
}

/* Nanoseconds of a launch on each device. */
static void expect(const meta_launch *launch)
{
    for (int d = 0; d < meta_auto.devices; ++d) now.time[d] = 0;
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        const int kernel = number_of(call);
        const uint64_t cells = cells_of(call), bytes = meta_call_bytes(call);
        meta_time_basis basis;
        if (n == 0) {
            now.kernel = kernel;
            now.cells = cells;
            now.bytes = bytes;
        }
        for (int d = 0; kernel >= 0 && d < meta_auto.devices; ++d)
            now.time[d] +=
                1e9 * meta_times_expect(meta_auto.times, kernel, d, cells, bytes, &basis);
    }
}

static bool is_known(const meta_launch *launch, int d)
{
    return launch->count > 1 || now.kernel < 0 ||
           meta_times_samples(meta_auto.times, now.kernel, d, now.cells) >= ENOUGH;
}

/* Nanoseconds to carry what the call writes from one device to another. */
static double carry_back(const meta_auto_choice *choice, int from, int to)
{
    double time = 0;
    for (size_t k = 0; k < choice->ranges; ++k)
        if (choice->range[k].writes)
            time += meta_auto_move_time(from, to, choice->range[k].end - choice->range[k].begin);
    return time;
}

/* ------------------------------------------------------------------ homes */

static void reset_gain(meta_auto_cluster *c, int d)
{
    c->gain[d] = 0;
    c->is_guessed[d] = false;
}

/* The cluster's last work took @p paid, and would have taken time[d] on device @p d. */
static void add_gains(meta_auto_cluster *c, const double *time, double paid)
{
    int best = c->home;
    for (int d = 0; d < meta_auto.devices; ++d) {
        if (d == c->home) continue;
        c->gain[d] += paid - time[d];
        if (c->gain[d] < 0) reset_gain(c, d);
        const double price = (double)c->buffers * meta_auto_move_time(c->home, d, 0) +
                             meta_auto_move_time(c->home, d, c->bytes);
        if (c->gain[d] <= price) continue;
        if (c->tries[d] || !c->is_guessed[d]) best = d;
        c->tries[d] = true; /* first it is found out what is known only by a bound */
        reset_gain(c, d);
    }
    if (best == c->home) return;
    c->home = best;
    for (int d = 0; d < meta_auto.devices; ++d) reset_gain(c, d);
}

/* What the launch would cost on each device. */
static void weigh(const meta_auto_choice *choice, meta_auto_reasons *r)
{
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_auto_reason *one = &r->of[d];
        one->is_candidate = choice->among >> d & 1;
        one->is_known = is_known(choice->launch, d);
        one->time = now.time[d];
        one->move = 0;
        if (d == r->home) continue; /* what it lacks is carried there sooner or later */
        meta_auto_missing(choice->range, choice->ranges, d, &one->move);
        one->move += carry_back(choice, d, r->home);
    }
}

static int least_of(const meta_auto_cluster *c, meta_auto_reasons *r)
{
    int best = -1;
    double least = 0;
    for (int d = 0; d < meta_auto.devices; ++d) {
        const meta_auto_reason *one = &r->of[d];
        const double cost = one->time + one->move;
        if (!one->is_candidate) continue;
        if (!one->is_known && c->tries[d] && !meta_auto.is_fixed) return r->is_trial = true, d;
        if (!one->is_known && d != r->home) continue;
        if (best >= 0 && (d == r->home ? cost > least : cost >= least)) continue;
        best = d;
        least = cost;
    }
    for (int d = 0; best < 0; ++d) /* none is known */
        if (r->of[d].is_candidate) best = d;
    return best;
}

int meta_cost_choose(const meta_auto_choice *choice)
{
    meta_auto_cluster *c = cluster_of_all(choice);
    meta_auto_reasons reasons;
    meta_auto_read_samples();
    now.cluster = c;
    if (!c) return first_home(choice);
    if (c->home < 0) c->home = first_home(choice);
    expect(choice->launch);
    reasons.call = choice->launch->calls;
    reasons.cells = now.cells;
    reasons.home = c->home;
    reasons.is_trial = false;
    weigh(choice, &reasons);
    const int best = least_of(c, &reasons);
    meta_explain(&reasons, best);
    for (int d = 0; d < meta_auto.devices; ++d) c->is_guessed[d] |= !reasons.of[d].is_known;
    add_gains(c, now.time, now.time[best] + (reasons.is_trial ? 0 : reasons.of[best].move));
    return best;
}

/* As good as a device on which it never ends. */
void meta_cost_refused(int d)
{
    for (int k = 0; now.cluster && now.kernel >= 0 && k <= ENOUGH; ++k)
        meta_times_add(meta_auto.times, now.kernel, d, now.cells, 0, META_TIME_NEVER);
}

void meta_cost_copied(meta_auto_buffer *b, uint64_t bytes)
{
    const double memory = 0.1; /* nanoseconds a byte of the host's */
    double time[META_SLABS_DEVICES];
    int host = 0;
    meta_auto_cluster *c = b->cluster;
    if (!c || c->home < 0) return;
    while (host < meta_auto.devices && !meta_auto.device[host].is_host) ++host;
    for (int d = 0; d < meta_auto.devices; ++d)
        time[d] = host < meta_auto.devices && d != host ? meta_auto_move_time(d, host, bytes)
                                                        : memory * (double)bytes;
    add_gains(c, time, time[c->home]);
}

bool meta_cost_wanted(const meta_launch *launch, int d, meta_auto_sample *sample)
{
    enum { FIRST = 8 };
    /* One in 16, in no step with a loop's calls. */
    const uint64_t hash = meta_auto.calls * UINT64_C(0x9e3779b97f4a7c15);
    if (!now.cluster || launch->count != 1 || now.kernel < 0 || meta_auto.is_fixed) return false;
    *sample = (meta_auto_sample){now.kernel, d, 0, now.cells, now.bytes};
    now.cluster = NULL;
    if (meta_auto.attention > 0) return --meta_auto.attention, true;
    return meta_times_samples(meta_auto.times, now.kernel, d, now.cells) < FIRST || hash >> 60 == 0;
}
