/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranks.h
 *  The table of ranks and the device of each. */
#ifndef RANKS_H
#define RANKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "json.h"

/** What a rank computes on. */
typedef struct where {
    char backend[32], device[128];
    int threads;          /**< of the CPU; 0 where that says nothing */
    double device_memory; /**< bytes of a memory of its own; 0 where it has the host's */
} where;

/** Describe this rank. Each version of a proxy has its own: where.c and where_mpi.c. */
void where_am_i(MPI_Comm comm, where *here);

/** A line of the table of ranks. */
typedef struct rank_row {
    char host[64], blas[32];
    where here;
    int64_t
        cells; /**< of its block, and their share of the grid; 0 if there are no such columns */
    double share;
} rank_row;

/** Collective. The table of all ranks on rank 0, without cells, to be freed, and NULL on the
 * others; NULL on all, and a failure noted, if there is no room. @p blas: the BLAS library of
 * this rank, or NULL on every rank if there is no such column. */
rank_row *ranks_gather(MPI_Comm comm, const char *blas);
void ranks_print_table(const rank_row *all, int size, bool with_blas);
/** The table as the member "ranks" of a JSON object. */
void ranks_json(json *j, const rank_row *all, int size, bool with_blas);
/** Collective. Rank 0 prints the table. */
void ranks_print(MPI_Comm comm, const char *blas);

#endif
