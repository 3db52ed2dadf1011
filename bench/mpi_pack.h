/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_pack.h
 *  MPI's own packing as a peer: MPI_Pack and MPI_Unpack of subarray types. */
#ifndef BENCH_MPI_PACK_H
#define BENCH_MPI_PACK_H

#include <mpi.h>

#include "cube.h"
#include "numbers.h"

typedef struct mpi_pack {
    MPI_Datatype part[6];
    int parts, room; /* room: bytes of the packed buffer */
    void *cells, *packed;
} mpi_pack;

/** MPI's element type. */
MPI_Datatype mpi_type_of(number type);
/** A committed type for a region of a cube. */
MPI_Datatype mpi_region_type(const cube *c, const region *r, number type);

void mpi_pack_create(mpi_pack *m, const cube *c, const region *part, int parts, number type,
                     void *cells, void *packed);
void mpi_pack_free(mpi_pack *m);
/** A contender's runs: an mpi_pack. */
void mpi_pack_run(void *with, int64_t times);
void mpi_pack_run_unpack(void *with, int64_t times);

#endif
