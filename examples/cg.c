/* SPDX-License-Identifier: BSD-3-Clause */
/* Conjugate gradients for Poisson's equation in a cube with value 0 around it, distributed over all
 * ranks. Each rank computes on the device that META_MODE or META_RANK_MAP gives it, by the kernels
 * in cg.kernel.h.
 *
 *     $(meta-info --launcher) -n 2 ./cg [--check] [CELLS]
 *
 * CELLS is the number of cells along an edge of the whole grid, 32 without it. --check solves the
 * same serially and counts the cells that differ by more than a 10^-8 of the largest: sums are
 * added in another order on each device, so the iterations do not agree in all bits. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "cg.kernel.h"

#include <inttypes.h>
#include <math.h>
#include <meta_comm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

/* Iterations before UNTIMED are not timed: kernels are compiled, and devices tried out. */
enum { MOST_ITERATIONS = 500, UNTIMED = 20, WRONG_USAGE = 2 };
static int64_t edge = 32;              /* cells along an edge of the whole grid */
static const double tolerance = 1e-11; /* of the residual, relative to the first */

/* ------------------------------------------------------------------ the serial computation */

/* A cell's number in an array that has a cell of value 0 around the grid. */
static int64_t cell(int64_t x, int64_t y, int64_t z)
{
    return ((z + 1) * (edge + 2) + y + 1) * (edge + 2) + x + 1;
}

#define EACH_CELL                                                                                  \
    for (int64_t z = 0; z < edge; ++z)                                                             \
        for (int64_t y = 0; y < edge; ++y)                                                         \
            for (int64_t x = 0, c = cell(0, y, z); x < edge; ++x, ++c)

/* The solution, with the cells around it; free() it. */
static double *solve_serially(void)
{
    const int64_t all = (edge + 2) * (edge + 2) * (edge + 2), Y = edge + 2,
                  Z = (edge + 2) * (edge + 2);
    double *value = calloc(4 * (size_t)all, sizeof *value), rr = 0;
    double *r = value + all, *p = r + all, *q = p + all;
    if (!value) MPI_Abort(MPI_COMM_WORLD, 1);
    EACH_CELL
    {
        r[c] = p[c] = (double)((7 * x + 5 * y + 3 * z) % 11 - 5);
        rr += r[c] * r[c];
    }
    const double end = tolerance * tolerance * rr;
    for (int n = 0; n < MOST_ITERATIONS && rr > end; ++n) {
        double pq = 0, rr_new = 0;
        EACH_CELL
        {
            q[c] = 6 * p[c] - p[c - 1] - p[c + 1] - p[c - Y] - p[c + Y] - p[c - Z] - p[c + Z];
            pq += p[c] * q[c];
        }
        const double alpha = rr / pq;
        EACH_CELL
        {
            value[c] += alpha * p[c];
            r[c] -= alpha * q[c];
            rr_new += r[c] * r[c];
        }
        EACH_CELL p[c] = r[c] + rr_new / rr * p[c];
        rr = rr_new;
    }
    return value;
}

/* ------------------------------------------------------------------ the program */

static int is_size(const char *text, int64_t *cells)
{
    char *end;
    *cells = strtoll(text, &end, 10);
    return end != text && !*end && *cells >= 8 && *cells <= 1024;
}

static double sum_over_ranks(double part)
{
    TRY(meta_allreduce(&part, &part, 1, META_SUM, META_F64, NULL));
    return part;
}

