/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain_euler.h
 *  The steps of examples/euler_mpi.c: compressible flow in plain MPI and OpenMP. */
#ifndef BENCH_PLAIN_EULER_H
#define BENCH_PLAIN_EULER_H

#include <stdint.h>

/** Collective. Begin the blast on @p n x @p n cells, shared out to all ranks, each of which needs
 *  four along an axis. */
void plain_euler_begin(int64_t n);
/** Collective. Steps. */
void plain_euler_run(int64_t times);
void plain_euler_end(void);

#endif
