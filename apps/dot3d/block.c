/* SPDX-License-Identifier: BSD-3-Clause */
/** @file block.c
 *  This rank's block of the grid, the values of the two fields, and the closed forms of their
 *  products. */
#include "config.h"

#include "block.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "failure.h"

__extension__ typedef unsigned __int128 wide;

void block_create(block *k, const options *o)
{
    int rank, ranks;
    const MPI_Datatype types[NUMBER_COUNT] = {
        [NUMBER_F64] = MPI_DOUBLE,   [NUMBER_F32] = MPI_FLOAT,   [NUMBER_I64] = MPI_INT64_T,
        [NUMBER_U64] = MPI_UINT64_T, [NUMBER_I32] = MPI_INT32_T, [NUMBER_U32] = MPI_UINT32_T};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    *k = (block){.comm = MPI_COMM_WORLD,
                 .previous = (rank + ranks - 1) % ranks,
                 .next = (rank + 1) % ranks,
                 .global = {o->n[0], o->n[1], o->n[2]},
                 .plane = o->n[1] * o->n[2],
                 .planes = o->blas,
                 .type = o->type,
                 .mpi_type = types[o->type]};
    if (o->n[0] < ranks) {
        failure_note("--nx %" PRId64 ": the job has %d ranks, and each needs a plane of its own",
                     o->n[0], ranks);
        return;
    }
    const int64_t share = o->n[0] / ranks, rest = o->n[0] % ranks;
    k->first = rank * share + (rank < rest ? rank : rest);
    k->size[0] = share + (rank < rest) + 1;
    k->size[1] = o->n[1];
    k->size[2] = o->n[2];
    const int64_t bytes[] = {share + 4, o->n[1], o->n[2], 2 * (int64_t)number_size(o->type)};
    if (!number_product(bytes, 4, &k->cells)) {
        failure_note("a grid of %" PRId64 " x %" PRId64 " x %" PRId64
                     " cells is larger than any memory",
                     o->n[0], o->n[1], o->n[2]);
        return;
    }
    k->cells = k->size[0] * k->plane;
}

static void set(const block *k, void *fields, int64_t index, uint64_t value)
{
    void *cell = number_at(fields, index, k->type);
    switch (k->type) {
    case NUMBER_F64:
        *(double *)cell = (double)value;
        break;
    case NUMBER_F32:
        *(float *)cell = (float)value;
        break;
    case NUMBER_I64:
    case NUMBER_U64:
        *(uint64_t *)cell = value;
        break;
    default:
        *(uint32_t *)cell = (uint32_t)value;
        break;
    }
}

void block_fill(const block *k, void *fields)
{
    int64_t row = 0;
    for (int64_t z = 0; z < k->size[2]; ++z)
        for (int64_t y = 0; y < k->size[1]; ++y, ++row)
            for (int64_t x = 0; x < k->size[0]; ++x) {
                const int64_t index = k->planes ? x * k->plane + row : row * k->size[0] + x;
                set(k, fields, index, x == 0 ? 0 : (uint64_t)(k->first + x));
                set(k, fields, k->cells + index, (uint64_t)(y + z + 1));
            }
}

/* The sum over a plane of b. */
static wide plane_sum(const block *k)
{
    const wide ny = (wide)k->global[1], nz = (wide)k->global[2];
    return nz * (ny * (ny - 1) / 2) + ny * (nz * (nz - 1) / 2) + ny * nz;
}

static exact multiply(wide a, wide b)
{
    return (exact){(double)a * (double)b, (uint64_t)a * (uint64_t)b};
}

exact block_dot(const block *k)
{
    const wide nx = (wide)k->global[0];
    return multiply(nx * (nx + 1) / 2, plane_sum(k));
}

exact block_ghost_dot(const block *k)
{
    return multiply((wide)(k->first == 0 ? k->global[0] : k->first), plane_sum(k));
}

static double relative(double result, double right)
{
    const double error = fabs(result - right) / right;
    /* A comparison or a maximum must not lose it. */
    return isnan(error) ? INFINITY : error;
}

double block_error(const block *k, const void *result, exact right)
{
    uint64_t bits = 0;
    switch (k->type) {
    case NUMBER_F64:
        return relative(*(const double *)result, right.number);
    case NUMBER_F32:
        return relative(*(const float *)result, right.number);
    case NUMBER_I64:
    case NUMBER_U64:
        memcpy(&bits, result, 8);
        break;
    default:
        bits = *(const uint32_t *)result;
        right.bits &= UINT32_MAX;
    }
    return fabs((double)(int64_t)(bits - right.bits));
}

void block_print(const block *k, char *text, size_t room, const void *result)
{
    switch (k->type) {
    case NUMBER_F64:
        snprintf(text, room, "%.17g", *(const double *)result);
        break;
    case NUMBER_F32:
        snprintf(text, room, "%.9g", *(const float *)result);
        break;
    case NUMBER_I64:
        snprintf(text, room, "%" PRId64, *(const int64_t *)result);
        break;
    case NUMBER_U64:
        snprintf(text, room, "%" PRIu64, *(const uint64_t *)result);
        break;
    case NUMBER_I32:
        snprintf(text, room, "%" PRId32, *(const int32_t *)result);
        break;
    default:
        snprintf(text, room, "%" PRIu32, *(const uint32_t *)result);
        break;
    }
}

void block_print_exact(const block *k, char *text, size_t room, exact right)
{
    const uint32_t low = (uint32_t)right.bits;
    switch (k->type) {
    case NUMBER_F64:
    case NUMBER_F32:
        snprintf(text, room, "%.17g", right.number);
        break;
    case NUMBER_I64:
    case NUMBER_U64:
        block_print(k, text, room, &right.bits);
        break;
    default:
        block_print(k, text, room, &low);
        break;
    }
}
