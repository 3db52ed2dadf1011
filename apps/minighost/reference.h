/* SPDX-License-Identifier: BSD-3-Clause */
/** @file reference.h
 *  MiniGhost 1.0's algorithm in plain OpenMP loops, as its authors published it (Barrett,
 *  Vaughan and Heroux, MiniGhost 1.0, 2012): the averages are written to a work array, copied
 *  back into the grid, and then summed, each in a pass of its own. Arrays are the block's own,
 *  of p->type. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "problem.h"

/** The averages of the problem's stencil over the own cells of @p grid. */
void reference_stencil(const problem *p, int threads, void *work, const void *grid);
/** The own cells of @p work. */
void reference_copy(const problem *p, int threads, void *grid, const void *work);
/** The sum of the own cells, an element of p->type. */
void reference_sum(const problem *p, int threads, const void *grid, void *sum);

#endif
