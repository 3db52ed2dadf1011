/* SPDX-License-Identifier: BSD-3-Clause */
/** @file dot3d_mpi.c
 *  The 3D dot product in plain MPI: the baseline with which dot3d.c is compared line by line. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "dot3d.h"
#include "failure.h"

struct dot3d {
    const block *k;
    void *a, *b, *send, *recv;
};

void dot3d_begin(void) {}

void dot3d_end(void) {}

dot3d *dot3d_create(const block *k, const void *fields)
{
    const size_t bytes = 2 * (size_t)(k->cells + k->plane) * number_size(k->type);
    dot3d *d = calloc(1, sizeof *d);
    if (d == NULL) {
        failure_note_memory(sizeof *d);
        return NULL;
    }
    d->k = k;
    if ((d->a = malloc(bytes)) == NULL) {
        failure_note_memory((double)bytes);
        return d;
    }
    d->b = number_at(d->a, k->cells, k->type);
    d->send = number_at(d->b, k->cells, k->type);
    d->recv = number_at(d->send, k->plane, k->type);
    memcpy(d->a, fields, 2 * (size_t)k->cells * number_size(k->type));
    return d;
}

void dot3d_free(dot3d *d)
{
    free(d->a);
    free(d);
}

/* A plane of constant x whose first cell is at plane. */
static void pack(const block *k, void *packed, const void *plane)
{
    const size_t size = number_size(k->type);
    for (int64_t row = 0; row < k->plane; ++row)
        memcpy(number_at(packed, row, k->type), number_at(plane, row * k->size[0], k->type), size);
}

static void unpack(const block *k, void *plane, const void *packed)
{
    const size_t size = number_size(k->type);
    for (int64_t row = 0; row < k->plane; ++row)
        memcpy(number_at(plane, row * k->size[0], k->type), number_at(packed, row, k->type), size);
}

/* Sums are wider than the type, or unsigned so that they wrap. */
#define DOT(type, wide_type)                                                                       \
    do {                                                                                           \
        const type *a = d->a, *b = d->b;                                                           \
        wide_type sum = 0;                                                                         \
        for (int64_t row = 0; row < size[1] * size[2]; ++row)                                      \
            for (int64_t i = row * size[0] + x; i < row * size[0] + end; ++i)                      \
                sum += (wide_type)a[i] * (wide_type)b[i];                                          \
        *(type *)result = (type)sum;                                                               \
    } while (0)

/* Over the planes from x up to end. */
static void dot(const dot3d *d, int64_t x, int64_t end, void *result)
{
    const int64_t *size = d->k->size;
    switch (d->k->type) {
    case NUMBER_F64:
        DOT(double, double);
        break;
    case NUMBER_F32:
        DOT(float, double);
        break;
    case NUMBER_I64:
        DOT(int64_t, uint64_t);
        break;
    case NUMBER_U64:
        DOT(uint64_t, uint64_t);
        break;
    case NUMBER_I32:
        DOT(int32_t, uint32_t);
        break;
    default:
        DOT(uint32_t, uint32_t);
        break;
    }
}

void dot3d_iterate(dot3d *d, void *result)
{
    const block *k = d->k;
    void *last = number_at(d->a, k->size[0] - 1, k->type);
    MPI_Request sent;
    pack(k, d->send, last);
    MPI_Isend(d->send, (int)k->plane, k->mpi_type, k->next, 0, k->comm, &sent);
    MPI_Recv(d->recv, (int)k->plane, k->mpi_type, k->previous, 0, k->comm, MPI_STATUS_IGNORE);
    unpack(k, d->a, d->recv);
    dot(d, 1, k->size[0], result);
    MPI_Allreduce(MPI_IN_PLACE, result, 1, k->mpi_type, MPI_SUM, k->comm);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

void dot3d_ghost(dot3d *d, void *result)
{
    dot(d, 0, 1, result);
}
