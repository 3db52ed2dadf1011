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

/** With libmeta only. Collective. How many cells a second this rank computes of all variables,
 * exchange left out, in a block as large as the problem's; a solver of its own is made for it. */
double solver_speed(const problem *p);
/** With libmeta only. Collective. To @p cut, which has room as p->cut, the cuts by which all ranks
 * are done together, where this one computes @p speed cells a second and has room for @p most. */
void solver_cut(const problem *p, double speed, int64_t most, int64_t *const cut[3]);
/** With libmeta only. Collective. The same by the @p seconds that this rank computes for with its
 * present block; and the longest time of all ranks as it is and as it should be. */
void solver_recut(const problem *p, double seconds, int64_t most, int64_t *const cut[3],
                  double *before, double *after);
/** With libmeta only. Collective. Cut the solver's own problem, @p p, at @p cut, which gets the
 * cuts there were in exchange, and move the cells. */
void solver_move(solver *s, problem *p, int64_t *cut[3]);

#endif
