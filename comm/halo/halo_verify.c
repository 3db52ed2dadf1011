/* SPDX-License-Identifier: BSD-3-Clause */
/** @file halo_verify.c
 *  Neighbours compare their plans: what one will send must be what the other expects. Both see a
 *  disagreement, whatever it is, since every rank asks in every direction that has a neighbour. In
 *  the same messages each announces the routes of what it sends and the offsets in its window. */
#include "halo/halo_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"

/** What a rank tells the neighbour in one direction of its plan. */
typedef struct offer {
    uint32_t magic, version;
    int32_t fields, kind, op, route;
    int32_t low[HALO_DIMS], high[HALO_DIMS];
    int64_t send[HALO_DIMS], recv[HALO_DIMS]; /**< extents of what is sent and expected */
    uint64_t send_chunk, recv_chunk;          /**< preferred: the larger of both ends' is used */
    uint64_t slot_bytes, slot_at; /**< of the window, and where in a slot the message lies */
    comm_memory_name window;
    uint64_t sealed; /**< not 0: with META_CHECK=on */
} offer;

/** And of each array. */
typedef struct array_offer {
    int32_t type, stagger[HALO_DIMS];
    int32_t ndim, axis[HALO_DIMS]; /**< of the box, and which of them are the communicator's */
    int64_t batch[META_MAX_DIM];   /**< own extents of the box's others, 0 for those */
} array_offer;

static void extents_of(const halo_plan *p, const halo_link *link, bool sent,
                       int64_t size[HALO_DIMS])
{
    for (int d = 0; d < p->dims && link->used; ++d) {
        const int w = link->offset[d];
        const int low_side = sent == (p->op == META_HALO_COPY) ? w > 0 : w < 0;
        const int64_t own = p->box.end[p->axis[d]] - p->box.start[p->axis[d]];
        size[d] = w == 0 ? own : low_side ? p->low[d] : p->high[d];
    }
}

/* The best chunk of a message on the device at hand; 0: MPI takes it whole. */
static uint64_t chunk_wish(const halo_plan *p, size_t bytes)
{
    return p->home.host || p->home.direct ? 0 : comm_chunk_for(p->home.device, bytes);
}

static offer offer_of(const halo_plan *p, int dir)
{
    const halo_link *link = &p->link[dir];
    offer o;
    memset(&o, 0, sizeof o);
    o.magic = COMM_MAGIC;
    o.version = COMM_WIRE_VERSION;
    o.fields = p->fields;
    o.kind = (int32_t)p->kind;
    o.op = (int32_t)p->op;
    o.route = (int32_t)link->out;
    o.slot_bytes = p->slot_bytes;
    o.slot_at = link->send_at;
    o.window = halo_window_name(p);
    o.send_chunk = chunk_wish(p, link->send_bytes);
    o.recv_chunk = chunk_wish(p, link->recv_bytes);
    o.sealed = core->checked() != 0;
    for (int d = 0; d < p->dims; ++d) {
        o.low[d] = p->low[d];
        o.high[d] = p->high[d];
    }
    extents_of(p, link, true, o.send);
    extents_of(p, link, false, o.recv);
    return o;
}

/* ------------------------------------------------------------------ comparison */

static meta_err disagree(const halo_plan *p, int dir, const char *what, const char *here,
                         const char *there)
{
    char name[HALO_TEXT];
    halo_dir_name(p, dir, name);
    return core->fail(META_ERR_MISMATCH,
                      "ranks %d and %d of the Cartesian communicator, neighbours "
                      "towards %s, disagree on the %s: %s on rank %d, %s on rank %d",
                      p->rank, p->link[dir].peer, name, what, here, p->rank, there,
                      p->link[dir].peer);
}

static meta_err compare_numbers(const halo_plan *p, int dir, const char *what, int here, int there)
{
    char a[16], b[16];
    if (here == there) return META_OK;
    snprintf(a, sizeof a, "%d", here);
    snprintf(b, sizeof b, "%d", there);
    return disagree(p, dir, what, a, b);
}

static void extents(const halo_plan *p, const int64_t size[HALO_DIMS], char text[80])
{
    int at = 0;
    for (int d = 0; d < p->dims; ++d)
        at += snprintf(text + at, 80 - (size_t)at, "%s%" PRId64, d ? "x" : "", size[d]);
}

static meta_err compare_cells(const halo_plan *p, int dir, const char *what,
                              const int64_t here[HALO_DIMS], const int64_t there[HALO_DIMS])
{
    char a[80], b[80];
    if (memcmp(here, there, HALO_DIMS * sizeof *here) == 0) return META_OK;
    extents(p, here, a);
    extents(p, there, b);
    return disagree(p, dir, what, a, b);
}

