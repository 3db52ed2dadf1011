/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve.c
 *  The solver with libmeta: every rank on whatever device it has. solve_mpi.c is its baseline. */
#include "config.h"

#include <stdlib.h>

#include "check.h"
#include "halo_laps.h"
#include "laps.h"
#include "solve.h"

struct solver {
    const problem *p;
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

static meta_box box_of(const int64_t *n, const int64_t *from, const int64_t *to)
{
    return (meta_box){3, {n[0], n[1], n[2]}, {from[0], from[1], from[2]}, {to[0], to[1], to[2]}};
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
    for (int i = 0; i < arrays; ++i)
        check(meta_alloc(&grid[i], (size_t)p->cells * number_size(p->type)));
    const meta_box own = box_of(p->size, p->own.start, p->own.end);
    const meta_halo_kind kind = p->corners ? META_HALO_ALL : META_HALO_FACES;
    const meta_type type = type_of(p->type);
    const meta_halo_desc d = {sizeof d, p->cart, own, {1, 1, 1}, {1, 1, 1}, kind, p->grouped, type};
    check(meta_halo_create(&s->halo, &d));
    return s;
}

void solver_free(solver *s)
{
    void **arrays = s->grid < s->next ? s->grid : s->next;
    check(meta_halo_free(&s->halo));
    for (int i = 0; i < 2 * s->p->variables; ++i) check(meta_free(arrays[i]));
    free(arrays);
    free(s);
}

/* Both arrays, because the ghost cells outside the domain are never written again. */
void solver_put(solver *s, int variable, const void *cells)
{
    const size_t bytes = (size_t)s->p->cells * number_size(s->p->type);
    void *const both[] = {s->grid[variable], s->next[variable]};
    for (int i = 0; i < 2; ++i) check(meta_copy_h2d(both[i], cells, bytes, NULL));
}

void solver_get(solver *s, int variable, void *cells)
{
    const size_t bytes = (size_t)s->p->cells * number_size(s->p->type);
    check(meta_copy_d2h(cells, s->grid[variable], bytes, NULL));
}

static void exchange(solver *s, void **grid)
{
    check(exchange_in_laps(s->halo, grid));
}

static void sum_region(const problem *p, const void *from, const region *r, void *result)
{
    const meta_box box = box_of(p->size, r->start, r->end);
    check(meta_reduce(result, from, &box, META_SUM, type_of(p->type), META_ASYNC));
}

/* The sum of the new values where result is not NULL. */
static void stencil(const problem *p, void *next, const void *grid, void *result)
{
    const meta_box own = box_of(p->size, p->own.start, p->own.end);
    check(meta_stencil(next, grid, &own, p->stencil, type_of(p->type), result, META_ASYNC));
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
            sum_region(p, s->grid[v], &p->term[t].cells, number_at(sums, first + t, p->type));
        lap(LAP_BOUNDARY);
        stencil(p, s->next[v], s->grid[v],
                summed[v] ? number_at(sums, first + p->terms, p->type) : NULL);
        lap(LAP_STENCIL);
    }
    solver_wait();
    if (p->points == 0) return;
    void **old = s->grid;
    s->grid = s->next;
    s->next = old;
}
