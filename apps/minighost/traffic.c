/* SPDX-License-Identifier: BSD-3-Clause */
/** @file traffic.c
 *  Message counts of a time step with libmeta's halo plan: one message per neighbour, including
 *  edge and corner neighbours if the stencil needs their cells. */
#include "config.h"

#include "traffic.h"

#include <string.h>

void traffic_count(const problem *p, traffic *t)
{
    int dims[3], periods[3], at[3];
    memset(t, 0, sizeof *t);
    MPI_Cart_get(p->cart, 3, dims, periods, at);
    for (int side = 0; side < 27; ++side) {
        int axes = 0, kind = WAY_CORNERS;
        double cells = p->grouped;
        bool there = true;
        for (int d = 0, digits = side; d < 3; ++d, digits /= 3) {
            const int way = digits % 3 - 1;
            there = there && at[d] + way >= 0 && at[d] + way < dims[d];
            if (way == 0) cells *= (double)(p->own.end[d] - p->own.start[d]);
            else if (axes++ == 0) kind = WAY_X + d;
        }
        if (!there || axes == 0 || (axes > 1 && !p->corners)) continue;
        traffic_add(t, axes > 1 ? WAY_CORNERS : kind, p->variables / p->grouped, cells);
    }
}
