/* SPDX-License-Identifier: BSD-3-Clause */
/** @file traffic.c
 *  How many messages and bytes halo exchanges moved, by path. */
#include "halo/halo_exchange.h"

#include "halo/halo.h"

#include <inttypes.h>
#include <stdio.h>

static meta_traffic traffic = META_TRAFFIC_INIT;

void halo_traffic_prepare(halo_exchange *x)
{
    for (int dir = 0; dir < x->plan->dirs; ++dir) {
        const halo_link *link = &x->plan->link[dir];
        const meta_path out = halo_path_of(&x->on, link->out), in = halo_path_of(&x->on, link->in);
        if (!link->used) continue;
        x->traffic.messages_sent[out] += link->send_bytes > 0;
        x->traffic.bytes_sent[out] += link->send_bytes;
        x->traffic.messages_received[in] += link->recv_bytes > 0;
        x->traffic.bytes_received[in] += link->recv_bytes;
    }
}

void halo_traffic_count(const halo_exchange *x)
{
    for (int path = 0; path < META_PATH_COUNT; ++path) {
        traffic.messages_sent[path] += x->traffic.messages_sent[path];
        traffic.bytes_sent[path] += x->traffic.bytes_sent[path];
        traffic.messages_received[path] += x->traffic.messages_received[path];
        traffic.bytes_received[path] += x->traffic.bytes_received[path];
    }
}

void halo_traffic_report(void)
{
    char text[512] = "";
    size_t at = 0;
    for (int path = 0; path < META_PATH_COUNT; ++path) {
        if (traffic.messages_sent[path] + traffic.messages_received[path] == 0 || at >= sizeof text)
            continue;
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "%s %s: %" PRIu64 " out with %" PRIu64 " bytes, %" PRIu64
                               " in with %" PRIu64,
                               at > 0 ? ";" : "", meta_path_name((meta_path)path),
                               traffic.messages_sent[path], traffic.bytes_sent[path],
                               traffic.messages_received[path], traffic.bytes_received[path]);
    }
    if (at > 0)
        core->log(META_LOG_INFO, "rank %d exchanged ghost cells by path:%s", comm_job.rank, text);
    traffic = (meta_traffic)META_TRAFFIC_INIT;
}

meta_err meta_comm_traffic(meta_traffic *out)
{
    META_TRY(comm_enter(__func__));
    const meta_err error = core->sized_need(out, META_LEAST(meta_traffic, bytes_received),
                                            sizeof traffic, "traffic", "META_TRAFFIC_INIT");
    if (error == META_OK) meta_sized_put(out, &traffic, sizeof traffic);
    return comm_leave(error);
}
