/* SPDX-License-Identifier: BSD-3-Clause */
/* What euler.c computes, with the same bits, in plain MPI and OpenMP without libmeta: to compare
 * the two in speed and in length. A step is in euler_mpi_step.h.
 *
 *     $(meta-info --launcher) -n 2 ./euler_mpi PROBLEM NX NY STEPS [DENSITY]
 *
 * PROBLEM is sod-x, sod-y or blast; DENSITY is a file that gets the density, as raw numbers.
 *
 * A fair comparison compiles it as libmeta compiles kernels, for the processor that runs it:
 *
 *     mpicc -std=c11 -O3 -march=native -fopenmp -ffp-contract=off -fno-math-errno \
 *         -fno-trapping-math euler_mpi.c -lm
 *
 * Fused multiply-adds would change bits; with errno to set, GCC does not vectorize the loops that
 * have a square root. */
#include "euler_mpi_step.h"

#include <stdio.h>

enum { UNTIMED = 4, WRONG_USAGE = 2 };

static void stop(const char *why)
{
    if (rank == 0) fprintf(stderr, "euler_mpi: %s\n", why);
    MPI_Finalize();
    exit(WRONG_USAGE);
}

static void write_density(const char *path)
{
    int sizes[2] = {(int)grid[1], (int)grid[0]}, mine[2] = {(int)cells[1], (int)cells[0]};
    int starts[2] = {(int)first[1], (int)first[0]},
        array_sizes[2] = {(int)cells[1] + 2 * GHOSTS, (int)pitch};
    int ghosts[2] = {GHOSTS, GHOSTS};
    MPI_Datatype in_file, in_memory;
    MPI_File file;
    MPI_Type_create_subarray(2, sizes, mine, starts, MPI_ORDER_C, MPI_DOUBLE, &in_file);
    MPI_Type_create_subarray(2, array_sizes, mine, ghosts, MPI_ORDER_C, MPI_DOUBLE, &in_memory);
    MPI_Type_commit(&in_file), MPI_Type_commit(&in_memory);
    MPI_File_open(cart, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, in_file, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, rho, 1, in_memory, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&in_file), MPI_Type_free(&in_memory);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 5 || argc > 6) stop("usage: euler_mpi PROBLEM NX NY STEPS [DENSITY]");
    const int blast = strcmp(argv[1], "blast") == 0;
    if (!blast && strcmp(argv[1], "sod-x") != 0 && strcmp(argv[1], "sod-y") != 0)
        stop("PROBLEM is sod-x, sod-y or blast");
    if (!set_up(argv[1], atoi(argv[2]), atoi(argv[3])))
        stop("each rank needs 4 cells along each axis");
    const int most = atoi(argv[4]);
    const double end = blast ? 9 : 0.2;
    double start = 0;
    while (steps < most && reached < end) {
        if (steps == UNTIMED) start = MPI_Wtime();
        advance(end);
    }
    if (rank == 0 && steps > UNTIMED)
        printf("%d ranks: %.2f ns for a cell and a step\n", ranks,
               1e9 * (MPI_Wtime() - start) / (steps - UNTIMED) / (double)grid[0] / (double)grid[1]);
    if (argc == 6) write_density(argv[5]);
    tear_down();
    MPI_Finalize();
    return 0;
}
