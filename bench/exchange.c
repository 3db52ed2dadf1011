/* SPDX-License-Identifier: BSD-3-Clause */
/** @file exchange.c
 *  Halo exchange peers: the same exchange of host arrays in plain MPI. */
#include "config.h"

#include "exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_pack.h"
#include "note.h"
#include "strided.h"

/* The neighbour rank in a direction; MPI_PROC_NULL beyond the grid of ranks. */
static int rank_towards(MPI_Comm cart, direction d)
{
    int dims[3], periods[3], mine[3], there[3], rank;
    MPI_Cart_get(cart, 3, dims, periods, mine);
    for (int k = 0; k < 3; ++k) {
        there[k] = mine[k] + d.along[k];
        if (!periods[k] && (there[k] < 0 || there[k] >= dims[k])) return MPI_PROC_NULL;
    }
    MPI_Cart_rank(cart, there, &rank);
    return rank;
}

/* One region of all fields as one MPI datatype. */
static MPI_Datatype type_of_fields(const exchange *e, const region *r, number type)
{
    MPI_Datatype one = mpi_region_type(&e->c, r, type), all;
    MPI_Aint at[MOST_FIELDS], first;
    MPI_Get_address(e->field[0], &first);
    for (int f = 0; f < e->fields; ++f) {
        MPI_Get_address(e->field[f], &at[f]);
        at[f] -= first;
    }
    MPI_Type_create_hindexed_block(e->fields, 1, at, one, &all);
    MPI_Type_commit(&all);
    MPI_Type_free(&one);
    return all;
}

static void add_neighbour(exchange *e, int k, number type)
{
    const direction d = direction_of(k);
    const int rank = rank_towards(e->comm, d);
    neighbour *n = &e->to[e->neighbours];
    if (rank == MPI_PROC_NULL) return;
    *n = (neighbour){.rank = rank, .send_tag = k, .receive_tag = 26 - k};
    n->border = cube_border(&e->c, d);
    n->ghost = cube_ghost(&e->c, d);
    const int64_t bytes = region_cells(&n->border) * e->fields * (int64_t)e->element;
    if (bytes > INT_MAX) note("a message of %lld bytes is more than MPI counts", (long long)bytes);
    n->bytes = (int)bytes;
    n->derived_border = type_of_fields(e, &n->border, type);
    n->derived_ghost = type_of_fields(e, &n->ghost, type);
    e->bytes += (double)bytes;
    ++e->neighbours;
}

static void place_messages(exchange *e)
{
    char *at = malloc((size_t)(2 * e->bytes) + 1);
    e->buffer = at;
    if (at == NULL) {
        note("no room in host memory for %.0f bytes", 2 * e->bytes);
        return;
    }
    memset(at, 0, (size_t)(2 * e->bytes));
    for (int k = 0; k < e->neighbours; ++k) {
        e->to[k].out = at;
        at += e->to[k].bytes;
        e->to[k].in = at;
        at += e->to[k].bytes;
    }
}

double exchange_need(const cube *c, int fields, number type)
{
    return (double)fields * (double)number_size(type) *
           ((double)cube_cells(c) + 16 * (double)(c->n * c->n + 4 * c->n));
}

void exchange_create(exchange *e, MPI_Comm cart, const cube *c, int fields, number type, bool all)
{
    const int64_t cells = cube_cells(c);
    *e = (exchange){.comm = cart, .c = *c, .fields = fields, .element = number_size(type)};
    for (int f = 0; f < fields; ++f) {
        e->field[f] = malloc((size_t)cells * e->element);
        if (e->field[f] == NULL)
            note("no room in host memory for %zu bytes", (size_t)cells * e->element);
        else memset(e->field[f], 0, (size_t)cells * e->element);
    }
    if (note_seen()) return;
    for (int k = 0; k < 27; ++k) {
        const int axes = direction_axes(direction_of(k));
        if (axes == 1 || (axes > 1 && all)) add_neighbour(e, k, type);
    }
    place_messages(e);
}

