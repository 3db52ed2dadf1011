/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_record.c
 *  What is recorded of exchanges: that they are under way, and with META_PROFILE=trace which
 *  messages of two ranks are the two ends of one. */
#include "halo/halo_exchange.h"

#include <stdlib.h>

/* Of each rank of the job, how many plans were made that both it and this one are in as neighbours.
 */
static uint64_t *pair_plans;

static void record_message(const halo_exchange *x, int dir, bool sent)
{
    static const char *const names[2][META_PATH_COUNT] = {
        {[META_PATH_SHARED] = "ghosts in, shared",
         [META_PATH_HOST] = "ghosts in, host",
         [META_PATH_STAGED] = "ghosts in, staged",
         [META_PATH_DIRECT] = "ghosts in, direct"},
        {[META_PATH_SHARED] = "ghosts out, shared",
         [META_PATH_HOST] = "ghosts out, host",
         [META_PATH_STAGED] = "ghosts out, staged",
         [META_PATH_DIRECT] = "ghosts out, direct"}};
    const halo_plan *p = x->plan;
    const halo_link *link = &p->link[dir];
    const uint64_t now = core->profile_now(), tag = (uint64_t)(sent ? dir : p->dirs - 1 - dir);
    const bool traced = comm_traced() && link->pair_plan_id > 0;
    const meta_profile_passage passage = {
        .name = names[sent][halo_path_of(&x->on, sent ? link->out : link->in)],
        .bytes = sent ? link->send_bytes : link->recv_bytes,
        .begin = x->began,
        .end = now,
        .out = sent,
        .peer = traced ? link->world : -1,
        .flows = traced,
        .channel = UINT64_C(1) << 63 | link->pair_plan_id << 8 | tag,
        .number = x->number,
        .given = now};
    if (link->peer != p->rank) core->profile_message(&passage);
}

void halo_record_sent(const halo_exchange *x, int segment)
{
    for (int dir = 0; dir < x->plan->dirs; ++dir) {
        const halo_link *link = &x->plan->link[dir];
        if (link->used && link->send_bytes > 0 && x->dir[dir].segment == segment)
            record_message(x, dir, true);
    }
}

void halo_record_arrived(const halo_exchange *x, int dir)
{
    record_message(x, dir, false);
}

/* ------------------------------------------------------------------ traces */

/* Two ranks make the plans that they have in common in the same order: their numbers agree. */
static void number_plan(halo_plan *p)
{
    for (int dir = 0; dir < p->dirs; ++dir) {
        halo_link *link = &p->link[dir];
        bool first = true;
        if (!link->used || link->world < 0 || link->world == comm_job.rank) continue;
        for (int before = 0; before < dir; ++before)
            if (p->link[before].used && p->link[before].world == link->world) first = false;
        if (first) ++pair_plans[link->world];
    }
    for (int dir = 0; dir < p->dirs; ++dir)
        if (p->link[dir].used && p->link[dir].world >= 0)
            p->link[dir].pair_plan_id = pair_plans[p->link[dir].world];
}

void halo_record_plan(halo_plan *p)
{
    if (!comm_traced()) return;
    if (!pair_plans) pair_plans = calloc((size_t)comm_job.size, sizeof *pair_plans);
    if (pair_plans) number_plan(p);
}

void halo_record_forget(void)
{
    free(pair_plans);
    pair_plans = NULL;
}
