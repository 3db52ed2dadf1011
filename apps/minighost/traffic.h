/* SPDX-License-Identifier: BSD-3-Clause */
/** @file traffic.h
 *  Message counts of a time step's halo exchange. Each version of MiniGhost has its own:
 *  traffic.c and traffic_mpi.c. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "problem.h"

enum { WAY_X, WAY_Y, WAY_Z, WAY_CORNERS /**< edges and corners */, WAY_KINDS };

/** What a rank sends in a time step; it receives the same from the same ranks. */
typedef struct traffic {
    double messages[WAY_KINDS], cells[WAY_KINDS];
    double least, most; /**< cells of a message; 0 if there is none */
} traffic;

void traffic_count(const problem *p, traffic *t);

/** Count @p messages of @p cells each. */
static inline void traffic_add(traffic *t, int kind, double messages, double cells)
{
    if (t->least == 0 || cells < t->least) t->least = cells;
    if (cells > t->most) t->most = cells;
    t->messages[kind] += messages;
    t->cells[kind] += messages * cells;
}

#endif