int main(int argc, char **argv)
{
    int rank, ranks, dims[3] = {0, 0, 0}, open_ended[3] = {0, 0, 0}, at[3], ghosts[3] = {1, 1, 1};
    int64_t first[3], cells[3], wrong = 0;
    double part, zero = 0, begin = 0;
    void *solution, *r, *p, *q;
    MPI_Comm cart;
    meta_halo halo;
    meta_box own;

    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    const int check = argc > 1 && strcmp(argv[1], "--check") == 0;
    if (argc > 1 + check && !is_size(argv[1 + check], &edge)) {
        if (rank == 0) fprintf(stderr, "usage: cg [--check] [CELLS], CELLS from 8 to 1024\n");
        TRY(meta_comm_finalize());
        return WRONG_USAGE;
    }

    /* This rank's cells: first … first + cells - 1 along each dimension. */
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, open_ended, 0, &cart);
    MPI_Cart_coords(cart, rank, 3, at);
    for (int d = 0; d < 3; ++d) {
        first[d] = edge * at[d] / dims[d];
        cells[d] = edge * (at[d] + 1) / dims[d] - first[d];
    }
    TRY(meta_grid_alloc(&solution, &own, 3, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&r, &own, 3, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&p, &own, 3, cells, ghosts, ghosts, META_F64));
    TRY(meta_grid_alloc(&q, &own, 3, cells, ghosts, ghosts, META_F64));
    const meta_halo_desc desc = META_HALO_DESC(cart, own, 1, META_HALO_FACES, 1, META_F64);
    TRY(meta_halo_create(&halo, &desc));

    /* The ghosts around the whole grid stay 0: an exchange leaves them alone. */
    const meta_box all = {
        3, {own.size[0], own.size[1], own.size[2]}, {0}, {own.size[0], own.size[1], own.size[2]}};
    TRY(meta_fill_box(p, &all, &zero, META_F64, META_ASYNC));
    TRY(begin_f64(&own, solution, r, p, own.start[0] - first[0], own.start[1] - first[1],
                  own.start[2] - first[2], &part, NULL));
    double rr = sum_over_ranks(part);
    const double rr_first = rr;
    int n = 0;
    for (; n < MOST_ITERATIONS && rr > tolerance * tolerance * rr_first; ++n) {
        if (n == UNTIMED) begin = MPI_Wtime();
        TRY(meta_halo_exchange(halo, &p, META_ASYNC));
        TRY(apply_f64(&own, q, p, &part, NULL));
        const double alpha = rr / sum_over_ranks(part);
        TRY(descend_f64(&own, solution, r, p, q, alpha, &part, NULL));
        const double rr_new = sum_over_ranks(part);
        TRY(xpay_f64(&own, p, r, rr_new / rr, META_ASYNC));
        rr = rr_new;
    }
    if (n > UNTIMED) {
        TRY(meta_flush());
        if (rank == 0)
            printf("%" PRId64 " cells an edge: %.3f us an iteration\n", edge,
                   (MPI_Wtime() - begin) / (n - UNTIMED) * 1e6);
    }
    if (rank == 0)
        printf("%d ranks: %d iterations, residual %.1e of the first\n", ranks, n,
               sqrt(rr / rr_first));

    if (check) {
        const meta_box dense = {
            3, {cells[0], cells[1], cells[2]}, {0}, {cells[0], cells[1], cells[2]}};
        const int64_t count = cells[0] * cells[1] * cells[2];
        double *serial = solve_serially(), largest = 0;
        double *here = malloc((size_t)count * sizeof *here);
        if (!here) MPI_Abort(MPI_COMM_WORLD, 1);
        TRY(meta_copy_box_d2h(here, &dense, solution, &own, META_F64, NULL));
        EACH_CELL largest = fmax(largest, fabs(serial[c]));
        for (int64_t k = 0; k < count; ++k) {
            const int64_t c = cell(first[0] + k % cells[0], first[1] + k / cells[0] % cells[1],
                                   first[2] + k / cells[0] / cells[1]);
            wrong += !(fabs(here[k] - serial[c]) <= 1e-8 * largest);
        }
        free(here);
        free(serial);
        TRY(meta_allreduce(&wrong, &wrong, 1, META_SUM, META_I64, NULL));
        if (rank == 0) printf("wrong cells: %lld\n", (long long)wrong);
    }
    TRY(meta_halo_free(&halo));
    TRY(meta_free(solution));
    TRY(meta_free(r));
    TRY(meta_free(p));
    TRY(meta_free(q));
    MPI_Comm_free(&cart);
    TRY(meta_comm_finalize());
    return wrong > 0;
}
