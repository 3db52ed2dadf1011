/* SPDX-License-Identifier: BSD-3-Clause */
/** @file planes.h
 *  Copies between a dense host array and a padded grid on the device, one plane at a time. */
#ifndef PLANES_H
#define PLANES_H

#include "check.h"

/** Copy the dense array @p cells of all cells and ghosts, x fastest, to the 3D grid @p grid of
 *  meta_grid_alloc() with these ghosts, whose own cells are @p own; and back. Room for a plane is
 *  allocated on this thread's device meanwhile. Failures are noted. */
void planes_put(void *grid, const meta_box *own, const int *low, const int *high, const void *cells,
                number type);
void planes_get(void *cells, const void *grid, const meta_box *own, const int *low, const int *high,
                number type);

#endif
