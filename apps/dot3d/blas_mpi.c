/* SPDX-License-Identifier: BSD-3-Clause */
/** @file blas_mpi.c
 *  The plain MPI version has no BLAS: it is the baseline for libmeta, not for a BLAS library. */
#include "config.h"

#include "dot3d.h"
#include "failure.h"

const dot3d_way *dot3d_blas(void)
{
    failure_note("--blas: the plain MPI version computes by its own loops only; use meta-dot3d");
    return NULL;
}
