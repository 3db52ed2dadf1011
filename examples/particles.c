/* SPDX-License-Identifier: BSD-3-Clause */
/* Particles in a periodic cube leave their charge on a grid that is distributed over all ranks, as
 * in a particle-in-cell code. A rank's particles also reach cells of its neighbours: what they
 * leave in the ghost cells is added to the neighbours' own cells (META_HALO_ADD). Each rank
 * computes on the device that META_MODE or META_RANK_MAP gives it, by the kernels in
 * particles.kernel.h.
 *
 *     $(meta-info --launcher) -n 2 ./particles [--check] [STEPS]
 *
 * Particles stay within a cell of their homes, so that none leaves its rank. Places are multiples
 * of 1/16 and charges whole: all sums are exact, in whatever order the atomic additions come.
 * --check computes the same serially and counts the cells that differ in any bit. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "particles.kernel.h"

#include <meta_comm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

enum { N = 24, EACH = 3, GHOSTS = 2 }; /* cells along an edge; particles a cell has at first */

/* Particle @p k of a cell: its home along axis @p d, and its speed in cells a step. */
static double home_of(const int64_t cell[3], int k, int d)
{
    const int64_t mixed = 7 * cell[0] + 3 * cell[1] + 5 * cell[2] + 11 * k + 13 * d;
    return (double)cell[d] + (double)(mixed * mixed % 16) / 16;
}

static double speed_of(const int64_t cell[3], int k, int d)
{
    return (double)((cell[d] + k + 2 * d) % 7 - 3) / 16;
}

static double charge_of(int k)
{
    return k == 0 ? 2 : -k;
}

/* ------------------------------------------------------------------ the serial computation */

static void deposit_serially(double *rho, const double place[3], double charge)
{
    for (int c = 0; c < 8; ++c) {
        int64_t n = 0, stride = 1;
        double weight = charge;
        for (int d = 0; d < 3; ++d, stride *= N) {
            const int64_t at = (int64_t)(place[d] + N) - N, next = c >> d & 1;
            const double part = place[d] - (double)at;
            weight *= next ? part : 1 - part;
            n += (at + next + N) % N * stride;
        }
        rho[n] += weight;
    }
}

/* The charge of all cells of the cube after @p steps; free() it. */
static double *compute_serially(int steps)
{
    double *rho = calloc(N * N * N, sizeof *rho), place[3];
    if (!rho) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t n = 0; n < N * N * N * EACH; ++n) {
        const int64_t cell[3] = {n / EACH % N, n / EACH / N % N, n / EACH / N / N};
        const int k = (int)(n % EACH);
        for (int d = 0; d < 3; ++d) {
            const double home = place[d] = home_of(cell, k, d);
            double speed = speed_of(cell, k, d);
            for (int step = 0; step < steps; ++step) {
                const double next = place[d] + speed, away = next - home;
                if (away > -1 && away < 1) place[d] = next;
                else speed = -speed;
            }
        }
        deposit_serially(rho, place, charge_of(k));
    }
    return rho;
}

/* ------------------------------------------------------------------ the program */

int main(int argc, char **argv)
{
    int rank, ranks, dims[3] = {0, 0, 0}, periodic[3] = {1, 1, 1}, at[3];
    const int ghosts[3] = {GHOSTS, GHOSTS, GHOSTS};
    int64_t first[3], cells[3], wrong = 0;
    double total = 0, zero = 0;
    MPI_Comm cart;
    meta_halo halo;
    meta_box own;
    void *rho;

    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    const int check = argc > 1 && strcmp(argv[1], "--check") == 0;
    const int steps = argc > 1 + check ? atoi(argv[1 + check]) : 100;

    /* This rank's cells: first … first + cells - 1 along each dimension. */
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periodic, 0, &cart);
    MPI_Cart_coords(cart, rank, 3, at);
    for (int d = 0; d < 3; ++d) {
        first[d] = N * at[d] / dims[d];
        cells[d] = N * (at[d] + 1) / dims[d] - first[d];
    }
    TRY(meta_grid_alloc(&rho, &own, 3, cells, ghosts, ghosts, META_F64));
    meta_halo_desc desc = META_HALO_DESC(cart, own, GHOSTS, META_HALO_ALL, 1, META_F64);
    desc.op = META_HALO_ADD;
    TRY(meta_halo_create(&halo, &desc));

    /* Its particles: arrays of their places, speeds and homes along each axis, and charges. */
    const int64_t own_cells = cells[0] * cells[1] * cells[2], count = own_cells * EACH;
    double *host = malloc((size_t)count * 10 * sizeof *host), *place[3], *speed[3], *home[3],
           *charge;
    void *device;
    if (!host) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t n = 0; n < count; ++n) {
        const int64_t c = n / EACH,
                      cell[3] = {first[0] + c % cells[0], first[1] + c / cells[0] % cells[1],
                                 first[2] + c / cells[0] / cells[1]};
        const int k = (int)(n % EACH);
        for (int d = 0; d < 3; ++d) {
            host[n + d * count] = home_of(cell, k, d) - (double)(first[d] - own.start[d]);
            host[n + (d + 3) * count] = speed_of(cell, k, d);
            host[n + (d + 6) * count] = host[n + d * count];
        }
        host[n + 9 * count] = charge_of(k);
    }
    TRY(meta_alloc(&device, (size_t)count * 10 * sizeof *host));
    TRY(meta_copy_h2d(device, host, (size_t)count * 10 * sizeof *host, NULL));
    for (int d = 0; d < 3; ++d) {
        place[d] = (double *)device + d * count;
        speed[d] = place[d] + 3 * count;
        home[d] = place[d] + 6 * count;
    }
    charge = (double *)device + 9 * count;

    const meta_box all = {1, {count}, {0}, {count}};
    const int64_t row = own.size[0], plane = own.size[0] * own.size[1];
    for (int step = 0; step < steps; ++step) {
        for (int d = 0; d < 3; ++d) TRY(swing_f64(&all, place[d], speed[d], home[d], META_ASYNC));
        TRY(meta_fill(rho, plane * own.size[2], &zero, META_F64, META_ASYNC));
        TRY(deposit_f64(&all, place[0], place[1], place[2], charge, rho, row, plane, META_ASYNC));
        TRY(meta_halo_exchange(halo, &rho, META_ASYNC));
    }
    TRY(meta_reduce(&total, rho, &own, META_SUM, META_F64, NULL));
    TRY(meta_allreduce(&total, &total, 1, META_SUM, META_F64, NULL));
    if (rank == 0) printf("%d ranks: total charge after %d steps: %g\n", ranks, steps, total);

    if (check) {
        double *serial = compute_serially(steps);
        const meta_box dense = {
            3, {cells[0], cells[1], cells[2]}, {0}, {cells[0], cells[1], cells[2]}};
        TRY(meta_copy_box_d2h(host, &dense, rho, &own, META_F64, NULL));
        for (int64_t n = 0; n < own_cells; ++n)
            wrong += host[n] !=
                     serial[first[0] + n % cells[0] + (first[1] + n / cells[0] % cells[1]) * N +
                            (first[2] + n / cells[0] / cells[1]) * N * N];
        free(serial);
        TRY(meta_allreduce(&wrong, &wrong, 1, META_SUM, META_I64, NULL));
        if (rank == 0) printf("wrong cells: %lld\n", (long long)wrong);
    }
    free(host);
    TRY(meta_halo_free(&halo));
    TRY(meta_free(rho));
    TRY(meta_free(device));
    MPI_Comm_free(&cart);
    TRY(meta_comm_finalize());
    return wrong > 0;
}
