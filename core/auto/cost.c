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
#include "auto/learn.h"
#include "auto/link.h"
#include "auto/share.h"

#include <stdlib.h>
#include <string.h>

#include "auto/loop.h"

/** Buffers that calls use together. */
struct meta_auto_cluster {
    int home; /* -1: no call yet */
    int buffers;
    uint64_t bytes;
    uint64_t left;                       /* meta_loop_left() when home was last found */
    double gain[META_SLABS_DEVICES];     /* nanoseconds that another home would have saved */
    bool is_guessed[META_SLABS_DEVICES]; /* a part of the gain, by a bound */
    bool tries[META_SLABS_DEVICES];      /* kernels that have not run there do */
};

enum { NUMBERS = 256 };

/* The kernel's number in meta_auto.times. */
static struct {
    uint64_t kernel; /* meta_auto_kernel(); 0: none */
    uint32_t type;
    int number;
} numbers[NUMBERS];

/* What is known of the launch whose device was chosen last. */
static struct {
    bool is_chosen;  /* by cost, and not yet launched */
    uint64_t number; /* meta_auto.calls */
    meta_loop_call call;
    double time[META_SLABS_DEVICES];
} now;

meta_err meta_cost_open(void)
{
    for (int k = 0; k < NUMBERS; ++k) numbers[k].kernel = 0;
    now.is_chosen = false;
    now.number = 0;
    meta_auto.times = meta_times_new(meta_auto.devices);
    if (meta_auto.times) return META_OK;
    return meta_fail(META_ERR_NO_MEMORY, "the host has no memory to learn times of kernels");
}

void meta_cost_close(void)
{
    meta_loop_close();
    meta_times_free(meta_auto.times);
    meta_auto.times = NULL;
}

/* ------------------------------------------------------------------ clusters */

void meta_cost_leave(meta_auto_buffer *b)
{
    meta_auto_cluster *c = b->cluster;
    if (!c) return;
    c->bytes -= b->bytes;
    if (--c->buffers == 0) free(c);
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

static uint64_t bytes_of(const meta_auto_choice *choice)
{
    uint64_t bytes = 0;
    for (size_t k = 0; k < choice->ranges; ++k)
        bytes += choice->range[k].end - choice->range[k].begin;
    return bytes;
}

/* Where the most of its operands lies; without any a device that others use least. */
static int home_of(const meta_auto_choice *choice)
{
    uint64_t held[META_SLABS_DEVICES] = {0};
    int best = -1;
    for (size_t k = 0; k < choice->ranges; ++k) {
        const int d = meta_auto_holder(&choice->range[k], choice->among);
        if (d >= 0) held[d] += choice->range[k].end - choice->range[k].begin;
    }
    for (int d = 0; d < meta_auto.devices; ++d)
        if (held[d] > 0 && (best < 0 || held[d] > held[best])) best = d;
    return best >= 0 ? best : meta_share_first(choice->among, bytes_of(choice));
}

/* A new cluster's home, and that of one which a loop has left somewhere. */
static void find_home(meta_auto_cluster *c, const meta_auto_choice *choice)
{
    if (c->home >= 0 && c->left == meta_loop_left()) return;
    c->left = meta_loop_left();
    c->home = home_of(choice);
    for (int d = 0; d < meta_auto.devices; ++d) c->gain[d] = 0;
}

/* ------------------------------------------------------------------ times */

static int number_of(const meta_call *call)
{
    const uint64_t kernel = meta_auto_kernel(call->desc);
    const size_t at = (kernel / 16 + call->type) % NUMBERS;
    if (numbers[at].kernel != kernel || numbers[at].type != call->type) {
        numbers[at].number = meta_learn_kernel(call->desc, call->type);
        numbers[at].type = call->type;
        numbers[at].kernel = kernel;
    }
    return numbers[at].number;
}

static uint64_t cells_of(const meta_call *call)
{
    return (uint64_t)(call->space->rows * call->space->extent[0]);
}

/* What is known of a launch: of several calls in one only their times. */
static void expect(const meta_launch *launch)
{
    double one[META_SLABS_DEVICES];
    uint64_t cells = 0;
    for (int d = 0; d < meta_auto.devices; ++d) now.time[d] = 0;
    now.call.is_waited = false;
    for (size_t n = 0; n < launch->count; ++n) {
        const meta_call *call = meta_launch_call(launch, n);
        now.call.kernel = number_of(call);
        now.call.cells = cells_of(call);
        now.call.bytes = meta_call_bytes(call);
        cells += now.call.cells;
        if (now.call.kernel < 0) continue;
        meta_expect_times(&now.call, one);
        for (int d = 0; d < meta_auto.devices; ++d) now.time[d] += one[d];
    }
    now.call.cells = cells;
    if (launch->count > 1) now.call.kernel = META_LOOP_OTHER;
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
    double claimed[META_SLABS_DEVICES] = {0};
    int best = c->home;
    for (int d = 0; d < meta_auto.devices; ++d) {
        if (d == c->home) continue;
        c->gain[d] += paid - time[d];
        if (c->gain[d] < 0) reset_gain(c, d);
        const double price = (double)c->buffers * meta_auto_move_time(c->home, d, 0) +
                             meta_auto_move_time(c->home, d, c->bytes);
        if (c->gain[d] <= price || !meta_share_fits(d, c->bytes)) continue;
        if (c->tries[d] || !c->is_guessed[d]) best = d;
        c->tries[d] = true; /* first it is found out what is known only by a bound */
        reset_gain(c, d);
    }
    if (best == c->home || !meta_share_turn(META_SHARE_MOVE)) return;
    c->home = best;
    for (int d = 0; d < meta_auto.devices; ++d) reset_gain(c, d);
    claimed[best] = 1;
    meta_share_claim(claimed);
}

/* What the launch would cost on each device. */
static void weigh(const meta_auto_choice *choice, meta_auto_reasons *r)
{
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_auto_reason *one = &r->of[d];
        one->is_candidate = choice->among >> d & 1;
        one->is_known = meta_expect_is_known(now.call.kernel, d, now.call.cells);
        one->time = now.time[d];
        one->move = 0;
        if (d == r->home) continue; /* what it lacks is carried there sooner or later */
        meta_auto_missing(choice->range, choice->ranges, d, &one->move);
        one->move += carry_back(choice, d, r->home);
    }
}

