/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dot3d_f.h
 *  What the 3D dot product in Fortran, dot3d.f90, needs of the program's C: MPI's types are not
 *  Fortran's. */
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
