/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cut_arrays.h
 *  Cuts as arrays, for tests that compare what the library finds with others: even ones, and what a
 * rank has by them. */
#ifndef META_TEST_CUT_ARRAYS_H
#define META_TEST_CUT_ARRAYS_H

#include "test_mpi.h"

enum { MOST_RANKS = 4 };
/* Where the parts of a dimension begin, and the last one ends. */
typedef int64_t cut_array[MOST_RANKS + 1];

static inline void cut_evenly(const meta_decompose_desc *desc, int dims, const int *extent,
                              cut_array *cut)
{
    for (int d = 0; d < dims; ++d)
        for (int64_t k = 0, n = extent[d]; k <= n; ++k) {
            const int64_t share = desc->cells[d] / n, rest = desc->cells[d] % n;
            cut[d][k] = k * share + (k < rest ? k : rest);
        }
}

/* How many cells a rank of @p cart has. */
static inline int64_t cells_by_cuts(MPI_Comm cart, int dims, int rank, cut_array *cut)
{
    int at[META_MAX_DIM];
    int64_t cells = 1;
    MPI_Cart_coords(cart, rank, dims, at);
    for (int d = 0; d < dims; ++d) cells *= cut[d][at[d] + 1] - cut[d][at[d]];
    return cells;
}

#endif
