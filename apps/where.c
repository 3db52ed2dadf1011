/* SPDX-License-Identifier: BSD-3-Clause */
/** @file where.c
 *  Description of a rank's device, for the libmeta versions of the proxies. */
#include "config.h"

#include <stdio.h>

#include "check.h"
#include "ranks.h"

void where_am_i(MPI_Comm comm, where *here)
{
    int rank, size, node_rank, node_size, index = 0, threads = 0;
    meta_mode mode = META_SPREAD;
    meta_device_desc device = META_DEVICE_DESC_INIT;
    MPI_Comm node;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
    MPI_Comm_free(&node);

    check(meta_get_acc(&index, &mode));
    check(meta_device_info(index, mode, &device));
    check(meta_rank_device(rank, size, node_rank, node_size, NULL, NULL, &threads));
    snprintf(here->backend, sizeof here->backend, "%s", device.backend);
    snprintf(here->device, sizeof here->device, "%s", device.name);
    here->threads = device.is_gpu ? 0 : threads;
    here->device_memory = device.is_gpu ? (double)device.memory : 0;
}