static meta_err compare_widths(const halo_plan *p, int dir, const offer *mine, const offer *theirs)
{
    char what[64];
    for (int d = 0; d < p->dims; ++d) {
        snprintf(what, sizeof what, "number of ghost cells at the low side of %c", "xyz"[d]);
        META_TRY(compare_numbers(p, dir, what, mine->low[d], theirs->low[d]));
        snprintf(what, sizeof what, "number of ghost cells at the high side of %c", "xyz"[d]);
        META_TRY(compare_numbers(p, dir, what, mine->high[d], theirs->high[d]));
    }
    return META_OK;
}

/* What of field @p k is a batch: the places of its dimensions in the box, then their extents. */
static meta_err compare_batches(const halo_plan *p, int dir, int k, const array_offer *mine,
                                const array_offer *theirs)
{
    char what[96], here[24], there[24];
    snprintf(what, sizeof what, "number of dimensions of field %d", k);
    META_TRY(compare_numbers(p, dir, what, mine->ndim, theirs->ndim));
    for (int d = 0; d < p->dims; ++d) {
        snprintf(what, sizeof what, "dimension of field %d that is %c, the others being a batch", k,
                 "xyz"[d]);
        META_TRY(compare_numbers(p, dir, what, mine->axis[d], theirs->axis[d]));
    }
    for (int b = 0; b < mine->ndim; ++b) {
        if (mine->batch[b] == theirs->batch[b]) continue;
        snprintf(what, sizeof what, "extent of field %d along dimension %d, a batch", k, b);
        snprintf(here, sizeof here, "%" PRId64, mine->batch[b]);
        snprintf(there, sizeof there, "%" PRId64, theirs->batch[b]);
        return disagree(p, dir, what, here, there);
    }
    return META_OK;
}

static meta_err compare_arrays(const halo_plan *p, int dir, const array_offer *mine,
                               const array_offer *theirs)
{
    char what[64];
    for (int k = 0; k < p->fields; ++k) {
        snprintf(what, sizeof what, "element type of field %d", k);
        if (mine[k].type != theirs[k].type)
            return disagree(p, dir, what, comm_type_name((uint32_t)mine[k].type),
                            comm_type_name((uint32_t)theirs[k].type));
        for (int d = 0; d < p->dims; ++d) {
            snprintf(what, sizeof what, "staggering of field %d along %c", k, "xyz"[d]);
            META_TRY(compare_numbers(p, dir, what, mine[k].stagger[d], theirs[k].stagger[d]));
        }
        META_TRY(compare_batches(p, dir, k, &mine[k], &theirs[k]));
    }
    return META_OK;
}

static bool same_version(const offer *mine, const offer *theirs)
{
    return mine->magic == theirs->magic && mine->version == theirs->version;
}

static meta_err compare(const halo_plan *p, int dir, const offer *mine, const offer *theirs)
{
    static const char *const kinds[] = {"META_HALO_FACES", "META_HALO_ALL"};
    static const char *const ops[] = {"META_HALO_COPY", "META_HALO_ADD"};
    if (mine->magic != theirs->magic) return disagree(p, dir, "library", "libmeta", "another one");
    META_TRY(compare_numbers(p, dir, "version of libmeta's messages", (int)mine->version,
                             (int)theirs->version));
    META_TRY(compare_numbers(p, dir, "number of fields", mine->fields, theirs->fields));
    if (mine->kind != theirs->kind)
        return disagree(p, dir, "kind of exchange", kinds[mine->kind], kinds[mine->kind == 0]);
    if (mine->op != theirs->op)
        return disagree(p, dir, "operation", ops[mine->op], ops[mine->op == 0]);
    META_TRY(compare_widths(p, dir, mine, theirs));
    META_TRY(compare_cells(p, dir, "cells sent and expected", mine->send, theirs->recv));
    return compare_cells(p, dir, "cells expected and sent", mine->recv, theirs->send);
}

/* ------------------------------------------------------------------ exchange */

typedef struct requests {
    MPI_Request all[2 * HALO_DIRS];
    int peer[2 * HALO_DIRS], tag[2 * HALO_DIRS], count;
} requests;

/* The messages of all comparisons, in one allocation that can be left to MPI. */
typedef struct comparison {
    offer mine[HALO_DIRS], theirs[HALO_DIRS];
    requests requests;
    bool left_to_mpi;
    array_offer arrays[]; /* this rank's, and behind them each neighbour's, of as many fields */
} comparison;

static meta_err swap(const halo_plan *p, int dir, int kind, const void *mine, void *theirs,
                     size_t bytes, requests *r)
{
    const int peer = p->link[dir].peer;
    const int to = halo_tag(p, kind, dir), from = halo_tag(p, kind, p->dirs - 1 - dir);
    COMM_MPI(MPI_Irecv,
             (theirs, (int)bytes, MPI_BYTE, peer, from, p->place.comm, &r->all[r->count]));
    r->peer[r->count] = peer;
    r->tag[r->count++] = from;
    COMM_MPI(MPI_Isend, (mine, (int)bytes, MPI_BYTE, peer, to, p->place.comm, &r->all[r->count]));
    r->peer[r->count] = peer;
    r->tag[r->count++] = to;
    return META_OK;
}

