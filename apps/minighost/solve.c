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
    solver_create_halo(s);
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
