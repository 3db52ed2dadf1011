/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_path.c
 *  The route of each message of a halo plan, and its offset in the buffers.
 *
 *  The sender decides: within a rank the device copies; to a rank of the same node what can be
 *  copied to plain host memory goes to a window of shared memory, where the receiver takes it;
 *  everything else goes through MPI. From which memory MPI sends, and so the path, depends on the
 *  device of an exchange's arrays. */
#include "halo/halo_exchange.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ who is where */

meta_err halo_ranks_find(halo_plan *p)
{
    int there[HALO_DIRS], ranks[HALO_DIRS];
    MPI_Group here = MPI_GROUP_NULL, all = MPI_GROUP_NULL;
    COMM_MPI(MPI_Comm_group, (p->place.comm, &here));
    meta_err error = comm_mpi(MPI_Comm_group(comm_job.messages, &all), "MPI_Comm_group");
    for (int dir = 0; dir < p->dirs; ++dir) there[dir] = p->link[dir].peer;
    if (error == META_OK)
        error = comm_mpi(MPI_Group_translate_ranks(here, p->dirs, there, all, ranks),
                         "MPI_Group_translate_ranks");
    for (int dir = 0; dir < p->dirs && error == META_OK; ++dir) {
        p->link[dir].world = ranks[dir];
        p->link[dir].near = comm_is_mate(ranks[dir]);
    }
    MPI_Group_free(&here);
    if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
    return error;
}

void halo_routes_choose(halo_plan *p, bool shared)
{
    const bool shares = shared && p->home.pageable && !p->home.direct;
    for (int dir = 0; dir < p->dirs; ++dir) {
        halo_link *link = &p->link[dir];
        const bool own = link->peer == p->rank;
        link->out = own                    ? HALO_ROUTE_SELF
                    : shares && link->near ? HALO_ROUTE_SHARED
                                           : HALO_ROUTE_MPI;
        /* Unless the peer announces another route: halo_verify.c. */
        link->in = own && link->used ? HALO_ROUTE_SELF : HALO_ROUTE_MPI;
    }
}

meta_path halo_path_of(const halo_device *on, halo_route route)
{
    return route == HALO_ROUTE_SELF     ? META_PATH_SELF
           : route == HALO_ROUTE_SHARED ? META_PATH_SHARED
           : on->host                   ? META_PATH_HOST
           : on->direct                 ? META_PATH_DIRECT
                                        : META_PATH_STAGED;
}

/* ------------------------------------------------------------------ where messages lie */

static size_t placed(size_t *end, size_t bytes)
{
    const size_t at = *end;
    *end += (bytes + HALO_ALIGN - 1) / HALO_ALIGN * HALO_ALIGN;
    return at;
}

/* Messages of one route lie together. What is added within this rank is packed too: the sums use
 * it as it was when the exchange began. */
void halo_messages_place(halo_plan *p)
{
    p->send_bytes = p->recv_bytes = p->slot_bytes = p->taken_bytes = p->own_bytes = 0;
    for (int dir = 0; dir < p->dirs; ++dir) {
        halo_link *link = &p->link[dir];
        if (!link->used) continue;
        if (link->peer == p->rank) {
            if (p->op == META_HALO_ADD) link->send_at = placed(&p->own_bytes, link->send_bytes);
            continue;
        }
        link->send_at = placed(link->out == HALO_ROUTE_SHARED ? &p->slot_bytes : &p->send_bytes,
                               link->send_bytes);
        link->recv_at = placed(link->in == HALO_ROUTE_SHARED ? &p->taken_bytes : &p->recv_bytes,
                               link->recv_bytes);
    }
}

/* List the MPI messages in the order of directions, those with seals last; with NULL only count
 * them. */
static int cut(const halo_plan *p, bool sent, halo_part *part, int *seals)
{
    int parts = 0;
    *seals = 0;
    for (int seal = 0; seal < 2; ++seal)
        for (int dir = 0; dir < p->dirs; ++dir) {
            const halo_link *link = &p->link[dir];
            const size_t bytes = sent ? link->send_bytes : link->recv_bytes;
            const size_t at = sent ? link->send_at : link->recv_at;
            const size_t wish = sent ? link->send_chunk : link->recv_chunk;
            if (!link->used || (sent ? link->out : link->in) != HALO_ROUTE_MPI || bytes == 0)
                continue;
            if (seal) {
                if (link->sealed && part)
                    part[parts] = (halo_part){dir, 0, sizeof(halo_seal), true};
                parts += link->sealed;
                *seals += link->sealed;
                continue;
            }
            const size_t chunk = comm_chunk_fit(bytes, wish);
            for (size_t done = 0; done < bytes; done += chunk, ++parts) {
                const size_t left = bytes - done;
                if (part)
                    part[parts] = (halo_part){dir, at + done, left < chunk ? left : chunk, false};
            }
        }
    return parts;
}

