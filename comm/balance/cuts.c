/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cuts.c
 *  The process grid of a cut, a rank's block in it, and the arguments on which all ranks must
 * agree. */
#include "balance/cuts.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

meta_err cuts_duplicate(MPI_Comm comm, const char *name, MPI_Comm *copy)
{
    if (comm == MPI_COMM_NULL)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' is MPI_COMM_NULL", name);
    return comm_duplicate(comm, copy);
}

static meta_err check_cart(MPI_Comm cart, const char *name, int *dims)
{
    int topology = MPI_UNDEFINED;
    if (cart == MPI_COMM_NULL)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' is MPI_COMM_NULL", name);
    COMM_MPI(MPI_Topo_test, (cart, &topology));
    if (topology != MPI_CART)
        return core->fail(META_ERR_ARGUMENT,
                          "argument '%s' has no Cartesian topology: make it with "
                          "MPI_Cart_create()",
                          name);
    COMM_MPI(MPI_Cartdim_get, (cart, dims));
    if (*dims < 1 || *dims > CUTS_DIMS)
        return core->fail(META_ERR_ARGUMENT,
                          "argument '%s' has %d dimensions: a grid that is cut has 1 to %d", name,
                          *dims, CUTS_DIMS);
    return META_OK;
}

meta_err cuts_open(cuts_ranks *g, MPI_Comm cart, const char *name)
{
    int periodic[CUTS_DIMS];
    *g = (cuts_ranks){.extent = {1, 1, 1}};
    META_TRY(check_cart(cart, name, &g->dims));
    META_TRY(cuts_duplicate(cart, name, &g->cart));
    meta_err error = comm_mpi(MPI_Comm_rank(g->cart, &g->rank), "MPI_Comm_rank");
    if (error == META_OK)
        error =
            comm_mpi(MPI_Cart_get(g->cart, g->dims, g->extent, periodic, g->at), "MPI_Cart_get");
    if (error != META_OK) cuts_close(g);
    return error;
}

void cuts_close(cuts_ranks *g)
{
    if (!g->dirty) comm_free(&g->cart);
}

static meta_err differs(const char *name, int64_t mine, int64_t first)
{
    return core->fail(META_ERR_MISMATCH,
                      "argument '%s' is %" PRId64 ", but %" PRId64 " on rank 0 of the communicator",
                      name, mine, first);
}

meta_err cuts_compare(const cuts_ranks *g, const char *name, int64_t count, const int64_t *mine)
{
    int64_t first[64];
    char text[96];
    meta_err error = META_OK;
    enum { ROOM = sizeof first / sizeof *first };
    for (int64_t at = 0; at < count; at += ROOM) {
        const int part = count - at < ROOM ? (int)(count - at) : ROOM;
        memcpy(first, mine + at, (size_t)part * sizeof *first);
        META_TRY(comm_all_from(g->cart, first, part, MPI_INT64_T, 0, CUTS_PHASE));
        for (int k = 0; k < part && error == META_OK; ++k) {
            if (first[k] == mine[at + k]) continue;
            snprintf(text, sizeof text, "%s[%" PRId64 "]", name, at + k);
            error = differs(count == 1 ? name : text, mine[at + k], first[k]);
        }
    }
    return error;
}

/* One dimension of cuts, as an array that begins at 0 and never falls. */
static meta_err check_axis(const int64_t *at, int parts, const char *name)
{
    if (!at) return core->fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    if (at[0] != 0)
        return core->fail(META_ERR_ARGUMENT, "argument '%s[0]' is %" PRId64 ": it must be 0", name,
                          at[0]);
    for (int k = 0; k < parts; ++k)
        if (at[k + 1] < at[k])
            return core->fail(META_ERR_ARGUMENT,
                              "argument '%s[%d]' is %" PRId64 ", less than the %" PRId64
                              " before it",
                              name, k + 1, at[k + 1], at[k]);
    return META_OK;
}

static void name_axis(char text[64], const char *name, int d)
{
    snprintf(text, 64, "%s->at[%d]", name, d);
}