void exchange_free(exchange *e)
{
    for (int k = 0; k < e->neighbours; ++k) {
        MPI_Type_free(&e->to[k].derived_border);
        MPI_Type_free(&e->to[k].derived_ghost);
    }
    for (int f = 0; f < e->fields; ++f) free(e->field[f]);
    free(e->buffer);
    *e = (exchange){.neighbours = 0};
}

/* ------------------------------------------------------------------ in steps */

typedef struct requests {
    MPI_Request all[2 * MOST_NEIGHBOURS];
    int count;
} requests;

static void receive_packed(const exchange *e, requests *q)
{
    for (int k = 0; k < e->neighbours; ++k)
        MPI_Irecv(e->to[k].in, e->to[k].bytes, MPI_BYTE, e->to[k].rank, e->to[k].receive_tag,
                  e->comm, &q->all[q->count++]);
}

static void send_packed(const exchange *e, const neighbour *n, requests *q)
{
    MPI_Isend(n->out, n->bytes, MPI_BYTE, n->rank, n->send_tag, e->comm, &q->all[q->count++]);
}

static void wait_all(requests *q)
{
    MPI_Waitall(q->count, q->all, MPI_STATUSES_IGNORE);
}

static void pack_fields(const exchange *e, const neighbour *n)
{
    const size_t one = (size_t)n->bytes / (size_t)e->fields;
    for (int f = 0; f < e->fields; ++f)
        strided_pack((char *)n->out + (size_t)f * one, e->field[f], &e->c, &n->border, e->element);
}

static void unpack_fields(const exchange *e, const neighbour *n)
{
    const size_t one = (size_t)n->bytes / (size_t)e->fields;
    for (int f = 0; f < e->fields; ++f)
        strided_unpack(e->field[f], (char *)n->in + (size_t)f * one, &e->c, &n->ghost, e->element);
}

static void pack_by_mpi(const exchange *e, const neighbour *n)
{
    int at = 0;
    MPI_Pack(e->field[0], 1, n->derived_border, n->out, n->bytes, &at, e->comm);
}

static void unpack_by_mpi(const exchange *e, const neighbour *n)
{
    int at = 0;
    MPI_Unpack(n->in, n->bytes, &at, e->field[0], 1, n->derived_ghost, e->comm);
}

static void exchange_packed(const exchange *e, void (*pack)(const exchange *, const neighbour *),
                            void (*unpack)(const exchange *, const neighbour *))
{
    requests q = {.count = 0};
    receive_packed(e, &q);
    for (int k = 0; k < e->neighbours; ++k) {
        pack(e, &e->to[k]);
        send_packed(e, &e->to[k], &q);
    }
    wait_all(&q);
    for (int k = 0; k < e->neighbours; ++k) unpack(e, &e->to[k]);
}

/* ------------------------------------------------------------------ the peers */

void exchange_derived(void *with, int64_t times)
{
    const exchange *e = with;
    for (int64_t t = 0; t < times; ++t) {
        requests q = {.count = 0};
        for (int k = 0; k < e->neighbours; ++k) {
            const neighbour *n = &e->to[k];
            MPI_Irecv(e->field[0], 1, n->derived_ghost, n->rank, n->receive_tag, e->comm,
                      &q.all[q.count++]);
        }
        for (int k = 0; k < e->neighbours; ++k) {
            const neighbour *n = &e->to[k];
            MPI_Isend(e->field[0], 1, n->derived_border, n->rank, n->send_tag, e->comm,
                      &q.all[q.count++]);
        }
        wait_all(&q);
    }
}

void exchange_mpi_pack(void *with, int64_t times)
{
    for (int64_t t = 0; t < times; ++t) exchange_packed(with, pack_by_mpi, unpack_by_mpi);
}

void exchange_manual(void *with, int64_t times)
{
    for (int64_t t = 0; t < times; ++t) exchange_packed(with, pack_fields, unpack_fields);
}

void exchange_send_only(void *with, int64_t times)
{
    const exchange *e = with;
    for (int64_t t = 0; t < times; ++t) {
        requests q = {.count = 0};
        receive_packed(e, &q);
        for (int k = 0; k < e->neighbours; ++k) send_packed(e, &e->to[k], &q);
        wait_all(&q);
    }
}
