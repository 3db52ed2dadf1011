/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node.c
 *  The ranks of one node and how they share its cores. */
#include "life/life.h"

#include <stdlib.h>

static int count_of(const meta_cores *cores)
{
    int count = 0;
    for (int k = 0; k < META_MAX_CPUS / 64; ++k) count += __builtin_popcountll(cores->bits[k]);
    return count;
}

/* Ranks that were given cores of their own use those; others share what they have together. */
static int share_of(const meta_cores *mine, const meta_cores *all, int ranks)
{
    meta_cores all_cores = {{0}};
    bool disjoint = true;
    for (int r = 0; r < ranks; ++r)
        for (int k = 0; k < META_MAX_CPUS / 64; ++k) {
            if (all_cores.bits[k] & all[r].bits[k]) disjoint = false;
            all_cores.bits[k] |= all[r].bits[k];
        }
    comm_job.crowded = count_of(&all_cores) < ranks;
    const int share = disjoint ? count_of(mine) : count_of(&all_cores) / ranks;
    return share > 0 ? share : 1;
}

static meta_err share_cores(MPI_Comm node, int ranks, int *threads)
{
    enum { BYTES = sizeof(meta_cores) };
    meta_cores mine, *all = malloc((size_t)ranks * sizeof *all);
    meta_err error =
        all ? META_OK
            : core->fail(META_ERR_NO_MEMORY, "no memory to compare the cores of %d ranks", ranks);
    error = comm_agree(node, error);
    core->cores(&mine);
    if (error == META_OK)
        error = comm_all_gather(node, &mine, BYTES, all, "while ranks of a node share its cores");
    if (error == META_OK) error = core->set_node_cores(all, ranks);
    if (error == META_OK) *threads = share_of(&mine, all, ranks);
    free(all);
    return error;
}

meta_err comm_node_find(MPI_Comm among, int *node_rank, int *node_size, int *threads)
{
    MPI_Comm node;
    meta_err error;
    COMM_MPI(MPI_Comm_split_type, (among, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    error = comm_mpi(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    if (error == META_OK) error = comm_mpi(MPI_Comm_rank(node, node_rank), "MPI_Comm_rank");
    if (error == META_OK) error = comm_mpi(MPI_Comm_size(node, node_size), "MPI_Comm_size");
    if (error == META_OK) error = share_cores(node, *node_size, threads);
    MPI_Comm_free(&node);
    return error;
}
