/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve_move.c
 *  Load balancing in the libmeta solver: finding uneven blocks, and redistributing cells between
 *  blocks. */
#include "config.h"

#include "check.h"
#include "comm_handle.h"
#include "solver.h"

void solver_balance(const problem *p, int cart, double computing, double step, int64_t most,
                    int64_t *const cut[3], double *gain)
{
    const meta_cuts next = {{cut[0], cut[1], cut[2]}};
    const meta_cuts now = {{p->cut[0], p->cut[1], p->cut[2]}};
    meta_decompose_desc desc = META_DECOMPOSE_DESC_INIT;
    desc.cart = comm_of_handle(cart);
    for (int d = 0; d < 3; ++d) desc.cells[d] = p->global[d];
    desc.most = most;
    check(meta_balance(&next, &now, &desc, computing, step, gain));
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