/* Complete all requests, or after an error cancel them; every other one is a receive. */
static meta_err finish(const halo_plan *p, comparison *c, meta_err error)
{
    requests *r = &c->requests;
    for (int k = 0; k < r->count && error == META_OK; ++k)
        error = comm_request_wait(&r->all[k], (comm_awaited){"while neighbours compare halo plans",
                                                             p->place.comm, r->peer[k], r->tag[k]});
    for (int k = 0; k < r->count && error != META_OK; ++k)
        if (!comm_request_give_up(&r->all[k], k % 2 == 0)) c->left_to_mpi = true;
    r->count = 0;
    return error;
}

static meta_err swap_offers(const halo_plan *p, comparison *c)
{
    meta_err error = META_OK;
    for (int dir = 0; dir < p->dirs && error == META_OK; ++dir)
        if (halo_has_neighbour(p, dir))
            error = swap(p, dir, HALO_TAG_DATA, &c->mine[dir], &c->theirs[dir], sizeof *c->mine,
                         &c->requests);
    return finish(p, c, error);
}

static array_offer *others_arrays(const halo_plan *p, comparison *c, int dir)
{
    return c->arrays + (size_t)(dir + 1) * (size_t)p->fields;
}

/* Only with neighbours that have as many fields. */
static meta_err swap_arrays(const halo_plan *p, comparison *c)
{
    const size_t bytes = (size_t)p->fields * sizeof *c->arrays;
    meta_err error = META_OK;
    for (int dir = 0; dir < p->dirs && error == META_OK; ++dir)
        if (halo_has_neighbour(p, dir) && same_version(&c->mine[dir], &c->theirs[dir]) &&
            c->mine[dir].fields == c->theirs[dir].fields)
            error = swap(p, dir, HALO_TAG_ARRAYS, c->arrays, others_arrays(p, c, dir), bytes,
                         &c->requests);
    return finish(p, c, error);
}

static size_t larger(uint64_t a, uint64_t b)
{
    return (size_t)(a > b ? a : b);
}

/* What the neighbour announced beyond what must agree. */
static void take_over(halo_plan *p, int dir, const offer *mine, const offer *theirs)
{
    halo_link *link = &p->link[dir];
    if (theirs->route == HALO_ROUTE_SHARED) link->in = HALO_ROUTE_SHARED;
    link->send_chunk = larger(mine->send_chunk, theirs->recv_chunk);
    link->recv_chunk = larger(mine->recv_chunk, theirs->send_chunk);
    link->peer_at = (size_t)theirs->slot_at;
    link->peer_slot = (size_t)theirs->slot_bytes;
    link->peer_window = theirs->window;
    link->sealed = mine->sealed || theirs->sealed;
}

static void fill(const halo_plan *p, comparison *c)
{
    for (int dir = 0; dir < p->dirs; ++dir) c->mine[dir] = offer_of(p, dir);
    for (int k = 0; k < p->fields; ++k) {
        const halo_field *f = &p->field[k];
        array_offer *a = &c->arrays[k];
        a->type = (int32_t)f->type;
        a->ndim = f->box.ndim;
        for (int b = 0; b < f->box.ndim; ++b) a->batch[b] = f->box.end[b] - f->box.start[b];
        for (int d = 0; d < p->dims; ++d) {
            a->stagger[d] = f->stagger[d];
            a->axis[d] = f->axis[d];
            a->batch[f->axis[d]] = 0;
        }
    }
}

static meta_err compare_all(halo_plan *p, comparison *c)
{
    META_TRY(swap_offers(p, c));
    META_TRY(swap_arrays(p, c));
    for (int dir = 0; dir < p->dirs; ++dir) {
        if (!halo_has_neighbour(p, dir)) continue;
        META_TRY(compare(p, dir, &c->mine[dir], &c->theirs[dir]));
        META_TRY(compare_arrays(p, dir, c->arrays, others_arrays(p, c, dir)));
        take_over(p, dir, &c->mine[dir], &c->theirs[dir]);
    }
    return META_OK;
}

meta_err halo_plan_verify(halo_plan *p)
{
    const size_t arrays = (size_t)p->fields * (HALO_DIRS + 1);
    comparison *c = calloc(1, sizeof *c + arrays * sizeof *c->arrays);
    meta_err error = c ? META_OK
                       : core->fail(META_ERR_NO_MEMORY,
                                    "the host has no memory to compare %d fields", p->fields);
    /* No rank may wait for an offer that another one has no memory to make. */
    error = comm_agree(p->place.comm, error);
    if (error == META_OK) {
        fill(p, c);
        error = compare_all(p, c);
    }
    if (!c || !c->left_to_mpi) free(c);
    return error;
}
