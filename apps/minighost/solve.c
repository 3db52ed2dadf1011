/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve.c
 *  The solver with libmeta, on any device. solve_mpi.c is its baseline. */
#include "config.h"

#include <stdlib.h>

#include "check.h"
#include "laps.h"
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

void solver_create_halo(solver *s)
{
    const problem *p = s->p;
    const meta_halo_kind kind = p->corners ? META_HALO_ALL : META_HALO_FACES;
    const meta_halo_desc d =
        META_HALO_DESC(p->cart, s->kernel.own, 1, kind, p->grouped, s->kernel.type);
    check(meta_halo_create(&s->halo, &d));
}

solver *solver_create(const problem *p)
{
    const int arrays = 2 * p->variables;
    solver *s = calloc(1, sizeof *s);
    void **grid = calloc((size_t)arrays, sizeof *grid);
    if (s == NULL || grid == NULL) failure_note_memory(sizeof *s + (double)arrays * sizeof *grid);
    if (failure_agree(p->cart)) {
        free(grid);
        free(s);
        return NULL;
    }
    *s = (solver){.p = p, .grid = grid, .next = grid + p->variables};
    kernel_create(&s->kernel, p, grid);
    overlap_create(s);
    solver_create_halo(s);
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

void solver_where(solver *s, int variable, solver_array *array)
{
    const meta_box *own = &s->kernel.own;
    array->cells = s->grid[variable];
    for (int d = 0; d < 3; ++d) {
        array->size[d] = own->size[d];
        array->own.start[d] = own->start[d];
        array->own.end[d] = own->end[d];
    }
}

void solver_sum_sides(const solver *s, int v, int count, void *sums)
{
    const problem *p = s->p;
    const int64_t first = (int64_t)v * (p->terms + 1);
    check(meta_reduce_boxes(number_at(sums, first, p->type), p->terms + 1, count, s->grid + v,
                            p->terms, s->kernel.side, META_SUM, s->kernel.type, META_ASYNC));
}

/* Whether the sums at the sides are taken on their own, while ghost cells travel, which they do not
 * need: in the passes of MiniGhost 1.0, and where their time is asked for. Otherwise the stencil,
 * which reads the same cells, adds them up. */
static bool sums_apart(const solver *s)
{
    return s->p->points == 0 || s->p->o.reference || laps_on();
}

static void exchange(solver *s, int v, void *sums)
{
    check(meta_halo_start(s->halo, s->grid + v));
    lap(LAP_START);
    if (sums_apart(s)) solver_sum_sides(s, v, s->p->grouped, sums);
    lap(LAP_BOUNDARY);
    check(meta_halo_finish(s->halo, META_ASYNC));
}

void solver_sum(solver *s, int variable, void *sum)
{
    check(meta_reduce(sum, s->grid[variable], &s->kernel.own, META_SUM, s->kernel.type, NULL));
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

static void solver_compute(const solver *s, int v, bool summed, void *sums)
{
    const problem *p = s->p;
    void *sides = number_at(sums, (int64_t)v * (p->terms + 1), p->type);
    void *sum = summed ? number_at(sides, p->terms, p->type) : NULL;
    if (sums_apart(s)) kernel_apply(&s->kernel, s->next[v], s->grid[v], sum);
    else kernel_apply_and_sum(&s->kernel, s->next[v], s->grid[v], sum, sides);
    lap(LAP_STENCIL);
}

void solver_swap(solver *s)
{
    void **old = s->grid;
    if (s->p->points == 0) return;
    s->grid = s->next;
    s->next = old;
}

void solver_step(solver *s, const bool *summed, void *sums)
{
    const problem *p = s->p;
    check(meta_range_push("time step"));
    if (s->split) overlap_step(s, summed, sums);
    for (int v = 0; v < p->variables && !s->split; ++v) {
        if (v % p->grouped == 0) exchange(s, v, sums);
        lap(LAP_FINISH);
        if (p->points != 0) solver_compute(s, v, summed[v], sums);
    }
    solver_wait();
    check(meta_range_pop());
    solver_swap(s);
}