static meta_err check_axes(const cuts_ranks *g, const char *name, const meta_cuts *cuts)
{
    char text[64];
    if (!cuts) return core->fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    for (int d = 0; d < g->dims; ++d) {
        name_axis(text, name, d);
        META_TRY(check_axis(cuts->at[d], g->extent[d], text));
    }
    return META_OK;
}

/* Every dimension is compared, whatever was found: other ranks wait for this one. */
static meta_err compare_axes(const cuts_ranks *g, const char *name, const meta_cuts *cuts)
{
    meta_err error = META_OK;
    char text[64];
    for (int d = 0; d < g->dims; ++d) {
        name_axis(text, name, d);
        const meta_err one = cuts_compare(g, text, g->extent[d] + 1, cuts->at[d]);
        if (error == META_OK) error = one;
    }
    return error;
}

meta_err cuts_check(const cuts_ranks *g, const char *name, const meta_cuts *cuts)
{
    META_TRY(comm_agree(g->cart, check_axes(g, name, cuts)));
    return comm_agree(g->cart, compare_axes(g, name, cuts));
}

static meta_err get_desc(meta_decompose_desc *own, const meta_decompose_desc *desc)
{
    return core->sized_get(own, sizeof *own, desc, META_LEAST(meta_decompose_desc, most), "desc",
                           "META_DECOMPOSE_DESC_INIT");
}

meta_err cuts_check_begins(const meta_decompose_desc *desc)
{
    meta_decompose_desc own;
    if (desc && desc->size >= offsetof(meta_decompose_desc, cells)) return META_OK;
    return get_desc(&own, desc);
}

/* What needs no other rank: extents, planes, limits. */
static meta_err check_numbers(const cuts_ranks *g, const meta_decompose_desc *desc)
{
    int64_t product = 1;
    for (int d = 0; d < g->dims; ++d) {
        const int64_t cells = desc->cells[d], least = desc->least[d] == 0 ? 1 : desc->least[d];
        if (cells < 1)
            return core->fail(META_ERR_ARGUMENT, "argument 'desc->cells[%d]' is %" PRId64, d,
                              cells);
        if (least < 1)
            return core->fail(META_ERR_ARGUMENT, "argument 'desc->least[%d]' is %" PRId64, d,
                              least);
        if (cells / least < g->extent[d])
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'desc->cells[%d]': %" PRId64
                              " planes are not enough for %d ranks with at least %" PRId64 " each",
                              d, cells, g->extent[d], least);
        if (__builtin_mul_overflow(product, cells, &product) || product > INT64_MAX / 8)
            return core->fail(META_ERR_OVERFLOW,
                              "argument 'desc->cells': the extents multiply to more than 2^60 "
                              "cells");
    }
    if (desc->most < 0)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'desc->most' is %" PRId64 ": give the most cells that this "
                          "rank can hold, or 0 where any number",
                          desc->most);
    return META_OK;
}

meta_err cuts_check_positive(const char *name, double value)
{
    if (isfinite(value) && value > 0) return META_OK;
    return core->fail(META_ERR_ARGUMENT, "argument '%s' is %g: it must be positive and finite",
                      name, value);
}

static meta_err check_desc(const cuts_ranks *g, meta_decompose_desc *own,
                           const meta_decompose_desc *desc, const char *out_name,
                           const meta_cuts *out, const char *name, const double *value)
{
    int64_t mine[2 * CUTS_DIMS] = {0}, first[2 * CUTS_DIMS];
    char text[32];
    const meta_err whole = get_desc(own, desc);
    for (int d = 0; d < g->dims && whole == META_OK; ++d) {
        mine[d] = own->cells[d];
        mine[g->dims + d] = own->least[d];
    }
    memcpy(first, mine, sizeof first);
    META_TRY(comm_all_from(g->cart, first, 2 * g->dims, MPI_INT64_T, 0, CUTS_PHASE));
    META_TRY(whole);
    for (int k = 0; k < 2 * g->dims; ++k) {
        snprintf(text, sizeof text, "desc->%s[%d]", k < g->dims ? "cells" : "least", k % g->dims);
        if (mine[k] != first[k]) return differs(text, mine[k], first[k]);
    }
    if (!out) return core->fail(META_ERR_ARGUMENT, "argument '%s' is NULL", out_name);
    for (int d = 0; d < g->dims; ++d)
        if (!out->at[d])
            return core->fail(META_ERR_ARGUMENT, "argument '%s->at[%d]' is NULL", out_name, d);
    META_TRY(check_numbers(g, own));
    return cuts_check_positive(name, *value);
}

