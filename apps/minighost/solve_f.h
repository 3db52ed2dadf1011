/* SPDX-License-Identifier: BSD-3-Clause */
/** @file solve_f.h
 *  C functions for the Fortran solver (problem.f90 and the files that use it): MPI's C types and
 *  variadic functions are not available in Fortran. */
#ifndef SOLVE_F_H
#define SOLVE_F_H

#include "problem.h"

/** A problem as Fortran counts: indices from 1 on, both ends included. */
typedef struct minighost_shape {
    int64_t global[3], cells[3];        /**< of the grid, and of this rank's block */
    int64_t lower[26][3], upper[26][3]; /**< of the flux terms' cells */
    int64_t *cut[3];                    /**< of the problem */
    int parts[3];                       /**< ranks along each axis */
    int cart;                           /**< the communicator's handle */
    int type, stencil;                  /**< libmeta's */
    int variables, grouped, points, terms, corners;
    int reference, overlap; /**< options */
} minighost_shape;

void minighost_shape_of(const problem *p, minighost_shape *shape);
/** CPU threads of this rank. */
int minighost_threads(const problem *p);
/** Note a failed call of libmeta, or a failure that it has the number for. */
void minighost_failed(int err, const char *message);
/** Collective. Whether any rank has noted a failure. */
bool minighost_agree(const problem *p);

#endif
