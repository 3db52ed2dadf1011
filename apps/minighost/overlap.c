/* SPDX-License-Identifier: BSD-3-Clause */
/** @file overlap.c
 *  --overlap: applies the stencil to the interior while the halo exchange is in flight. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "laps.h"
#include "solver.h"

/* A block's own cells are computed at once, or in its inner part and up to six more. */
enum { PIECES = 7 };

/* A GPU computes while the host sees to messages. On a CPU who computes is who packs and unpacks,
 * and parts of a block cost more than the whole. A reproducible sum is one of the whole block, and
 * so are the three passes of MiniGhost 1.0. */
static bool pays(const problem *p)
{
    int index = 0;
    meta_mode mode = META_SPREAD;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    const bool reproducible = solver_reproducible();
    if (reproducible && p->o.overlap == OVERLAP_ON)
        failure_note(
            "--overlap on: a reproducible sum (META_REPRODUCIBLE=1) is one of a whole block");
    if (p->points == 0 || p->o.reference || reproducible) return false;
    if (p->o.overlap != OVERLAP_AUTO) return p->o.overlap == OVERLAP_ON;
    check(meta_get_acc(&index, &mode));
    check(meta_device_info(index, mode, &device));
    return device.is_gpu;
}

void overlap_create(solver *s)
{
    const size_t count = (size_t)s->p->variables * PIECES;
    s->split = pays(s->p);
    if (!s->split) return;
    s->pieces = calloc(count, number_size(s->p->type));
    if (s->pieces == NULL) failure_note_memory((double)count * (double)number_size(s->p->type));
}

/* Variables that travel together, and what is done with them. */
typedef struct group {
    const solver *s;
    int first, end;
    const bool *summed;
    void *sums;
    int pieces; /* computed so far */
} group;

/* Each part of a block leaves its sum in a place of its own. */
static void apply_piece(group *g, const meta_box *box)
{
    const solver *s = g->s;
    for (int v = g->first; v < g->end; ++v)
        kernel_apply_box(&s->kernel, s->next[v], s->grid[v], box,
                         g->summed[v]
                             ? number_at(s->pieces, (int64_t)v * PIECES + g->pieces, s->p->type)
                             : NULL);
    ++g->pieces;
}

static meta_err inner(const meta_box *box, void *with)
{
    lap(LAP_START);
    apply_piece(with, box);
    lap(LAP_STENCIL);
    return META_OK;
}

static meta_err outer(const meta_box *box, void *with)
{
    lap(LAP_FINISH);
    apply_piece(with, box);
    lap(LAP_STENCIL);
    return META_OK;
}

/* Sums of parts become the block's. */
static void add_pieces(const group *g)
{
    const problem *p = g->s->p;
    for (int v = g->first; v < g->end; ++v) {
        double sum = 0;
        if (!g->summed[v]) continue;
        for (int k = 0; k < g->pieces; ++k) {
            const void *piece = number_at(g->s->pieces, (int64_t)v * PIECES + k, p->type);
            sum += p->type == NUMBER_F64 ? *(const double *)piece : *(const float *)piece;
        }
        void *to = number_at(g->sums, (int64_t)v * (p->terms + 1) + p->terms, p->type);
        const float narrow = (float)sum;
        memcpy(to, p->type == NUMBER_F64 ? (const void *)&sum : &narrow, number_size(p->type));
    }
}

void overlap_step(solver *s, const bool *summed, void *sums)
{
    const problem *p = s->p;
    group g = {s, 0, 0, summed, sums, 0};
    for (g.first = 0; g.first < p->variables; g.first = g.end) {
        g.end = g.first + p->grouped;
        g.pieces = 0;
        check(meta_halo_overlap(s->halo, s->grid + g.first, inner, outer, &g, META_ASYNC));
        lap(LAP_FINISH);
        solver_sum_sides(s, g.first, p->grouped, sums);
        lap(LAP_BOUNDARY);
    }
    solver_wait();
    g.first = 0;
    add_pieces(&g);
}
