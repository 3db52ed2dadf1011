/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plan.c
 *  The halo plans to be measured. */
#include "config.h"

#include "plan.h"

#include "note.h"

void plan_create(meta_halo *plan, MPI_Comm cart, const meta_box *own, int ghosts, int fields,
                 meta_type type, bool all)
{
    meta_halo_desc d = META_HALO_DESC_INIT;
    d.cart = cart;
    d.box = *own;
    for (int k = 0; k < own->ndim; ++k) d.low[k] = d.high[k] = ghosts;
    d.kind = all ? META_HALO_ALL : META_HALO_FACES;
    d.fields = fields;
    d.type = type;
    note_meta(meta_halo_create(plan, &d));
}

void plan_free(meta_halo *plan)
{
    if (plan->generation != 0) note_meta(meta_halo_free(plan));
}

int64_t plan_messages(void)
{
    meta_traffic traffic = META_TRAFFIC_INIT;
    uint64_t messages = 0;
    if (note_meta(meta_comm_traffic(&traffic)))
        for (int k = 0; k < META_PATH_COUNT; ++k) messages += traffic.messages_sent[k];
    return (int64_t)messages;
}
