/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat in a cube with one hot wall, at the low end of x, and five insulated ones, distributed over
 * all ranks. Each rank computes on the device that META_MODE or META_RANK_MAP gives it, by the
 * kernels in heat.kernel.h. The boundary conditions are kernels too, one of the program's own and one
 * of libmeta's: they set the ghost cells at the walls, as the halo exchange sets those between ranks.
 *
 *     $(meta-info --launcher) -n 2 ./heat [--check] [STEPS]
 *
 * --check computes the same serially and counts the cells that differ in any bit. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "heat.kernel.h"

#include <meta_comm.h>
#include <meta_library.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

enum { N = 40 }; /* cells along an edge of the whole grid */
static const double wall = 1, k = 0.125;

/* ------------------------------------------------------------------ the walls */

/* Set the ghosts of @p now, whose own cells are @p own, that lie beyond a wall: by the library's
 * condition of no difference across it, or at the hot wall by a kernel of the program's own. */
static void set_walls(double *now, const meta_box *own, MPI_Comm cart)
{
    for (int d = 0; d < 3; ++d) {
        int beyond[2];
        MPI_Cart_shift(cart, d, 1, &beyond[0], &beyond[1]);
        for (int high = 0; high < 2; ++high) {
            const meta_slab side = high ? META_SLAB_HIGH_GHOST : META_SLAB_LOW_GHOST;
            if (beyond[high] != MPI_PROC_NULL) continue;
            if (d == 0 && !high) {
                int64_t ghost, inner; /* to be added to the address */
                meta_box cells;
                TRY(meta_boundary_slab(&cells, &ghost, &inner, own, d, side, 0, 0));
                TRY(fixed_f64(&cells, now + ghost, now + inner, wall, META_ASYNC));
            } else {
                TRY(meta_boundary(now, own, d, side, 1, META_BOUNDARY_GRADIENT, NULL, META_F64,
                                  META_ASYNC));
            }
        }
    }
}

/* ------------------------------------------------------------------ the serial computation */

enum { Y = N + 2, Z = (N + 2) * (N + 2) };

/* A cell's number in an array with ghosts around the grid. */
static int64_t cell(int64_t x, int64_t y, int64_t z)
{
    return (z + 1) * Z + (y + 1) * Y + x + 1;
}

static double begin(int64_t x, int64_t y, int64_t z)
{
    return (double)((x + 3 * y + 7 * z) % 16) / 16;
}

/* The whole grid after @p steps, with ghosts; free() it. */
static double *compute_serially(int steps)
{
    double *now = calloc(2 * Z * (N + 2), sizeof *now), *next = now + Z * (N + 2), *all = now;
    if (!now) MPI_Abort(MPI_COMM_WORLD, 1);
#define EACH(a, b)                                                                                 \
    for (int64_t b = 0; b < N; ++b)                                                                \
        for (int64_t a = 0; a < N; ++a)
    for (int64_t z = 0; z < N; ++z) EACH(x, y) now[cell(x, y, z)] = begin(x, y, z);
    for (; steps > 0; --steps) {
        EACH(a, b)
        {
            now[cell(-1, a, b)] = (8 * wall - 6 * now[cell(0, a, b)] + now[cell(1, a, b)]) / 3;
            now[cell(N, a, b)] = now[cell(N - 1, a, b)];
            now[cell(a, -1, b)] = now[cell(a, 0, b)];
            now[cell(a, N, b)] = now[cell(a, N - 1, b)];
            now[cell(a, b, -1)] = now[cell(a, b, 0)];
            now[cell(a, b, N)] = now[cell(a, b, N - 1)];
        }
        for (int64_t z = 0; z < N; ++z) EACH(x, y)
            {
                const int64_t c = cell(x, y, z);
                next[c] = now[c] + k * (now[c - 1] + now[c + 1] + now[c - Y] + now[c + Y] +
                                        now[c - Z] + now[c + Z] - 6 * now[c]);
            }
        double *swap = now;
        now = next, next = swap;
    }
    if (now != all) memcpy(all, now, Z * (N + 2) * sizeof *all);
    return all;
}

/* ------------------------------------------------------------------ the program */

int main(int argc, char **argv)
{
    int rank, ranks, dims[3] = {0, 0, 0}, walls[3] = {0, 0, 0}, at[3], ghosts[3] = {1, 1, 1};
    int64_t first[3], cells[3], wrong = 0;
    double change = 0;
    void *now, *next;
    MPI_Comm cart;
    meta_halo halo;
    meta_box own;

    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    const int check = argc > 1 && strcmp(argv[1], "--check") == 0;
    const int steps = argc > 1 + check ? atoi(argv[1 + check]) : 100;

    /* This rank's cells: first … first + cells - 1 along each dimension. */
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, walls, 0, &cart);
    MPI_Cart_coords(cart, rank, 3, at);
    for (int d = 0; d < 3; ++d) {
        first[d] = N * at[d] / dims[d];
        cells[d] = N * (at[d] + 1) / dims[d] - first[d];
    }
    TRY(meta_grid_alloc(&now, &own, 3, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&next, &own, 3, cells, ghosts, ghosts, META_F64));
    const meta_halo_desc desc = META_HALO_DESC(cart, own, 1, META_HALO_FACES, 1, META_F64);
    TRY(meta_halo_create(&halo, &desc));

    /* This rank's cells on the host, in a dense array. */
    const meta_box dense = {3, {cells[0], cells[1], cells[2]}, {0}, {cells[0], cells[1], cells[2]}};
    const int64_t count = cells[0] * cells[1] * cells[2];
    double *host = malloc((size_t)count * sizeof *host);
    if (!host) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t n = 0; n < count; ++n)
        host[n] = begin(first[0] + n % cells[0], first[1] + n / cells[0] % cells[1],
                        first[2] + n / cells[0] / cells[1]);
    TRY(meta_copy_box_h2d(now, &own, host, &dense, META_F64, NULL));

    for (int step = 0; step < steps; ++step) {
        TRY(meta_halo_exchange(halo, &now, META_ASYNC));
        set_walls(now, &own, cart);
        TRY(heat_f64(&own, next, now, k, &change, NULL));
        void *swap = now;
        now = next, next = swap;
    }
    TRY(meta_allreduce(&change, &change, 1, META_MAX, META_F64, NULL));
    if (rank == 0) printf("%d ranks: largest change in step %d: %g\n", ranks, steps, change);

    if (check) {
        double *serial = compute_serially(steps);
        TRY(meta_copy_box_d2h(host, &dense, now, &own, META_F64, NULL));
        for (int64_t n = 0; n < count; ++n)
            wrong +=
                host[n] != serial[cell(first[0] + n % cells[0], first[1] + n / cells[0] % cells[1],
                                       first[2] + n / cells[0] / cells[1])];
        free(serial);
        TRY(meta_allreduce(&wrong, &wrong, 1, META_SUM, META_I64, NULL));
        if (rank == 0) printf("wrong cells: %lld\n", (long long)wrong);
    }
    free(host);
    TRY(meta_halo_free(&halo));
    TRY(meta_free(now));
    TRY(meta_free(next));
    MPI_Comm_free(&cart);
    TRY(meta_comm_finalize());
    return wrong > 0;
}
