/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranks.c
 *  The table of ranks and the device of each. */
#include "config.h"

#include "ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "watch.h"

static void print_row(int rank, const rank_row *r, bool with_blas)
{
    char threads[16] = "-";
    if (r->here.threads > 0) snprintf(threads, sizeof threads, "%d", r->here.threads);
    printf("%5d  %-20s  %-10s  %7s  ", rank, r->host, r->here.backend, threads);
    if (with_blas) printf("%-16s  ", r->blas);
    if (r->cells > 0) printf("%12" PRId64 "  %6.1f %%  ", r->cells, 100 * r->share);
    printf("%s\n", r->here.device);
}

void ranks_print_table(const rank_row *all, int size, bool with_blas)
{
    printf("\n%5s  %-20s  %-10s  %7s  ", "rank", "host", "back end", "threads");
    if (with_blas) printf("%-16s  ", "BLAS");
    if (all[0].cells > 0) printf("%12s  %8s  ", "cells", "share");
    printf("device\n");
    for (int r = 0; r < size; ++r) print_row(r, &all[r], with_blas);
    printf("\n");
    fflush(stdout);
}

rank_row *ranks_gather(MPI_Comm comm, const char *blas)
{
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    rank_row mine;
    memset(&mine, 0, sizeof mine);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Get_processor_name(host, &length);
    snprintf(mine.host, sizeof mine.host, "%.63s", host);
    snprintf(mine.blas, sizeof mine.blas, "%s", blas != NULL ? blas : "");
    where_am_i(comm, &mine.here);

    rank_row *all = rank == 0 ? calloc((size_t)size, sizeof *all) : NULL;
    if (rank == 0 && all == NULL) failure_note_memory((double)size * sizeof *all);
    if (failure_agree(comm)) {
        free(all);
        return NULL;
    }
    watch_begin("devices are gathered");
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, comm);
    watch_end();
    return all;
}

void ranks_print(MPI_Comm comm, const char *blas)
{
    int size;
    rank_row *all = ranks_gather(comm, blas);
    MPI_Comm_size(comm, &size);
    if (all != NULL) ranks_print_table(all, size, blas != NULL);
    free(all);
}