meta_err halo_parts_make(halo_plan *p)
{
    int seals;
    p->sends = cut(p, true, NULL, &p->seals);
    p->recvs = cut(p, false, NULL, &seals);
    p->send_part = calloc((size_t)p->sends + 1, sizeof *p->send_part);
    p->recv_part = calloc((size_t)p->recvs + 1, sizeof *p->recv_part);
    if (!p->send_part || !p->recv_part)
        return core->fail(META_ERR_NO_MEMORY,
                          "the host has no memory for a plan of %d and %d messages", p->sends,
                          p->recvs);
    cut(p, true, p->send_part, &seals);
    cut(p, false, p->recv_part, &seals);
    return META_OK;
}

/* ------------------------------------------------------------------ the log */

enum { REASON = 160 };

/* Why what is sent in a direction does not go through shared memory. */
static const char *why_not_shared(const halo_plan *p, const halo_link *link)
{
    if (!link->near) return "the neighbour is on another node";
    if (!comm_job.shared) return "META_SHARED=off";
    return p->home.pageable && !p->home.direct ? "there is no room for shared memory"
                                               : "a GPU copies to page-locked memory only";
}

/* The reason for its path. */
static const char *why(const halo_plan *p, const halo_link *link, char text[REASON])
{
    static const char *const memory[META_PATH_COUNT] = {
        [META_PATH_HOST] = "MPI is given this device's memory, which is the host's",
        [META_PATH_STAGED] = "MPI does not take this device's memory",
        [META_PATH_DIRECT] = "MPI takes this device's memory"};
    if (link->out == HALO_ROUTE_SELF) return "the neighbour is this rank";
    if (link->out == HALO_ROUTE_SHARED) return "the neighbour is on this node";
    snprintf(text, REASON, "%s; not shared: %s", memory[halo_path_of(&p->home, link->out)],
             why_not_shared(p, link));
    return text;
}

static const char *pieces_of(const halo_link *link, char text[REASON])
{
    const size_t piece = comm_chunk_fit(link->send_bytes, link->send_chunk);
    if (link->out != HALO_ROUTE_MPI || piece >= link->send_bytes) return "";
    snprintf(text, REASON, "; in pieces of %zu: %s", piece,
             piece == comm_job.chunk     ? "META_TEST_CHUNK"
             : comm_job.pipeline > 0     ? "META_PIPELINE"
             : link->send_chunk == piece ? "by what copies cost"
                                         : "so that there are not too many");
    return text;
}

static void explain(const halo_plan *p)
{
    for (int dir = 0; dir < p->dirs; ++dir) {
        const halo_link *link = &p->link[dir];
        char name[HALO_TEXT], reason[REASON], pieces[REASON];
        if (!link->used || link->send_bytes == 0) continue;
        halo_dir_name(p, dir, name);
        core->log(META_LOG_DEBUG,
                  "halo plan of rank %d: %zu bytes towards %s, to rank %d, %s: %s%s", p->rank,
                  link->send_bytes, name, link->peer,
                  meta_path_name(halo_path_of(&p->home, link->out)), why(p, link, reason),
                  pieces_of(link, pieces));
    }
}

void halo_paths_report(const halo_plan *p)
{
    char text[512] = "";
    size_t at = 0;
    for (int path = 0; path < META_PATH_COUNT; ++path) {
        int out = 0, in = 0;
        size_t sent = 0, received = 0;
        for (int dir = 0; dir < p->dirs; ++dir) {
            const halo_link *link = &p->link[dir];
            if (!link->used) continue;
            if ((int)halo_path_of(&p->home, link->out) == path) ++out, sent += link->send_bytes;
            if ((int)halo_path_of(&p->home, link->in) == path) ++in, received += link->recv_bytes;
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

/* ------------------------------------------------------------------ public */

const char *meta_path_name(meta_path path)
{
    static const char *const names[META_PATH_COUNT] = {"self", "shared", "host", "staged",
                                                       "direct"};
    return (int)path >= 0 && path < META_PATH_COUNT ? names[path] : "unknown";
}
