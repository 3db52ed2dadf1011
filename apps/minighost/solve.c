/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve.c
 *  The solver with libmeta: every rank on whatever device it has. solve_mpi.c is its baseline. */
#include "config.h"

#include <stdlib.h>

#include "check.h"
#include "solver.h"

void solver_begin(void)
{
    check(meta_comm_init(NULL, NULL));
}

void solver_end(void)
{
    check(meta_comm_finalize());
}

void solver_wait(void)
{
    check(meta_flush());
}

static void create_halo(solver *s)
{
    const problem *p = s->p;
    const meta_halo_kind kind = p->corners ? META_HALO_ALL : META_HALO_FACES;
    meta_halo_desc d = META_HALO_DESC_INIT;
    d.cart = p->cart;
    d.box = s->kernel.own;
    for (int k = 0; k < 3; ++k) d.low[k] = d.high[k] = 1;
    d.kind = kind;
    d.fields = p->grouped;
    d.type = type_of(p->type);
    check(meta_halo_create(&s->halo, &d));
}

solver *solver_create(const problem *p)
{
    const int arrays = 2 * p->variables;
    solver *s = calloc(1, sizeof *s);
    void **grid = calloc((size_t)arrays, sizeof *grid);
    void *pieces = calloc((size_t)p->variables * STEP_PIECES, number_size(p->type));
    if (s == NULL || grid == NULL || pieces == NULL)
        failure_note_memory(sizeof *s + (double)arrays * sizeof *grid);
    if (failure_agree(p->cart)) {
        free(pieces);
        free(grid);
        free(s);
        return NULL;
    }
    *s = (solver){.p = p, .grid = grid, .next = grid + p->variables, .pieces = pieces};
    kernel_create(&s->kernel, p, grid);
    create_halo(s);
    s->split = step_is_split(p);
    return s;
}

void solver_free(solver *s)
{
    void **arrays = s->grid < s->next ? s->grid : s->next;
    check(meta_halo_free(&s->halo));
    kernel_free(&s->kernel, arrays);
    free(arrays);
    free(s->pieces);
    free(s);
}

/* Both arrays, because the ghost cells outside the domain are never written again. */
void solver_put(solver *s, int variable, const void *cells)
{
    void *const both[] = {s->grid[variable], s->next[variable]};
    for (int i = 0; i < 2; ++i) kernel_put(&s->kernel, both[i], cells);
}

void solver_get(solver *s, int variable, void *cells)
{
    kernel_get(&s->kernel, cells, s->grid[variable]);
}

bool solver_reproducible(void)
{
    int on;
    check(meta_get_reproducible(&on));
    return on;
}

void solver_add_ranks(void *totals, const void *sums, int64_t count, number type)
{
    check(meta_allreduce(totals, sums, count, META_SUM, type_of(type), NULL));
}

void solver_sum(solver *s, int variable, void *sum)
{
    step_sum_region(s, s->grid[variable], &s->p->own, sum);
    solver_wait();
}

/* ------------------------------------------------------------------ uneven blocks */

typedef struct measured {
    solver *s;
    void *sums;
} measured;

static meta_err compute_all(void *with)
{
    const measured *m = with;
    const problem *p = m->s->p;
    for (int v = 0; v < p->variables; ++v) step_compute(m->s, v, problem_checks(p, v), m->sums);
    step_swap_grids(m->s);
    return failure_seen() ? META_ERR_STATE : META_OK;
}

double solver_speed(const problem *p)
{
    enum { TIMES = 7 };
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

/* Work arrays are made anew: there is never more than one array beyond those that the blocks need.
 */
void solver_move(solver *s, problem *p, int64_t *cut[3])
{
    const kernel before = s->kernel;
    const int others = kernel_arrays(p) - p->variables;
    check(meta_halo_free(&s->halo));
    for (int k = 0; k < others; ++k) check(meta_free(s->next[k]));
    problem_exchange_cuts(p, cut);
    kernel_begin(&s->kernel, p);
    const meta_cuts from = {{cut[0], cut[1], cut[2]}}, to = {{p->cut[0], p->cut[1], p->cut[2]}};
    for (int v = 0; v < p->variables; ++v) move_variable(s, v, &before, &from, &to);
    for (int k = 0; k < p->variables; ++k) {
        s->next[k] = k < others ? NULL : s->next[others - 1];
        if (k >= others) continue;
        kernel_allocate(&s->kernel, &s->next[k]);
        kernel_clear(&s->kernel, s->next[k]);
    }
    create_halo(s);
    solver_wait();
}
