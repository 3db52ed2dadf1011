/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve.c
 *  The solver with libmeta: every rank on whatever device it has. solve_mpi.c is its baseline. */
#include "config.h"

#include <stdlib.h>

#include "check.h"
#include "halo_laps.h"
#include "kernel.h"
#include "laps.h"
#include "solve.h"

struct solver {
    const problem *p;
    kernel kernel;
    meta_halo halo;
    void **grid, **next;
};

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
    const meta_box own = s->kernel.own;
    const meta_halo_kind kind = p->corners ? META_HALO_ALL : META_HALO_FACES;
    const meta_type type = type_of(p->type);
    const meta_halo_desc d = {.size = sizeof d,
                              .cart = p->cart,
                              .box = own,
                              .low = {1, 1, 1},
                              .high = {1, 1, 1},
                              .kind = kind,
                              .fields = p->grouped,
                              .type = type};
    check(meta_halo_create(&s->halo, &d));
    return s;
}

void solver_free(solver *s)
{
    void **arrays = s->grid < s->next ? s->grid : s->next;
    check(meta_halo_free(&s->halo));
    kernel_free(&s->kernel, arrays);
    free(arrays);
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

static void exchange(solver *s, void **grid)
{
    check(exchange_in_laps(s->halo, grid));
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

void solver_step(solver *s, const bool *summed, void *sums)
{
    const problem *p = s->p;
    for (int v = 0; v < p->variables; ++v) {
        const int64_t first = (int64_t)v * (p->terms + 1);
        if (v % p->grouped == 0) exchange(s, s->grid + v);
        lap(LAP_FINISH);
        if (p->points == 0) continue;
        for (int t = 0; t < p->terms; ++t)
            sum_region(s, s->grid[v], &p->term[t].cells, number_at(sums, first + t, p->type));
        lap(LAP_BOUNDARY);
        kernel_apply(&s->kernel, s->next[v], s->grid[v],
                     summed[v] ? number_at(sums, first + p->terms, p->type) : NULL);
        lap(LAP_STENCIL);
    }
    solver_wait();
    if (p->points == 0 || p->o.reference) return;
    void **old = s->grid;
    s->grid = s->next;
    s->next = old;
}
