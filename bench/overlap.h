/* SPDX-License-Identifier: BSD-3-Clause */
/** @file overlap.h
 *  Row halo.overlap: how much of an exchange is hidden behind a stencil computed meanwhile. */
#ifndef BENCH_OVERLAP_H
#define BENCH_OVERLAP_H

#include <mpi.h>

#include "group.h"

/** Collective. Print the row, for N³ cells on every rank of @p cart. */
void overlap_run(bench *b, MPI_Comm cart, int64_t size);

#endif
