/* SPDX-License-Identifier: BSD-3-Clause */
/** @file problem.h
 *  The problem of one run: the global grid, this rank's block, the domain boundary through which
 *  heat leaves, the initial values and the spikes. All of it is independent of the
 *  decomposition. */
#ifndef PROBLEM_H
#define PROBLEM_H

#include <mpi.h>

#include "options.h"

/** A half-open range of cells of the block's array, which has one ghost cell on every side. */
typedef struct region {
    int64_t start[3], end[3];
} region;

/** Cells at sides of the domain, and how many points of a stencil about each lie outside. Summed
 * over all terms the share is right for every cell: edges and corners correct what faces count
 * twice. */
typedef struct flux_term {
    region cells;
    double points;
} flux_term;

typedef struct problem {
    options o;
    MPI_Comm cart;     /**< Cartesian, not periodic; dimension 0 is x */
    int64_t global[3]; /**< cells of the grid */
    int64_t *cut[3];   /**< along each axis the global index of every part's first cell, np + 1 of
                            them, the same on every rank; the last one is the grid's extent */
    int64_t first[3];  /**< global index of this block's first cell */
    int64_t size[3];   /**< of the block's array, with its ghost cells */
    int64_t cells;     /**< in that array */
    region own;        /**< the block's own cells */
    number type;
    int variables;
    int grouped;      /**< variables in one message */
    unsigned stencil; /**< 0 2D 5-point, 1 2D 9-point, 2 3D 7-point, 3 3D 27-point, as
                           meta_stencil_kind counts them; means nothing where points is 0 */
    int points;       /**< of the stencil; 0 if there is none */
    bool corners;     /**< the stencil needs the edges' and corners' ghost cells */
    int terms;        /**< at the domain's sides, the same on every rank; those at sides that this
                           block does not have are without cells */
    flux_term term[26];
} problem;

/** Collective over MPI_COMM_WORLD. Notes a failure where the options do not fit the job. */
void problem_create(problem *p, const options *o);
void problem_free(problem *p);

/** Cut the grid where @p cut says, which gets the cuts there were in exchange. */
void problem_exchange_cuts(problem *p, int64_t *cut[3]);
/** Room for cuts as p->cut; false, and a failure noted, if there is none. To be freed in any
 * case. */
bool problem_new_cuts(const options *o, int64_t *cut[3]);
void problem_free_cuts(int64_t *cut[3]);
/** The most planes along an axis that a block has. */
int64_t problem_thickest(const problem *p, int axis);

/** The block of @p rank: its first cell's global index and its extent. */
void problem_block(const problem *p, int rank, int64_t *first, int64_t *cells);

/** Fill the block's array for @p variable, of p->type, with initial values, zero in the ghost
 * cells. */
void problem_fill(const problem *p, int variable, double *cells);
/** The value of spike @p spike (0 …) of @p variable, and its place in the block's array: -1 where
 *  it is in another block. */
double problem_spike(const problem *p, int spike, int variable, int64_t *place);
/** Whether @p variable is among those checked in every time step. */
bool problem_checks(const problem *p, int variable);

/** The sum of the block's own cells. */
double problem_sum(const problem *p, const double *cells);
/** Change an array of double to p->type and back, in place. */
void problem_narrow(const problem *p, void *cells);
void problem_widen(const problem *p, void *cells);

#endif
