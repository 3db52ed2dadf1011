/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_record.c
 *  Profiling of halo exchanges: their messages, and which of them are the two ends of one. */
#include "halo/halo.h"

#include <stdlib.h>

static uint64_t *plans; /* of each rank, how many were made together with this one */

/* Two ranks make the plans that they have in common in the same order. */
static void count_plan(halo_plan *p, const int *ranks)
{
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        bool first = true;
        link->world = ranks[way];
        if (!link->used || link->world < 0 || link->world == comm_job.rank) continue;
        for (int before = 0; before < way; ++before)
            if (p->link[before].used && p->link[before].world == link->world) first = false;
        if (first) ++plans[link->world];
    }
    for (int way = 0; way < p->ways; ++way)
        if (p->link[way].used && p->link[way].world >= 0)
            p->link[way].together = plans[p->link[way].world];
}

/* The ranks of the job that lie in each direction. */
static meta_err find_ranks(const halo_plan *p, int *ranks)
{
    int there[HALO_WAYS];
    MPI_Group here, all;
    COMM_MPI(MPI_Comm_group, (p->cart, &here));
    COMM_MPI(MPI_Comm_group, (comm_job.messages, &all));
    for (int way = 0; way < p->ways; ++way) there[way] = p->link[way].peer;
    const meta_err error = comm_mpi(MPI_Group_translate_ranks(here, p->ways, there, all, ranks),
                                    "MPI_Group_translate_ranks");
    MPI_Group_free(&here);
    MPI_Group_free(&all);
    return error;
}

void halo_record_plan(halo_plan *p)
{
    int ranks[HALO_WAYS];
    if (!comm_traced()) return;
    if (!plans) plans = calloc((size_t)comm_job.size, sizeof *plans);
    if (plans && find_ranks(p, ranks) == META_OK) count_plan(p, ranks);
}

void halo_record_forget(void)
{
    free(plans);
    plans = NULL;
}

static void record_way(const halo_plan *p, int way, bool sent)
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
    const halo_link *link = &p->link[way];
    const uint64_t now = core->profile_now(), seen = (uint64_t)(sent ? way : p->ways - 1 - way);
    const bool traced = comm_traced() && link->together > 0;
    const meta_profile_passage passage = {.name = names[sent][sent ? link->out : link->in],
                                          .bytes = sent ? link->send_bytes : link->recv_bytes,
                                          .begin = p->began,
                                          .end = now,
                                          .out = sent,
                                          .peer = traced ? link->world : -1,
                                          .flows = traced,
                                          .channel = UINT64_C(1) << 63 | link->together << 8 | seen,
                                          .number = p->number,
                                          .given = now};
    if (p->began != 0 && link->peer != p->rank) core->profile_message(&passage);
}

void halo_record_sent(const halo_plan *p, int segment)
{
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        if (link->used && link->send_bytes > 0 && link->segment == segment)
            record_way(p, way, true);
    }
}

void halo_record_arrived(const halo_plan *p, int way)
{
    record_way(p, way, false);
}
