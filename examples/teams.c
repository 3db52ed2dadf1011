/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of teams with shared memory: a transpose by tiles, sums of blocks, a product of matrices.
 * Each rank transposes a matrix of its own, multiplies it by the transpose, and sums the rows'
 * blocks, on the device that META_MODE or META_RANK_MAP gives it; see teams.kernel.h.
 *
 *     $(meta-info --launcher) -n 2 ./teams [--check] [ROWS]
 *
 * --check computes the same serially and counts the cells that differ in any bit. */
#define META_KERNELS_HERE /* the one file that holds the program's kernels */
#include "teams.kernel.h"

#include <meta_comm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if (call) fprintf(stderr, "%s\n", meta_last_error()), MPI_Abort(MPI_COMM_WORLD, 1);        \
    } while (0)

enum { COLUMNS = 75, BLOCK = 256 };

/* ------------------------------------------------------------------ the serial computation */

/* In the order of kernel block_sum. */
static double sum_of_block(const double *x, int64_t count)
{
    double part[BLOCK];
    memcpy(part, x, (size_t)count * sizeof *x);
    for (int64_t gap = BLOCK / 2; gap > 0; gap /= 2)
        for (int64_t n = 0; n < gap && n + gap < count; ++n) part[n] += part[n + gap];
    return part[0];
}

/* How many elements differ of the product of @p a, with its transpose, and of the blocks' sums. */
static int64_t count_wrong(const double *a, int64_t rows, const double *product, const double *sums)
{
    int64_t wrong = 0;
    for (int64_t y = 0; y < rows; ++y)
        for (int64_t x = 0; x < rows; ++x) {
            double sum = 0;
            for (int64_t k = 0; k < COLUMNS; ++k) sum += a[y * COLUMNS + k] * a[x * COLUMNS + k];
            wrong += product[y * rows + x] != sum;
        }
    for (int64_t n = 0; n < rows * rows; n += BLOCK) {
        const int64_t count = n + BLOCK < rows * rows ? BLOCK : rows * rows - n;
        wrong += sums[n / BLOCK] != sum_of_block(product + n, count);
    }
    return wrong;
}

/* ------------------------------------------------------------------ the program */

int main(int argc, char **argv)
{
    int rank, ranks;
    int64_t wrong = 0;
    double total = 0;
    void *a, *turned, *product, *sums;

    TRY(meta_comm_init(&argc, &argv));
    TRY(meta_comm_rank(&rank, &ranks));
    const int check = argc > 1 && strcmp(argv[1], "--check") == 0;
    const int64_t rows = argc > 1 + check ? atoi(argv[1 + check]) : 500;
    if (rows < 1) MPI_Abort(MPI_COMM_WORLD, 1);
    const int64_t cells = rows * rows, blocks = (cells + BLOCK - 1) / BLOCK;

    double *host = malloc((size_t)(rows * COLUMNS + cells + blocks) * sizeof *host);
    if (!host) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t n = 0; n < rows * COLUMNS; ++n) host[n] = (double)((n + rank) * 7 % 31) / 8 - 1.3;

    TRY(meta_alloc(&a, (size_t)(rows * COLUMNS) * sizeof *host));
    TRY(meta_alloc(&turned, (size_t)(rows * COLUMNS) * sizeof *host));
    TRY(meta_alloc(&product, (size_t)cells * sizeof *host));
    TRY(meta_alloc(&sums, (size_t)blocks * sizeof *host));
    TRY(meta_copy_h2d(a, host, (size_t)(rows * COLUMNS) * sizeof *host, NULL));

    const meta_box matrix = {2, {COLUMNS, rows}, {0, 0}, {COLUMNS, rows}};
    const meta_box square = {2, {rows, rows}, {0, 0}, {rows, rows}};
    const meta_box line = {1, {cells}, {0}, {cells}};
    TRY(transpose_f64(&matrix, turned, a, rows, META_ASYNC));
    TRY(multiply_f64(&square, product, a, turned, COLUMNS, rows, META_ASYNC));
    TRY(block_sum_f64(&line, sums, product, META_ASYNC));
    TRY(meta_reduce(&total, sums, &(meta_box){1, {blocks}, {0}, {blocks}}, META_SUM, META_F64,
                    NULL));
    TRY(meta_allreduce(&total, &total, 1, META_SUM, META_F64, NULL));
    if (rank == 0) printf("%d ranks: sum of all elements %.6f\n", ranks, total);

    if (check) {
        double *found = host + rows * COLUMNS;
        TRY(meta_copy_d2h(found, product, (size_t)cells * sizeof *host, NULL));
        TRY(meta_copy_d2h(found + cells, sums, (size_t)blocks * sizeof *host, NULL));
        wrong = count_wrong(host, rows, found, found + cells);
        TRY(meta_allreduce(&wrong, &wrong, 1, META_SUM, META_I64, NULL));
        if (rank == 0) printf("wrong cells: %lld\n", (long long)wrong);
    }
    free(host);
    TRY(meta_free(a));
    TRY(meta_free(turned));
    TRY(meta_free(product));
    TRY(meta_free(sums));
    TRY(meta_comm_finalize());
    return wrong > 0;
}
