/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sides.h
 *  Sums of boxes of a stencil's input that its pass over the grid adds up: of a domain's sides,
 * say. On its own a sum over an x face reads a line of memory for each cell, a fifth of all lines
 * of 64^3 cells; the stencil has just read them. */
#ifndef META_OPENMP_SIDES_H
#define META_OPENMP_SIDES_H

#include "openmp.h"

enum { SIDES_MOST = 8, SIDES_DIMS = 3 };

/** Cells [start, end) of a stencil's own, by column, row and plane. */
typedef struct side {
    meta_i64 start[SIDES_DIMS], end[SIDES_DIMS];
} side;

typedef struct sides {
    int count;
    side of[SIDES_MOST];
} sides;

/** Add the cells of reduction @p sum to @p all. @return 0: they are not among those that
 *  @p stencil computes, or there is no room */
int sides_add(sides *all, const meta_call *sum, const meta_call *stencil);

#endif
