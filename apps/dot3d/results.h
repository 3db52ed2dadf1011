/* SPDX-License-Identifier: BSD-3-Clause */
/** @file results.h
 *  The --json file with the results of a run of the 3D dot product. */
#ifndef RESULTS_H
#define RESULTS_H

#include "block.h"

typedef struct results {
    const options *o;
    const block *k;
    const char *blas;   /**< the library of this rank, NULL where libmeta multiplies */
    const void *result; /**< an element of the block's type */
    double seconds;     /**< of all iterations */
    double error, ghost_error;
    bool right;
} results;

/** Collective. Write the file where the options ask for it. Failures are noted. */
void results_write(const results *r);

#endif
