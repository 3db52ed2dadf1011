/* SPDX-License-Identifier: BSD-3-Clause */
/** @file slice.h
 *  An image of one plane of the grid, z constant, with its colour scale. */
#ifndef SLICE_H
#define SLICE_H

#include "snapshots.h"

/** Note a failure where the options ask for a picture that cannot be made. */
void slice_check(const problem *p);
/** Collective. Write PREFIX_STEP.png. Failures are noted. */
void slice_write(const problem *p, int64_t step, const grid_source *from);

#endif
