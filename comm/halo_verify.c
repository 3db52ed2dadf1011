/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_verify.c
 *  Neighbours compare their plans: what one will send must be what the other expects. Both see a
 *  disagreement, whatever it is, since every rank asks in every direction that has a neighbour. */
#include "halo.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire.h"

/** What a rank says of its plan to the neighbour in one direction. */
typedef struct offer {
    uint32_t magic, version;
    int32_t type, fields, kind;
    int32_t low[HALO_DIMS], high[HALO_DIMS];
    int64_t send[HALO_DIMS], recv[HALO_DIMS]; /**< extents of what goes and of what is expected */
} offer;

static offer offer_of(const halo_plan *p, int way)
{
    offer o;
    memset(&o, 0, sizeof o);
    o.magic = COMM_MAGIC;
    o.version = COMM_WIRE_VERSION;
    o.type = (int32_t)p->type;
    o.fields = p->fields;
    o.kind = (int32_t)p->kind;
    for (int d = 0; d < p->dims; ++d) {
        o.low[d] = p->low[d];
        o.high[d] = p->high[d];
        o.send[d] = p->link[way].send.size[d];
        o.recv[d] = p->link[way].recv.size[d];
    }
    return o;
}

/* ------------------------------------------------------------------ comparison */

static meta_err disagree(const halo_plan *p, int way, const char *what, const char *here,
                         const char *there)
{
    char name[HALO_TEXT];
    halo_way_name(p, way, name);
    return core->fail(META_ERR_MISMATCH,
                      "ranks %d and %d of the Cartesian communicator, neighbours "
                      "towards %s, disagree on the %s: %s on rank %d, %s on rank %d",
                      p->rank, p->link[way].peer, name, what, here, p->rank, there,
                      p->link[way].peer);
}

static meta_err compare_numbers(const halo_plan *p, int way, const char *what, int here, int there)
{
    char a[16], b[16];
    if (here == there) return META_OK;
    snprintf(a, sizeof a, "%d", here);
    snprintf(b, sizeof b, "%d", there);
    return disagree(p, way, what, a, b);
}

static void extents(const halo_plan *p, const int64_t size[HALO_DIMS], char text[80])
{
    int at = 0;
    for (int d = 0; d < p->dims; ++d)
        at += snprintf(text + at, 80 - (size_t)at, "%s%" PRId64, d ? "x" : "", size[d]);
}

static meta_err compare_cells(const halo_plan *p, int way, const char *what,
                              const int64_t here[HALO_DIMS], const int64_t there[HALO_DIMS])
{
    char a[80], b[80];
    if (memcmp(here, there, HALO_DIMS * sizeof *here) == 0) return META_OK;
    extents(p, here, a);
    extents(p, there, b);
    return disagree(p, way, what, a, b);
}

static meta_err compare_widths(const halo_plan *p, int way, const offer *mine, const offer *theirs)
{
    char what[64];
    for (int d = 0; d < p->dims; ++d) {
        snprintf(what, sizeof what, "number of ghost cells at the low side of %c", "xyz"[d]);
        COMM_TRY(compare_numbers(p, way, what, mine->low[d], theirs->low[d]));
        snprintf(what, sizeof what, "number of ghost cells at the high side of %c", "xyz"[d]);
        COMM_TRY(compare_numbers(p, way, what, mine->high[d], theirs->high[d]));
    }
    return META_OK;
}

static meta_err compare(const halo_plan *p, int way, const offer *mine, const offer *theirs)
{
    static const char *const kinds[] = {"META_HALO_FACES", "META_HALO_ALL"};
    if (theirs->magic != mine->magic || theirs->version != mine->version)
        return disagree(p, way, "version of libmeta", "this one", "another one");
    if (mine->type != theirs->type)
        return disagree(p, way, "element type", comm_type_name((uint32_t)mine->type),
                        comm_type_name((uint32_t)theirs->type));
    COMM_TRY(compare_numbers(p, way, "number of fields", mine->fields, theirs->fields));
    if (mine->kind != theirs->kind)
        return disagree(p, way, "kind of exchange", kinds[mine->kind], kinds[mine->kind == 0]);
    COMM_TRY(compare_widths(p, way, mine, theirs));
    COMM_TRY(compare_cells(p, way, "cells sent and expected", mine->send, theirs->recv));
    return compare_cells(p, way, "cells expected and sent", mine->recv, theirs->send);
}

/* ------------------------------------------------------------------ exchange */

/* A message's tag is its direction as the sender sees it. */
static meta_err exchange(const halo_plan *p, const offer *mine, offer *theirs)
{
    MPI_Request request[2 * HALO_WAYS];
    MPI_Status status[2 * HALO_WAYS];
    int count = 0;
    for (int way = 0; way < p->ways; ++way) {
        const int peer = p->link[way].peer, opposite = p->ways - 1 - way;
        if (peer == MPI_PROC_NULL || peer == p->rank) continue;
        COMM_MPI(MPI_Irecv, (&theirs[way], (int)sizeof *theirs, MPI_BYTE, peer, opposite, p->cart,
                             &request[count]));
        ++count;
        COMM_MPI(MPI_Isend,
                 (&mine[way], (int)sizeof *mine, MPI_BYTE, peer, way, p->cart, &request[count]));
        ++count;
    }
    return comm_mpi_statuses(MPI_Waitall(count, request, status), "MPI_Waitall", count, status);
}

meta_err halo_plan_verify(const halo_plan *p)
{
    offer mine[HALO_WAYS], theirs[HALO_WAYS];
    memset(theirs, 0, sizeof theirs);
    for (int way = 0; way < p->ways; ++way) mine[way] = offer_of(p, way);
    COMM_TRY(exchange(p, mine, theirs));
    for (int way = 0; way < p->ways; ++way) {
        const int peer = p->link[way].peer;
        if (peer != MPI_PROC_NULL && peer != p->rank)
            COMM_TRY(compare(p, way, &mine[way], &theirs[way]));
    }
    return META_OK;
}
