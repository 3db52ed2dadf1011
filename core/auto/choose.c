/* SPDX-License-Identifier: BSD-3-Clause */
/** @file choose.c
 *  Which device a launch goes to, by the policy that holds. */
#include "auto/auto.h"
#include "auto/policy.h"

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Member @p n of a set, counted from 0. */
static int member(uint32_t set, int n)
{
    while (n-- > 0) set &= set - 1;
    return __builtin_ctz(set);
}

/* The choice of a policy that looks at nothing; -1: it does. */
static int blind(meta_policy *p, uint32_t among)
{
    const int count = __builtin_popcount(among);
    switch (p->kind) {
    case META_POLICY_DEVICE:
        return among >> p->device & 1 ? p->device : member(among, 0);
    case META_POLICY_ROUND_ROBIN:
        return member(among, (int)(p->turn++ % (uint64_t)count));
    case META_POLICY_RANDOM:
        return member(among, (int)(next_random(&p->random) % (uint64_t)count));
    default:
        return -1;
    }
}

/* ------------------------------------------------------------------ by single terms */

/* What counts for a policy, in nanoseconds. */
static double weight(meta_policy_kind kind, const meta_auto_reason *one)
{
    switch (kind) {
    case META_POLICY_LOCALITY:
        return (double)one->missing;
    case META_POLICY_PROFILE:
        return one->time;
    default:
        return one->queued + one->in + one->time;
    }
}

/* The least; a device on which the kernel is not known comes first, except for locality. */
static int least(meta_policy_kind kind, meta_auto_reasons *r)
{
    int best = -1;
    for (int d = 0; d < meta_auto.devices; ++d) {
        if (!r->of[d].is_candidate) continue;
        if (kind != META_POLICY_LOCALITY && !r->of[d].is_known) {
            r->is_trial = true;
            return d;
        }
        if (best < 0 || weight(kind, &r->of[d]) < weight(kind, &r->of[best])) best = d;
    }
    return best;
}

static int by_terms(meta_policy_kind kind, const meta_auto_choice *choice)
{
    static const char *const names[] = {[META_POLICY_GREEDY] = "greedy",
                                        [META_POLICY_PROFILE] = "profile",
                                        [META_POLICY_LOCALITY] = "locality"};
    meta_auto_reasons r;
    meta_cost_terms(choice, &r);
    r.policy = names[kind];
    const int best = least(kind, &r);
    meta_explain(&r, best);
    meta_auto.chosen = (uint64_t)r.of[best].time;
    return best;
}

/* ------------------------------------------------------------------ by the program's function */

static void describe(const meta_auto_reasons *r, int d, char name[48], meta_candidate *one)
{
    const meta_device *device = meta_auto.device[d].device;
    const double nano = 1e-9;
    *one = (meta_candidate){.size = sizeof *one,
                            .device = meta_auto_name(d, name),
                            .mode = device->backend->mode,
                            .index = device->index,
                            .number = d,
                            .is_known = r->of[d].is_known,
                            .queued = nano * r->of[d].queued,
                            .moving = nano * r->of[d].in,
                            .running = nano * r->of[d].time,
                            .returning = nano * r->of[d].back,
                            .missing_bytes = r->of[d].missing};
}

static meta_err by_function(const meta_policy *p, const meta_auto_choice *choice, int *chosen)
{
    meta_candidate one[META_SLABS_DEVICES];
    const meta_candidate *list[META_SLABS_DEVICES];
    char name[META_SLABS_DEVICES][48];
    const meta_call *call = choice->launch->calls;
    meta_auto_reasons r;
    int count = 0;
    meta_cost_terms(choice, &r);
    r.policy = "the program's function";
    for (int d = 0; d < meta_auto.devices; ++d) {
        if (!r.of[d].is_candidate) continue;
        describe(&r, d, name[count], &one[count]);
        list[count] = &one[count];
        ++count;
    }
    const meta_decision decision = {.size = sizeof decision,
                                    .kernel = call->desc->name,
                                    .type = (meta_type)call->type,
                                    .cells = r.cells,
                                    .bytes = r.bytes,
                                    .candidates = count,
                                    .candidate = list};
    meta_bar("a policy's function must not call libmeta: it only chooses");
    const int place = p->function(&decision, p->user);
    meta_bar(NULL);
    if (place < 0 || place >= count)
        return meta_fail(
            META_ERR_ARGUMENT,
            "the policy's function returned %d for kernel '%s': it must return the place "
            "of a candidate, 0 to %d",
            place, call->desc->name, count - 1);
    *chosen = one[place].number;
    meta_explain(&r, *chosen);
    meta_auto.chosen = (uint64_t)r.of[*chosen].time;
    return META_OK;
}

/* ------------------------------------------------------------------ all of them */

meta_err meta_auto_choose(const meta_auto_choice *choice, int *chosen)
{
    meta_policy *p = meta_policy_now(true);
    if (__builtin_expect(p->kind == META_POLICY_COST, 1)) {
        *chosen = meta_cost_choose(choice);
        return META_OK;
    }
    if (p->kind == META_POLICY_FUNCTION) return by_function(p, choice, chosen);
    if (p->kind == META_POLICY_TYPE) {
        meta_auto_choice of_type = *choice;
        of_type.among &= meta_policy_devices(p);
        *chosen = meta_cost_choose(of_type.among ? &of_type : choice);
        return META_OK;
    }
    *chosen = blind(p, choice->among);
    if (*chosen < 0) *chosen = by_terms(p->kind, choice);
    return META_OK;
}

int meta_auto_plan_copy(const meta_auto_range *range, bool is_in)
{
    return meta_policy_now(false)->kind == META_POLICY_COST ? meta_cost_copy(range, is_in) : -1;
}

/* What was never written goes to the host's memory, from where any device gets it. */
int meta_auto_choose_copy(const meta_auto_range *range, uint32_t among)
{
    meta_policy *p = meta_policy_now(false);
    if (p->kind == META_POLICY_TYPE && among & meta_policy_devices(p))
        among &= meta_policy_devices(p);
    int chosen = blind(p, among);
    if (chosen < 0) chosen = meta_auto_holder(range, among);
    for (int d = 0; chosen < 0 && d < meta_auto.devices; ++d)
        if (among >> d & 1 && meta_auto.device[d].is_host) chosen = d;
    return chosen >= 0 ? chosen : member(among, 0);
}
