/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve_move.c
 *  Load balancing in the libmeta solver: measuring its speed, decomposing the grid into uneven
 *  blocks, and redistributing cells between blocks. */
#include "config.h"

#include <stdlib.h>

#include "check.h"
#include "solver.h"

typedef struct measured {
    solver *s;
    void *sums;
} measured;

static meta_err compute_all(void *with)
{
    const measured *m = with;
    const solver *s = m->s;
    const problem *p = s->p;
    solver_sum_sides(s, 0, p->variables, m->sums);
    for (int v = 0; v < p->variables; ++v) {
        const int64_t last = (int64_t)v * (p->terms + 1) + p->terms;
        kernel_apply(&s->kernel, s->next[v], s->grid[v],
                     problem_checks(p, v) ? number_at(m->sums, last, p->type) : NULL);
    }
    solver_swap(m->s);
    return failure_seen() ? META_ERR_STATE : META_OK;
}

double solver_speed(const problem *p)
{
    enum { TIMES = 11 };
    int64_t cells = 1;
    double speed = 0;
    const size_t sums = (size_t)p->variables * (size_t)(p->terms + 1);
    measured m = {solver_create(p), calloc(sums, sizeof(double))};
    if (m.sums == NULL) failure_note_memory((double)sums * sizeof(double));
    for (int d = 0; d < 3; ++d) cells *= p->own.end[d] - p->own.start[d];
    for (int v = 0; v < p->variables && m.s != NULL; ++v) {
        kernel_clear(&m.s->kernel, m.s->grid[v]);
        kernel_clear(&m.s->kernel, m.s->next[v]);
    }
    if (!failure_agree(p->cart))
        check(meta_measure_speed(p->cart, compute_all, &m, cells, TIMES, &speed));
    if (m.s != NULL) solver_free(m.s);
    free(m.sums);
    return speed;
}

/* ------------------------------------------------------------------ cuts */

static meta_decompose_desc describe(const problem *p, int64_t most)
{
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    desc.cart = p->cart;
    for (int d = 0; d < 3; ++d) desc.cells[d] = p->global[d];
    desc.most = most;
    return desc;
}

void solver_cut(const problem *p, double speed, int64_t most, int64_t *const cut[3])
{
    const meta_cuts cuts = {{cut[0], cut[1], cut[2]}};
    meta_decompose_desc desc = describe(p, most);
    desc.speed = speed;
    check(meta_decompose(&cuts, &desc, NULL));
}

void solver_recut(const problem *p, double seconds, int64_t most, int64_t *const cut[3],
                  double *before, double *after)
{
    const meta_decompose_desc desc = describe(p, most);
    const meta_cuts next = {{cut[0], cut[1], cut[2]}};
    const meta_cuts now = {{p->cut[0], p->cut[1], p->cut[2]}};
    check(meta_rebalance(&next, &now, &desc, seconds, before, after));
}

/* ------------------------------------------------------------------ moving cells */

/* A variable's cells from its old array to a new one. */
static void move_variable(solver *s, int v, const kernel *before, const meta_cuts *from,
                          const meta_cuts *to)
{
    const problem *p = s->p;
    void *moved = NULL;
    kernel_allocate(&s->kernel, &moved);
    kernel_clear(&s->kernel, moved);
    const meta_redistribute_field field = {type_of(p->type), s->grid[v], before->own, moved,
                                           s->kernel.own};
    check(meta_redistribute(p->cart, from, to, 1, &field));
    check(meta_free(s->grid[v]));
    s->grid[v] = moved;
}

/* Work arrays are recreated: there is never more than one array beyond those that the blocks need.
 */
void solver_move(solver *s, problem *p, int64_t *cut[3])
{
    const kernel before = s->kernel;
    check(meta_halo_free(&s->halo));
    kernel_free_next(&s->kernel, s->next);
    problem_exchange_cuts(p, cut);
    kernel_begin(&s->kernel, p);
    const meta_cuts from = {{cut[0], cut[1], cut[2]}}, to = {{p->cut[0], p->cut[1], p->cut[2]}};
    for (int v = 0; v < p->variables; ++v) move_variable(s, v, &before, &from, &to);
    kernel_allocate_next(&s->kernel, s->grid, s->next);
    for (int v = 0; v < p->variables && !p->o.reference; ++v) kernel_clear(&s->kernel, s->next[v]);
    solver_create_halo(s);
    solver_wait();
}
