/* SPDX-License-Identifier: BSD-3-Clause */
/** @file in_comm.c
 *  Component comm; MPI's header and library come with it. */
#include <meta_comm.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, ranks, one = 1, sum = 0;
    meta_err err = meta_comm_init(&argc, &argv);
    if (!err) err = meta_comm_rank(&rank, &ranks);
    if (!err) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!err) err = meta_comm_finalize();
    if (err) return fprintf(stderr, "%s\n", meta_last_error()), 1;
    if (rank == 0) printf("ranks %s\n", sum == ranks ? "right" : "wrong");
    return 0;
}