static int least_of(const meta_auto_cluster *c, const meta_auto_choice *choice,
                    meta_auto_reasons *r)
{
    const uint64_t bytes = bytes_of(choice);
    int best = -1;
    double least = 0;
    for (int d = 0; d < meta_auto.devices; ++d) {
        const meta_auto_reason *one = &r->of[d];
        const double cost = one->time + one->move;
        if (!one->is_candidate || (d != r->home && !meta_share_fits(d, bytes))) continue;
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

void meta_cost_terms(const meta_auto_choice *choice, meta_auto_reasons *r)
{
    meta_auto_read_samples();
    now.is_chosen = true;
    now.number = meta_auto.calls;
    expect(choice->launch);
    *r = (meta_auto_reasons){.call = choice->launch->calls,
                             .cells = now.call.cells,
                             .bytes = now.call.bytes,
                             .home = -1};
    const int home = home_of(choice);
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_auto_reason *one = &r->of[d];
        one->is_candidate = choice->among >> d & 1;
        one->is_known = meta_expect_is_known(now.call.kernel, d, now.call.cells);
        one->time = now.time[d];
        one->queued = (double)meta_auto_backlog(d);
        one->missing = meta_auto_missing(choice->range, choice->ranges, d, &one->in);
        one->back = d == home ? 0 : carry_back(choice, d, home);
        one->move = one->in + one->back;
    }
}

/* The device for a launch that is in no loop. */
static int choose_alone(const meta_auto_choice *choice)
{
    meta_auto_cluster *c = cluster_of_all(choice);
    meta_auto_reasons reasons;
    if (!c) return home_of(choice);
    find_home(c, choice);
    reasons.call = choice->launch->calls;
    reasons.policy = NULL;
    reasons.cells = now.call.cells;
    reasons.home = c->home;
    reasons.is_trial = false;
    weigh(choice, &reasons);
    const int best = least_of(c, choice, &reasons);
    meta_explain(&reasons, best);
    for (int d = 0; d < meta_auto.devices; ++d) c->is_guessed[d] |= !reasons.of[d].is_known;
    add_gains(c, now.time, now.time[best] + (reasons.is_trial ? 0 : reasons.of[best].move));
    return best;
}

/* ------------------------------------------------------------------ loops */

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t sign_range(uint64_t hash, const meta_auto_range *r)
{
    hash = mix(hash, (uintptr_t)r->buffer->address + r->begin);
    return mix(hash, r->end << 2 | (uint64_t)r->reads << 1 | r->writes);
}

static uint64_t sign(const meta_auto_choice *choice)
{
    uint64_t hash = choice->launch->count;
    for (size_t n = 0; n < choice->launch->count; ++n) {
        const meta_call *call = meta_launch_call(choice->launch, n);
        hash = mix(hash, meta_auto_kernel(call->desc));
        hash = mix(hash, cells_of(call) << 8 | call->type);
    }
    for (size_t k = 0; k < choice->ranges; ++k) hash = sign_range(hash, &choice->range[k]);
    return hash;
}

int meta_cost_choose(const meta_auto_choice *choice)
{
    const bool is_again = now.number == meta_auto.calls; /* one device could not run it */
    const meta_loop_call *known;
    if (meta_auto.devices == 1) return 0;
    meta_auto_read_samples();
    now.is_chosen = true;
    now.number = meta_auto.calls;
    if (!is_again) {
        now.call.signature = sign(choice);
        const int planned = meta_loop_next(now.call.signature, &known);
        if (planned >= 0 && choice->among >> planned & 1) {
            now.call = *known;
            meta_auto.chosen = (uint64_t)known->expected;
            meta_auto.why = known->is_tried ? META_AUTO_WHY_TRIAL : META_AUTO_WHY_PLAN;
            return planned;
        }
        if (planned >= 0) now.call.among = 0; /* it is in the loop already */
        else now.call.among = choice->among;
    }
    expect(choice->launch);
    const int best = choose_alone(choice);
    now.call.expected = now.time[best];
    meta_auto.chosen = (uint64_t)now.call.expected;
    if (!is_again && now.call.among != 0)
        meta_loop_note(&now.call, choice->range, choice->ranges, now.time, best);
    return best;
}

int meta_cost_copy(const meta_auto_range *range, bool is_in)
{
    const uint64_t bytes = range->end - range->begin;
    const uint32_t among = meta_auto_allowed(range->buffer);
    meta_loop_call call = {.signature = sign_range((uint64_t)is_in, range),
                           .kernel = is_in ? META_LOOP_COPY_IN : META_LOOP_COPY_OUT,
                           .bytes = bytes,
                           .among = among};
    const meta_loop_call *known;
    double time[META_SLABS_DEVICES];
    const int planned = meta_loop_next(call.signature, &known);
    if (planned >= 0) return among >> planned & 1 ? planned : -1;
    meta_expect_times(&call, time);
    int holder = meta_auto_holder(range, among);
    if (holder < 0) holder = __builtin_ctz(among);
    meta_loop_note(&call, range, 1, time, holder);
    meta_auto_cluster *c = range->buffer->cluster;
    if (c && c->home >= 0) add_gains(c, time, time[c->home]);
    return -1;
}

/* As good as a device on which it never ends. */
void meta_cost_refused(int d)
{
    if (!now.is_chosen || now.number != meta_auto.calls) return; /* chosen by another policy */
    for (int k = 0; now.call.kernel >= 0 && k <= META_EXPECT_RUNS; ++k)
        meta_times_add(meta_auto.times, now.call.kernel, d, now.call.cells, 0, META_TIME_NEVER);
}

/* Nanoseconds of a launch for which policies without times have chosen the device. */
static double guess(const meta_launch *launch)
{
    const double per_byte = 0.1;
    double time = 0;
    for (size_t n = 0; n < launch->count; ++n)
        time += per_byte * (double)meta_call_bytes(meta_launch_call(launch, n));
    return time;
}

bool meta_cost_wanted(const meta_launch *launch, int d, meta_auto_sample *sample)
{
    enum { FIRST = 8 };
    /* One in 16, in no step with a loop's calls. */
    const uint64_t hash = meta_auto.calls * UINT64_C(0x9e3779b97f4a7c15);
    const meta_loop_call *c = &now.call;
    if (meta_share.is_on) meta_share_ran(d, now.is_chosen ? c->expected : guess(launch));
    if (!now.is_chosen) return false;
    if (launch->count != 1 || c->kernel < 0 || meta_auto.is_fixed) return false;
    *sample = (meta_auto_sample){c->kernel,
                                 d,
                                 0,
                                 c->cells,
                                 c->bytes,
                                 meta_share.share[d],
                                 meta_share.is_settled ? 1 + meta_share.seen : 0};
    now.is_chosen = false;
    if (meta_auto.attention > 0) return --meta_auto.attention, true;
    return meta_times_samples(meta_auto.times, c->kernel, d, c->cells) < FIRST || hash >> 60 == 0;
}
