/* SPDX-License-Identifier: BSD-3-Clause */
/** @file where_mpi.c
 *  Description of a rank's device, for the plain MPI versions of the proxies: one core. */
#include "config.h"

#include <stdio.h>

#include "ranks.h"

void where_am_i(MPI_Comm comm, where *here)
{
    (void)comm;
    snprintf(here->backend, sizeof here->backend, "none");
    snprintf(here->device, sizeof here->device, "CPU, serial loops");
    here->threads = 1;
    here->device_memory = 0;
}
