/* SPDX-License-Identifier: BSD-3-Clause */
/** @file history.c
 *  The measured cuts of a communicator, kept as its attribute. */
#include "balance/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cut that takes so much longer than it did, so many times in a row, shows that the ranks are no
 * longer as fast as they were. */
static const double much = 1.25;
enum { IN_A_ROW = 2 };

static int key = MPI_KEYVAL_INVALID;

/* MPI calls it when the communicator is freed. */
static int drop(MPI_Comm cart, int keyval, void *value, void *extra)
{
    (void)cart, (void)keyval, (void)extra;
    free(value);
    return MPI_SUCCESS;
}

static size_t planes_of(const cuts_ranks *g)
{
    size_t planes = 0;
    for (int d = 0; d < g->dims; ++d) planes += (size_t)g->extent[d] + 1;
    return planes;
}

static meta_err create(MPI_Comm cart, const cuts_ranks *g, history **h)
{
    const size_t planes = planes_of(g);
    if (key == MPI_KEYVAL_INVALID)
        COMM_MPI(MPI_Comm_create_keyval, (MPI_COMM_NULL_COPY_FN, drop, &key, NULL));
    history *made = calloc(1, sizeof *made + (HISTORY_CUTS + 1) * planes * sizeof *made->at);
    if (!made)
        return core->fail(META_ERR_NO_MEMORY,
                          "the host has no memory for %d cuts of a process "
                          "grid",
                          HISTORY_CUTS);
    made->planes = planes;
    const meta_err error = comm_mpi(MPI_Comm_set_attr(cart, key, made), "MPI_Comm_set_attr");
    if (error != META_OK) return free(made), error;
    *h = made;
    return META_OK;
}

static meta_err find(MPI_Comm cart, history **h)
{
    int there = 0;
    *h = NULL;
    if (key == MPI_KEYVAL_INVALID) return META_OK;
    COMM_MPI(MPI_Comm_get_attr, (cart, key, h, &there));
    if (!there) *h = NULL;
    return META_OK;
}

static void forget(history *h)
{
    h->curve = (curve){0};
    h->cuts = h->slower = 0;
}

meta_err history_of(MPI_Comm cart, const cuts_ranks *g, const meta_decompose_desc *desc,
                    history **h)
{
    meta_err error = find(cart, h);
    const bool is_new = error == META_OK && !*h;
    if (is_new) error = create(cart, g, h);
    error = comm_agree(g->cart, error);
    if (error != META_OK) {
        /* Where others have none, neither has this rank. */
        if (is_new && *h) MPI_Comm_delete_attr(cart, key);
        return error;
    }
    bool same = !is_new;
    for (int d = 0; d < g->dims; ++d) {
        same = same && (*h)->cells[d] == desc->cells[d];
        (*h)->cells[d] = desc->cells[d];
    }
    if (!same) forget(*h);
    return META_OK;
}

meta_cuts history_cuts(history *h, const cuts_ranks *g, int k)
{
    meta_cuts cuts = {{NULL}};
    int64_t *at = h->at + (size_t)k * h->planes;
    for (int d = 0; d < g->dims; ++d) {
        cuts.at[d] = at;
        at += g->extent[d] + 1;
    }
    return cuts;
}

int history_find(const history *h, const cuts_ranks *g, const meta_cuts *cuts)
{
    for (int k = 0; k < h->cuts; ++k) {
        const int64_t *at = h->at + (size_t)k * h->planes;
        bool same = true;
        for (int d = 0; d < g->dims && same; ++d) {
            const size_t count = (size_t)g->extent[d] + 1;
            same = memcmp(at, cuts->at[d], count * sizeof *at) == 0;
            at += count;
        }
        if (same) return k;
    }
    return -1;
}

int history_add(history *h, const cuts_ranks *g, const meta_cuts *cuts, int64_t cells,
                double seconds, double longest, double step)
{
    int k = history_find(h, g, cuts);
    h->slower = k >= 0 && step > much * h->step[k] ? h->slower + 1 : 0;
    if (h->slower == IN_A_ROW) {
        forget(h);
        k = -1;
    }
    curve_add(&h->curve, cells, seconds);
    if (k < 0) {
        if (h->cuts < HISTORY_CUTS) ++h->cuts;
        k = h->cuts - 1;
        const meta_cuts kept = history_cuts(h, g, k);
        cuts_copy(g, &kept, cuts);
        h->step[k] = h->longest[k] = INFINITY;
    }
    h->step[k] = fmin(h->step[k], step);
    h->longest[k] = fmin(h->longest[k], longest);
    return k;
}
