/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve.h
 *  The solver: the grid of one block and the time step. There are three versions: solve.c with
 *  libmeta, for every device, solve.f90, the same in Fortran, and solve_mpi.c in plain MPI.
 *  Failures are recorded, see failure.h. */
#ifndef SOLVE_H
#define SOLVE_H

#include "problem.h"

typedef struct solver solver;

/** Collective. Before and after everything else but MPI_Init() and MPI_Finalize(). */
void solver_begin(void);
void solver_end(void);

/** Collective. Room for the problem's block; NULL if there is none. */
solver *solver_create(const problem *p);
void solver_free(solver *s);

/** Set a variable to the block's array @p cells, of the problem's type; and the reverse. */
void solver_put(solver *s, int variable, const void *cells);
void solver_get(solver *s, int variable, void *cells);

/** An array of the solver's, where its device has it: @p size elements along each axis, among them
 * the block's own cells. */
typedef struct solver_array {
    void *cells;
    int64_t size[3];
    region own;
} solver_array;
/** Where a variable is, until the next time step. Work on it may be queued. */
void solver_where(solver *s, int variable, solver_array *array);

/** Whether sums are to have the same bits on any ranks: then none is rounded before it is one of
 * all ranks, by solver_add_ranks(). */
bool solver_reproducible(void);
/** Collective. Add up @p count sums of @p type that solver_step() or solver_sum() left at @p sums.
 */
void solver_add_ranks(void *totals, const void *sums, int64_t count, number type);
/** The sum of the block's own cells of a variable, of the problem's type, to @p sum. */
void solver_sum(solver *s, int variable, void *sum);

/** Wait for the device. */
void solver_wait(void);

/** Collective. A time step of all variables: exchange ghost cells, sum the cells of each flux term,
 *  apply the stencil. @p sums, of the problem's type, receives for each variable the flux terms'
 *  sums and then the sum of the new values. That one only where @p summed[variable]. Complete on
 * return; its parts are laps, see laps.h. */
void solver_step(solver *s, const bool *summed, void *sums);

/** With libmeta only. Collective. To @p cut, which has room as p->cut, the cuts to use next after
 * steps with the present ones: this rank computed @p computing seconds in a step, which took @p
 * step in all, and has room for @p most cells. *gain: how many seconds a step should become
 * shorter, 0 if the cuts are the present ones. @p cart: Fortran's handle of p->cart or of a
 * duplicate, with which libmeta remembers what was measured. */
void solver_balance(const problem *p, int cart, double computing, double step, int64_t most,
                    int64_t *const cut[3], double *gain);
/** With libmeta only. Collective. Cut the solver's own problem, @p p, at @p cut, which gets the
 * cuts there were in exchange, and move the cells. */
void solver_move(solver *s, problem *p, int64_t *cut[3]);

#endif
