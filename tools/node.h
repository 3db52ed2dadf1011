/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node.h
 *  This node: its packages, NUMA nodes and cores, the devices beside them, and the ranks on these.
 */
#ifndef META_NODE_H
#define META_NODE_H

#include <stdbool.h>
#include <stdio.h>

#include "meta.h"

/** Cores of one package that have the same NUMA node. */
typedef struct node_domain {
    int package;       /**< -1: the machine's packages are not known */
    char memory[160];  /**< its NUMA nodes and their size; empty: not known */
    int *cores;        /**< each by the number of its first hardware thread */
    bool *is_excluded; /**< this process may not run on the core */
    int core_count;
} node_domain;

typedef struct node_device {
    meta_device_desc desc;
    int domain; /**< -1: of the whole node, or it is not known where */
} node_device;

typedef struct node_rank {
    int rank, threads;
    int device;     /**< -1: none of the node's */
    char text[544]; /**< then what it has instead */
} node_rank;

typedef struct node {
    node_domain *domains;
    node_device *devices;
    node_rank *ranks; /**< of the first node of the job */
    int domain_count, device_count, rank_count, job_ranks;
} node;

/** Fill in the domains, and where each device is. False, with the cause in @p why, where the
 *  topology cannot be read. */
bool node_find_domains(node *n, char *why, size_t room);
void node_free(node *n);

/** "openmp:0", and "rank 3, 2 threads". */
void node_name_device(const node_device *d, char *text, size_t room);
void node_name_rank(const node_rank *r, char *text, size_t room);
/** Its size, kind and place in a line. */
void node_describe_device(const node_device *d, char *text, size_t room);
/** What the picture is of. */
void node_describe(const node *n, char *text, size_t room);
int node_packages(const node *n);

/** Write it as a tree. */
void node_write_text(const node *n, FILE *to);
/** Write it as a picture. */
void node_write_svg(const node *n, FILE *to);

#endif
