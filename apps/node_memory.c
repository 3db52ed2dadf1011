/* SPDX-License-Identifier: BSD-3-Clause */
/** @file node_memory.c
 *  The memory that a node has left: with overcommit, a program that touches memory the system does
 *  not have is killed without a message. */
#include "config.h"

#include "node_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The number behind @p label in a line of the file, or at its beginning; -1 if there is none. */
static double read_number(const char *path, const char *label)
{
    char line[256];
    double value = -1;
    FILE *from = fopen(path, "r");
    if (from == NULL) return -1;
    while (value < 0 && fgets(line, sizeof line, from) != NULL)
        if (strncmp(line, label, strlen(label)) != 0 ||
            sscanf(line + strlen(label), "%lf", &value) != 1)
            value = -1;
    fclose(from);
    return value;
}

double node_memory_left(void)
{
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    double bytes = 1024 * read_number("/proc/meminfo", "MemAvailable:");
    if (bytes < 0) bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    else bytes += 1024 * fmax(0, read_number("/proc/meminfo", "SwapFree:"));
    for (int k = 0; k < 2; ++k) {
        const double limit = read_number(limits[k], "");
        if (limit >= 0) bytes = fmin(bytes, limit);
    }
    return bytes;
}

double node_memory_needed(MPI_Comm comm, double mine)
{
    double all;
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    return all;
}
