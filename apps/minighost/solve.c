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
    const meta_halo_desc d = {.size = sizeof d,
                              .cart = p->cart,
                              .box = s->kernel.own,
                              .low = {1, 1, 1},
                              .high = {1, 1, 1},
                              .kind = kind,
                              .fields = p->grouped,
                              .type = type_of(p->type)};
    check(meta_halo_create(&s->halo, &d));
}

solver *solver_create(const problem *p)
{
    const int arrays = 2 * p->variables;
    solver *s = calloc(1, sizeof *s);
    void **grid = calloc((size_t)arrays, sizeof *grid);
    void *pieces = calloc((size_t)p->variables * OVERLAP_PIECES, number_size(p->type));
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
    solver_create_halo(s);
    s->split = overlap_pays(p);
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

static void sum_region(const solver *s, const void *from, const region *r, void *result)
{
    const meta_box box = kernel_box(&s->kernel, r);
    check(meta_reduce(result, from, &box, META_SUM, type_of(s->p->type), META_ASYNC));
}

void solver_sum(solver *s, int variable, void *sum)
{
    sum_region(s, s->grid[variable], &s->p->own, sum);
    solver_wait();
}

/* The cells at the domain's sides, each set to its place among the variable's sums. */
void solver_sum_sides(const solver *s, int v, void *sums)
{
    const problem *p = s->p;
    const int64_t first = (int64_t)v * (p->terms + 1);
    for (int t = 0; t < p->terms; ++t)
        sum_region(s, s->grid[v], &p->term[t].cells, number_at(sums, first + t, p->type));
}

/* The sums at the sides need no ghost cells. */
static void exchange(solver *s, int v, const bool *summed, void *sums)
{
    if (s->split) {
        overlap_step(s, v, summed, sums);
        return;
    }
    check(meta_halo_start(s->halo, s->grid + v));
    lap(LAP_START);
    for (int k = v; k < v + s->p->grouped; ++k) solver_sum_sides(s, k, sums);
    lap(LAP_BOUNDARY);
    check(meta_halo_finish(s->halo, META_ASYNC));
    lap(LAP_FINISH);
}

void solver_swap(solver *s)
{
    void **old = s->grid;
    if (s->p->points == 0 || s->p->o.reference) return;
    s->grid = s->next;
    s->next = old;
}

void solver_step(solver *s, const bool *summed, void *sums)
{
    const problem *p = s->p;
    check(meta_range_push("time step"));
    for (int v = 0; v < p->variables; ++v) {
        const int64_t first = (int64_t)v * (p->terms + 1);
        if (v % p->grouped == 0) exchange(s, v, summed, sums);
        if (p->points == 0 || s->split) continue;
        kernel_apply(&s->kernel, s->next[v], s->grid[v],
                     summed[v] ? number_at(sums, first + p->terms, p->type) : NULL);
        lap(LAP_STENCIL);
    }
    solver_wait();
    check(meta_range_pop());
    solver_swap(s);
}
