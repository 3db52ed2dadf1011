/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node_memory.h
 *  The memory that a node has left, to be compared with what is needed before any of it is touched.
 */
#ifndef NODE_MEMORY_H
#define NODE_MEMORY_H

#include <mpi.h>

/** Bytes that this node can still give to all its processes together. */
double node_memory_left(void);
/** Collective. The bytes that all ranks of this node need, each @p mine. */
double node_memory_needed(MPI_Comm comm, double mine);

#endif
