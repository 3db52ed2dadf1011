/* SPDX-License-Identifier: BSD-3-Clause */
/* Gray-Scott on a periodic grid that is distributed over all ranks. Each rank computes on the
 * device that META_MODE or META_RANK_MAP gives it, by the kernel in gray_scott.kernel.h.
 *
 *     $(meta-info --launcher) -n 2 ./gray_scott [--check] [STEPS]
 *
 * --check computes the same serially and counts the cells that differ in any bit. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "gray_scott.kernel.h"

#include <meta_comm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

enum { N = 40 }; /* cells along an edge of the whole grid */
static const double Du = 0.16, Dv = 0.08, F = 0.025, k = 0.055, dt = 1;

/* A cell's number in the whole grid, which is periodic. */
static int64_t cell(int64_t x, int64_t y, int64_t z)
{
    return ((z + N) % N * N + (y + N) % N) * N + (x + N) % N;
}

/* The concentrations at the beginning: some V in a block in the middle. */
static void begin(int64_t c, double *u, double *v)
{
    const int64_t x = c % N, y = c / N % N, z = c / N / N;
    const int in = x > N / 3 && x < N / 2 && y > N / 3 && y < N / 2 && z > N / 4 && z < N / 2;
    *u = in ? 0.5 : 1;
    *v = in ? 0.25 + (double)((x + 3 * y + 7 * z) % 16) / 128 : 0;
}

/* ------------------------------------------------------------------ the serial computation */

static double laplacian(const double *a, int64_t x, int64_t y, int64_t z)
{
    return a[cell(x - 1, y, z)] + a[cell(x + 1, y, z)] + a[cell(x, y - 1, z)] +
           a[cell(x, y + 1, z)] + a[cell(x, y, z - 1)] + a[cell(x, y, z + 1)] -
           6 * a[cell(x, y, z)];
}

/* All cells of U, then all of V, after @p steps; free() it. */
static double *compute_serially(int steps)
{
    const int64_t cells = N * N * N;
    double *now = malloc(2 * (size_t)cells * sizeof *now);
    double *next = malloc(2 * (size_t)cells * sizeof *next);
    if (!now || !next) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t c = 0; c < cells; ++c) begin(c, &now[c], &now[cells + c]);
    for (; steps > 0; --steps) {
        for (int64_t c = 0; c < cells; ++c) {
            const int64_t x = c % N, y = c / N % N, z = c / N / N;
            const double u = now[c], v = now[cells + c], uvv = u * v * v;
            next[c] = u + dt * (Du * laplacian(now, x, y, z) - uvv + F * (1 - u));
            next[cells + c] = v + dt * (Dv * laplacian(now + cells, x, y, z) + uvv - (F + k) * v);
        }
        double *swap = now;
        now = next, next = swap;
    }
    free(next);
    return now;
}

/* ------------------------------------------------------------------ the program */

int main(int argc, char **argv)
{
    int rank, ranks, dims[3] = {0, 0, 0}, periodic[3] = {1, 1, 1}, at[3], ghosts[3] = {1, 1, 1};
    int64_t first[3], cells[3], wrong = 0;
    double change = 0;
    void *u0, *v0, *u1, *v1;
    MPI_Comm cart;
    meta_halo halo;
    meta_box own;

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
    TRY(meta_grid_alloc(&u0, &own, 3, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&v0, &own, 3, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&u1, &own, 3, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&v1, &own, 3, cells, ghosts, ghosts, META_F64));
    const meta_halo_desc desc = META_HALO_DESC(cart, own, 1, META_HALO_FACES, 2, META_F64);
    TRY(meta_halo_create(&halo, &desc));

    /* This rank's cells on the host, in a dense array, and the number in the whole grid of the
     * n-th. */
#define NUMBER(n)                                                                                  \
    cell(first[0] + (n) % cells[0], first[1] + (n) / cells[0] % cells[1],                          \
         first[2] + (n) / cells[0] / cells[1])
    const meta_box dense = {3, {cells[0], cells[1], cells[2]}, {0}, {cells[0], cells[1], cells[2]}};
    const int64_t count = cells[0] * cells[1] * cells[2];
    double *u = malloc(2 * (size_t)count * sizeof *u), *v = u + count;
    if (!u) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t n = 0; n < count; ++n) begin(NUMBER(n), &u[n], &v[n]);
    TRY(meta_copy_box_h2d(u0, &own, u, &dense, META_F64, NULL));
    TRY(meta_copy_box_h2d(v0, &own, v, &dense, META_F64, NULL));

    for (int step = 0; step < steps; ++step) {
        TRY(meta_halo_exchange(halo, (void *[]){u0, v0}, META_ASYNC));
        TRY(gray_scott_f64(&own, u1, v1, u0, v0, Du, Dv, F, k, dt, &change, NULL));
        void *swap_u = u0, *swap_v = v0;
        u0 = u1, u1 = swap_u;
        v0 = v1, v1 = swap_v;
    }
    TRY(meta_allreduce(&change, &change, 1, META_MAX, META_F64, NULL));
    if (rank == 0) printf("%d ranks: largest change of V in step %d: %g\n", ranks, steps, change);

    if (check) {
        double *serial = compute_serially(steps);
        TRY(meta_copy_box_d2h(u, &dense, u0, &own, META_F64, NULL));
        TRY(meta_copy_box_d2h(v, &dense, v0, &own, META_F64, NULL));
        for (int64_t n = 0; n < count; ++n)
            wrong += u[n] != serial[NUMBER(n)] || v[n] != serial[N * N * N + NUMBER(n)];
        free(serial);
        TRY(meta_allreduce(&wrong, &wrong, 1, META_SUM, META_I64, NULL));
        if (rank == 0) printf("wrong cells: %lld\n", (long long)wrong);
    }
    free(u);
    TRY(meta_halo_free(&halo));
    TRY(meta_free(u0));
    TRY(meta_free(v0));
    TRY(meta_free(u1));
    TRY(meta_free(v1));
    MPI_Comm_free(&cart);
    TRY(meta_comm_finalize());
    return wrong > 0;
}
