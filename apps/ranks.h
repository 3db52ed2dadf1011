/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranks.h
 *  The table of ranks and what each of them computes on. */
#ifndef RANKS_H
#define RANKS_H

#include <mpi.h>

/** What a rank computes on. */
typedef struct where {
    char backend[32], device[128];
    int threads; /**< of the CPU; 0 where that says nothing */
} where;

/** Describe this rank. Each version of a proxy has its own: where.c and where_mpi.c. */
void where_am_i(MPI_Comm comm, where *here);

/** Collective. Rank 0 prints the table. */
void ranks_print(MPI_Comm comm);

#endif
