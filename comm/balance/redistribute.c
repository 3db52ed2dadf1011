/* SPDX-License-Identifier: BSD-3-Clause */
/** @file redistribute.c
 *  Moving arrays from old blocks to new ones, one after the other: what is asked for, checked on
 * all ranks before anything is written. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/redistribute.h"

/* Whether a box has an element more than its block. */
static int has_more(const meta_box *box, const meta_cuts *cuts, int d, int k)
{
    const int64_t cells = cuts->at[d][k + 1] - cuts->at[d][k];
    return cells > 0 && box->end[d] - box->start[d] == cells + 1;
}

static meta_err check_boxes(const cuts_ranks *g, int fields, const meta_redistribute_field *field)
{
    char name[64];
    for (int f = 0; f < fields; ++f)
        for (int end = 0; end < 2; ++end) {
            const meta_box *box = end == 0 ? &field[f].from_box : &field[f].to_box;
            snprintf(name, sizeof name, "field[%d].%s_box", f, end == 0 ? "from" : "to");
            META_TRY(core->check_box(box, name));
            if (box->ndim != g->dims)
                return core->fail(META_ERR_ARGUMENT,
                                  "argument '%s' has %d dimensions, the Cartesian communicator %d",
                                  name, box->ndim, g->dims);
        }
    return META_OK;
}

/* The types are the same on every rank; in which dimensions fields have an element more, where any
 * rank says so. @p more has an element for each dimension of each field. */
static meta_err agree_on_fields(const cuts_ranks *g, const meta_cuts *before,
                                const meta_cuts *after, int fields,
                                const meta_redistribute_field *field, int *more)
{
    meta_err error = META_OK;
    for (int f = 0; f < fields; ++f) {
        const int64_t type = (int64_t)field[f].type;
        char name[64];
        snprintf(name, sizeof name, "field[%d].type", f);
        if (error == META_OK) error = cuts_compare(g, name, 1, &type);
        else cuts_compare(g, name, 1, &type); /* the others wait for this rank too */
        for (int d = 0; d < g->dims; ++d)
            more[f * CUTS_DIMS + d] = has_more(&field[f].from_box, before, d, g->at[d]) ||
                                      has_more(&field[f].to_box, after, d, g->at[d]);
    }
    META_TRY(comm_agree(g->cart, error));
    META_TRY(comm_all_reduce(g->cart, more, fields * CUTS_DIMS, MPI_INT, MPI_MAX, CUTS_PHASE));
    return META_OK;
}

/* Everything that can be wrong with a field, before anything is written. */
static meta_err check_fields(cuts_ranks *g, const meta_cuts *before, const meta_cuts *after,
                             int fields, const meta_redistribute_field *field, const int *more)
{
    moving m;
    for (int f = 0; f < fields; ++f)
        META_TRY(redistribute_open(&m, g, before, after, field, f, more + f * CUTS_DIMS));
    return META_OK;
}

static meta_err move_fields(cuts_ranks *g, const meta_cuts *before, const meta_cuts *after,
                            int fields, const meta_redistribute_field *field, int *more)
{
    META_TRY(comm_agree(g->cart, check_boxes(g, fields, field)));
    META_TRY(agree_on_fields(g, before, after, fields, field, more));
    META_TRY(comm_agree(g->cart, check_fields(g, before, after, fields, field, more)));
    for (int f = 0; f < fields; ++f) {
        moving m;
        META_TRY(comm_agree(
            g->cart, redistribute_open(&m, g, before, after, field, f, more + f * CUTS_DIMS)));
        META_TRY(redistribute_move(&m));
    }
    return META_OK;
}

static meta_err check_count(int fields, const meta_redistribute_field *field, const int *more)
{
    if (fields < 0) return core->fail(META_ERR_ARGUMENT, "argument 'fields' is %d", fields);
    if (fields > 0 && !field) return core->fail(META_ERR_ARGUMENT, "argument 'field' is NULL");
    if (!more)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory to move %d fields", fields);
    return META_OK;
}

static meta_err redistribute(cuts_ranks *g, const meta_cuts *before, const meta_cuts *after,
                             int fields, const meta_redistribute_field *field)
{
    const int64_t count = fields;
    META_TRY(cuts_check(g, "before", before));
    META_TRY(cuts_check(g, "after", after));
    for (int d = 0; d < g->dims; ++d) {
        const int64_t a = before->at[d][g->extent[d]], b = after->at[d][g->extent[d]];
        if (a != b)
            return core->fail(META_ERR_ARGUMENT,
                              "argument 'before->at[%d]' ends at %" PRId64
                              ", and 'after->at[%d]' at %" PRId64,
                              d, a, d, b);
    }
    META_TRY(comm_agree(g->cart, cuts_compare(g, "fields", 1, &count)));
    int *more = fields >= 0 ? calloc((size_t)fields + 1, CUTS_DIMS * sizeof *more) : NULL;
    meta_err error = comm_agree(g->cart, check_count(fields, field, more));
    if (error == META_OK) error = move_fields(g, before, after, fields, field, more);
    free(more);
    return error;
}

static meta_err open_and_redistribute(MPI_Comm cart, const meta_cuts *before,
                                      const meta_cuts *after, int fields,
                                      const meta_redistribute_field *field)
{
    cuts_ranks g;
    META_TRY(cuts_open(&g, cart, "cart"));
    const meta_err error = redistribute(&g, before, after, fields, field);
    cuts_close(&g);
    return error;
}

meta_err meta_redistribute(MPI_Comm cart, const meta_cuts *before, const meta_cuts *after,
                           int fields, const meta_redistribute_field *field)
{
    META_TRY(comm_enter(__func__));
    return comm_leave(open_and_redistribute(cart, before, after, fields, field));
}