meta_err cuts_check_desc(const cuts_ranks *g, meta_decompose_desc *own,
                         const meta_decompose_desc *desc, const char *out_name,
                         const meta_cuts *out, const char *name, const double *value)
{
    return comm_agree(g->cart, check_desc(g, own, desc, out_name, out, name, value));
}

meta_err cuts_check_now(const cuts_ranks *g, const meta_cuts *next, const meta_cuts *now,
                        const meta_decompose_desc *desc, int64_t *cells)
{
    *cells = 1;
    for (int d = 0; d < g->dims; ++d)
        if (next->at[d] == now->at[d])
            return core->fail(META_ERR_OVERLAP,
                              "arguments 'next->at[%d]' and 'now->at[%d]' are one array", d, d);
    for (int d = 0; d < g->dims; ++d) {
        const int64_t *at = now->at[d];
        if (at[g->extent[d]] != desc->cells[d])
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'now->at[%d]' ends at %" PRId64
                              ", but 'desc->cells[%d]' is %" PRId64,
                              d, at[g->extent[d]], d, desc->cells[d]);
        *cells *= at[g->at[d] + 1] - at[g->at[d]];
    }
    if (*cells == 0)
        return core->fail(META_ERR_ARGUMENT, "argument 'now': this rank has no cells, so that its "
                                             "time says nothing about its speed");
    return META_OK;
}

bool cuts_give_least(const cuts_ranks *g, const meta_decompose_desc *desc, const meta_cuts *now)
{
    for (int d = 0; d < g->dims; ++d)
        for (int k = 0; k < g->extent[d]; ++k) {
            const int64_t planes = now->at[d][k + 1] - now->at[d][k];
            if (planes < 1 || planes < desc->least[d]) return false;
        }
    return true;
}

void cuts_copy(const cuts_ranks *g, const meta_cuts *to, const meta_cuts *from)
{
    for (int d = 0; d < g->dims; ++d)
        memmove(to->at[d], from->at[d], (size_t)(g->extent[d] + 1) * sizeof *to->at[d]);
}

static meta_err find_block(const meta_cuts *cuts, MPI_Comm cart, int rank, int64_t *first,
                           int64_t *cells)
{
    cuts_ranks g;
    int ranks, periodic[CUTS_DIMS];
    if (!cuts) return core->fail(META_ERR_ARGUMENT, "argument 'cuts' is NULL");
    if (!first && !cells)
        return core->fail(META_ERR_ARGUMENT, "arguments 'first' and 'cells' are both NULL");
    META_TRY(check_cart(cart, "cart", &g.dims));
    COMM_MPI(MPI_Comm_size, (cart, &ranks));
    if (rank < 0 || rank >= ranks)
        return core->fail(META_ERR_ARGUMENT, "argument 'rank' is %d: ranks are 0 to %d", rank,
                          ranks - 1);
    COMM_MPI(MPI_Cart_get, (cart, g.dims, g.extent, periodic, g.at));
    COMM_MPI(MPI_Cart_coords, (cart, rank, g.dims, g.at));
    META_TRY(check_axes(&g, "cuts", cuts));
    for (int d = 0; d < g.dims; ++d) {
        const int64_t *planes = cuts->at[d] + g.at[d];
        if (first) first[d] = planes[0];
        if (cells) cells[d] = planes[1] - planes[0];
    }
    return META_OK;
}

meta_err meta_cuts_block(const meta_cuts *cuts, MPI_Comm cart, int rank, int64_t *first,
                         int64_t *cells)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(find_block(cuts, cart, rank, first, cells));
}
