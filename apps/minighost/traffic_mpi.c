/* SPDX-License-Identifier: BSD-3-Clause */
/** @file traffic_mpi.c
 *  Message counts of a time step in plain MPI: two per axis, of whole planes including their
 *  ghost cells. */
#include "config.h"

#include "traffic.h"

#include <string.h>

void traffic_count(const problem *p, traffic *t)
{
    int dims[3], periods[3], at[3];
    memset(t, 0, sizeof *t);
    MPI_Cart_get(p->cart, 3, dims, periods, at);
    for (int d = 0; d < 3; ++d)
        for (int to = at[d] - 1; to <= at[d] + 1; to += 2)
            if (to >= 0 && to < dims[d])
                traffic_add(t, WAY_X + d, p->variables / p->grouped,
                            (double)(p->cells / p->size[d]) * p->grouped);
}
