/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_path.c
 *  The way each message of a halo plan takes, and where it lies.
 *
 *  The sender decides: within a rank the device copies; to a rank of the same node what lies in
 * plain host memory is left in a window of shared memory, where the receiver takes it; everything
 * else goes through MPI, from host memory, by way of staging or, where MPI takes it, from the
 * device. */
#include "halo/halo.h"

#include <stdio.h>

/* ------------------------------------------------------------------ who is where */

meta_err halo_node_find(halo_plan *p)
{
    MPI_Group all = MPI_GROUP_NULL, near = MPI_GROUP_NULL;
    meta_err error = META_OK;
    COMM_MPI(MPI_Comm_split_type, (p->cart, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &p->node));
    COMM_MPI(MPI_Comm_set_errhandler, (p->node, MPI_ERRORS_RETURN));
    COMM_MPI(MPI_Comm_group, (p->cart, &all));
    error = comm_mpi(MPI_Comm_group(p->node, &near), "MPI_Comm_group");
    for (int way = 0; way < p->ways && error == META_OK; ++way) {
        halo_link *link = &p->link[way];
        link->node = MPI_UNDEFINED;
        if (link->peer == MPI_PROC_NULL) continue;
        error = comm_mpi(MPI_Group_translate_ranks(all, 1, &link->peer, near, &link->node),
                         "MPI_Group_translate_ranks");
    }
    MPI_Group_free(&all);
    if (near != MPI_GROUP_NULL) MPI_Group_free(&near);
    return error;
}

void halo_paths_choose(halo_plan *p, bool shared)
{
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        const bool near = link->node != MPI_UNDEFINED;
        link->out = link->peer == p->rank         ? META_PATH_SELF
                    : shared && near && p->shares ? META_PATH_SHARED
                    : p->host                     ? META_PATH_HOST
                    : p->direct                   ? META_PATH_DIRECT
                                                  : META_PATH_STAGED;
        /* Unless the peer says otherwise when it is asked. */
        link->in = link->out == META_PATH_SHARED || !link->used ? META_PATH_HOST : link->out;
        if (!p->host && link->in == META_PATH_HOST)
            link->in = p->direct ? META_PATH_DIRECT : META_PATH_STAGED;
    }
}

/* ------------------------------------------------------------------ where messages lie */

static size_t placed(size_t *end, size_t bytes)
{
    const size_t at = *end;
    *end += (bytes + HALO_ALIGN - 1) / HALO_ALIGN * HALO_ALIGN;
    return at;
}

/* What MPI is given lies at the beginning of the send buffer. What is shared lies in the window,
 * and in the buffer only where the device's memory is not the host's. At the end lies what is added
 * within this rank: as it was when the exchange began, whatever is added before. */
void halo_paths_place(halo_plan *p)
{
    size_t own = 0;
    p->send_bytes = p->recv_bytes = p->slot_bytes = 0;
    for (int way = 0; way < p->ways; ++way) {
        halo_link *link = &p->link[way];
        if (!link->used) continue;
        if (link->peer == p->rank) {
            if (p->op == META_HALO_ADD) link->send_at = placed(&own, link->send_bytes);
            continue;
        }
        if (link->out == META_PATH_SHARED) link->send_at = placed(&p->slot_bytes, link->send_bytes);
        else link->send_at = placed(&p->send_bytes, link->send_bytes);
        /* A host device unpacks where the sender packed. */
        if (link->in != META_PATH_SHARED || !p->host)
            link->recv_at = placed(&p->recv_bytes, link->recv_bytes);
    }
    p->mpi_bytes = p->send_bytes;
    if (!p->host) p->send_bytes += p->slot_bytes;
    p->own_at = p->send_bytes;
    p->send_bytes += own;
}

/* ------------------------------------------------------------------ on the log */

enum { REASON = 160 };

/* Why what is sent that way does not go through shared memory. */
static const char *why_not_shared(const halo_plan *p, const halo_link *link)
{
    if (link->node == MPI_UNDEFINED) return "the neighbour is on another node";
    if (!comm_job.shared) return "META_SHARED=off";
    return p->shares ? "there is no room for shared memory"
                     : "a GPU copies to page-locked memory only";
}

/* Why it takes its path. */
static const char *why(const halo_plan *p, const halo_link *link, char text[REASON])
{
    static const char *const memory[META_PATH_COUNT] = {
        [META_PATH_HOST] = "MPI is given this device's memory, which is the host's",
        [META_PATH_STAGED] = "MPI does not take this device's memory",
        [META_PATH_DIRECT] = "MPI takes this device's memory"};
    if (link->out == META_PATH_SELF) return "the neighbour is this rank";
    if (link->out == META_PATH_SHARED) return "the neighbour is on this node";
    snprintf(text, REASON, "%s; not shared: %s", memory[link->out], why_not_shared(p, link));
    return text;
}

static const char *pieces_of(const halo_link *link, char text[REASON])
{
    const size_t piece = comm_chunk_fit(link->send_bytes, link->send_chunk);
    if (link->out == META_PATH_SELF || link->out == META_PATH_SHARED || piece >= link->send_bytes)
        return "";
    snprintf(text, REASON, "; in pieces of %zu: %s", piece,
             piece == comm_job.chunk     ? "META_TEST_CHUNK"
             : comm_job.pipeline > 0     ? "META_PIPELINE"
             : link->send_chunk == piece ? "by what copies cost"
                                         : "so that there are not too many");
    return text;
}

static void explain(const halo_plan *p)
{
    for (int way = 0; way < p->ways; ++way) {
        const halo_link *link = &p->link[way];
        char name[HALO_TEXT], reason[REASON], pieces[REASON];
        if (!link->used || link->send_bytes == 0) continue;
        halo_way_name(p, way, name);
        core->log(META_LOG_DEBUG,
                  "halo plan of rank %d: %zu bytes towards %s, to rank %d, %s: %s%s", p->rank,
                  link->send_bytes, name, link->peer, meta_path_name(link->out),
                  why(p, link, reason), pieces_of(link, pieces));
    }
}

void halo_paths_report(const halo_plan *p)
{
    char text[512] = "";
    size_t at = 0;
    for (int path = 0; path < META_PATH_COUNT; ++path) {
        int out = 0, in = 0;
        size_t sent = 0, received = 0;
        for (int way = 0; way < p->ways; ++way) {
            const halo_link *link = &p->link[way];
            if (!link->used) continue;
            if ((int)link->out == path) ++out, sent += link->send_bytes;
            if ((int)link->in == path) ++in, received += link->recv_bytes;
        }
        if (out + in == 0 || at >= sizeof text) continue;
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "%s %s: %d out with %zu bytes, %d in with %zu", at > 0 ? ";" : "",
                               meta_path_name((meta_path)path), out, sent, in, received);
    }
    core->log(META_LOG_INFO, "halo plan of rank %d, messages of one exchange by path:%s", p->rank,
              at > 0 ? text : " none");
    explain(p);
}
