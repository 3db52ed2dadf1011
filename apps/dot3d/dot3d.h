/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dot3d.h
 *  The 3D dot product on one block. There are two versions: dot3d.c with libmeta, for every
 *  device, and dot3d_mpi.c in plain MPI. Failures are recorded, see failure.h. */
#ifndef DOT3D_H
#define DOT3D_H

#include "block.h"

typedef struct dot3d dot3d;

/** Collective. Before and after everything else but MPI_Init() and MPI_Finalize(). */
void dot3d_begin(void);
void dot3d_end(void);

/** Room for the fields a and b, which follow one another at @p fields; NULL if there is none. */
dot3d *dot3d_create(const block *k, const void *fields);
void dot3d_free(dot3d *d);

/** Collective. The ghost plane of a from the left neighbour, the dot product of the block's own
 *  cells, and in @p result, an element of the block's type, the sum over all blocks. */
void dot3d_iterate(dot3d *d, void *result);
/** The dot product of the ghost plane. */
void dot3d_ghost(dot3d *d, void *result);

/** A way to do the above, for a block whose order in memory it can use. */
typedef struct dot3d_way {
    dot3d *(*create)(const block *k, const void *fields);
    void (*free)(dot3d *d);
    void (*iterate)(dot3d *d, void *result);
    void (*ghost)(dot3d *d, void *result);
    const char *(*library)(const dot3d *d); /**< that multiplies; NULL where none does */
} dot3d_way;
/** With a BLAS library, for a block of planes: blas.c, and blas_mpi.c if there is none, which
 *  notes a failure and returns NULL. */
const dot3d_way *dot3d_blas(void);

#endif
