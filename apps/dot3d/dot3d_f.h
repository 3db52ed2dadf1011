/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dot3d_f.h
 *  C functions that the Fortran version of the 3D dot product, dot3d.f90, calls: MPI's C types
 *  are not available in Fortran. */
#ifndef DOT3D_F_H
#define DOT3D_F_H

#include "block.h"

typedef struct dot3d_shape_of_block {
    int64_t size[3], plane;
    int type, previous, next;
} dot3d_shape_of_block;

/** The shape of a block, its type as libmeta's. */
void dot3d_shape(const block *k, dot3d_shape_of_block *shape);
/** Note a failed call of libmeta. */
void dot3d_failed(int err, const char *message);

#endif
