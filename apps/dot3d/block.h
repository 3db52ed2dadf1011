/* SPDX-License-Identifier: BSD-3-Clause */
/** @file block.h
 *  This rank's block of the grid, the values of the two fields, and the closed forms of their
 *  products: a is x + 1 and b is y + z + 1 at global cell (x, y, z). */
#ifndef BLOCK_H
#define BLOCK_H

#include <mpi.h>

#include "options.h"

typedef struct block {
    MPI_Comm comm;
    int previous, next; /**< the neighbours in the ring */
    int64_t global[3];  /**< cells of the grid */
    int64_t first;      /**< global x of the block's first own plane */
    int64_t size[3];    /**< of the block's array, whose plane at x = 0 is the ghost plane */
    int64_t cells;      /**< in that array */
    int64_t plane;      /**< cells in a plane of constant x */
    bool planes;        /**< in memory these follow one another; else x runs fastest */
    number type;
    MPI_Datatype mpi_type;
} block;

/** A value in closed form, as a floating point number and modulo 2^64. */
typedef struct exact {
    double number;
    uint64_t bits;
} exact;

/** Notes a failure where the grid does not fit the job. */
void block_create(block *k, const options *o);
/** Fill the block's array of a and that of b, which follows it; the ghost plane of a with 0. */
void block_fill(const block *k, void *fields);

/** The dot product over the whole grid. */
exact block_dot(const block *k);
/** The dot product over the ghost plane, once the left neighbour's last plane is there. */
exact block_ghost_dot(const block *k);
/** The relative error of @p result, an element of the block's type; any difference of integers
 *  is at least 1. */
double block_error(const block *k, const void *result, exact right);
/** Write @p result, or the closed form as it looks in the block's type, as text. */
void block_print(const block *k, char *text, size_t room, const void *result);
void block_print_exact(const block *k, char *text, size_t room, exact right);

#endif
