/* SPDX-License-Identifier: BSD-3-Clause */
/** @file mpi_pack.c
 *  MPI's own packing as a peer: MPI_Pack and MPI_Unpack of subarray types. */
#include "config.h"

#include "mpi_pack.h"

#include <limits.h>

MPI_Datatype mpi_type_of(number type)
{
    const MPI_Datatype types[NUMBER_COUNT] = {
        [NUMBER_F64] = MPI_DOUBLE,   [NUMBER_F32] = MPI_FLOAT,   [NUMBER_I64] = MPI_INT64_T,
        [NUMBER_U64] = MPI_UINT64_T, [NUMBER_I32] = MPI_INT32_T, [NUMBER_U32] = MPI_UINT32_T};
    return types[type];
}

MPI_Datatype mpi_region_type(const cube *c, const region *r, number type)
{
    int size[3], extent[3], start[3];
    MPI_Datatype made;
    for (int d = 0; d < 3; ++d) {
        size[d] = (int)(c->n + 2 * c->ghosts);
        extent[d] = (int)(r->end[d] - r->start[d]);
        start[d] = (int)r->start[d];
    }
    MPI_Type_create_subarray(3, size, extent, start, MPI_ORDER_FORTRAN, mpi_type_of(type), &made);
    MPI_Type_commit(&made);
    return made;
}

void mpi_pack_create(mpi_pack *m, const cube *c, const region *part, int parts, number type,
                     void *cells, void *packed)
{
    int64_t room = 0;
    *m = (mpi_pack){.parts = parts, .cells = cells, .packed = packed};
    for (int k = 0; k < parts; ++k) {
        m->part[k] = mpi_region_type(c, &part[k], type);
        room += region_cells(&part[k]) * (int64_t)number_size(type);
    }
    m->room = room < INT_MAX ? (int)room : INT_MAX;
}

void mpi_pack_free(mpi_pack *m)
{
    for (int k = 0; k < m->parts; ++k) MPI_Type_free(&m->part[k]);
}

void mpi_pack_run(void *with, int64_t times)
{
    const mpi_pack *m = with;
    for (int64_t t = 0; t < times; ++t) {
        int at = 0;
        for (int k = 0; k < m->parts; ++k)
            MPI_Pack(m->cells, 1, m->part[k], m->packed, m->room, &at, MPI_COMM_WORLD);
    }
}

void mpi_pack_run_unpack(void *with, int64_t times)
{
    const mpi_pack *m = with;
    for (int64_t t = 0; t < times; ++t) {
        int at = 0;
        for (int k = 0; k < m->parts; ++k)
            MPI_Unpack(m->packed, m->room, &at, m->cells, 1, m->part[k], MPI_COMM_WORLD);
    }
}
