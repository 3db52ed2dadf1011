/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ranks.c
 *  The table of ranks and what each of them computes on. */
#include "config.h"

#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

typedef struct row {
    char host[64];
    where here;
} row;

static void print_row(int rank, const row *r)
{
    char threads[16] = "-";
    if (r->here.threads > 0) snprintf(threads, sizeof threads, "%d", r->here.threads);
    printf("%5d  %-20s  %-10s  %7s  %s\n", rank, r->host, r->here.backend, threads, r->here.device);
}

void ranks_print(MPI_Comm comm)
{
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
    row mine = {"", {"", "", 0}};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Get_processor_name(host, &length);
    snprintf(mine.host, sizeof mine.host, "%.63s", host);
    where_am_i(comm, &mine.here);

    row *all = rank == 0 ? calloc((size_t)size, sizeof *all) : NULL;
    if (rank == 0 && all == NULL) failure_note_memory((double)size * sizeof *all);
    if (failure_agree(comm)) {
        free(all);
        return;
    }
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, comm);
    if (rank == 0) {
        printf("\n%5s  %-20s  %-10s  %7s  %s\n", "rank", "host", "back end", "threads", "device");
        for (int r = 0; r < size; ++r) print_row(r, &all[r]);
        printf("\n");
        fflush(stdout);
    }
    free(all);
}
