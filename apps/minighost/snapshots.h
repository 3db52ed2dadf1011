/* SPDX-License-Identifier: BSD-3-Clause */
/** @file snapshots.h
 *  Snapshots of a run: the files of --vti and --png, written every N time steps. */
#ifndef SNAPSHOTS_H
#define SNAPSHOTS_H

#include "problem.h"
#include "source.h"

typedef struct snapshots {
    const problem *p;
    int64_t written, failed, last; /**< the time step of the one written last */
} snapshots;

/** Note a failure if none can be written. */
void snapshots_begin(snapshots *s, const problem *p);
/** Collective. Write one after @p step time steps of @p round and @p before in others, where it is
 * time for it. A failure is printed as a warning, and forgotten. */
void snapshots_take(snapshots *s, int round, int64_t step, int64_t before, const grid_source *from);

/** The name PREFIX_STEPend; to be freed. NULL and a failure noted if there is no room. */
char *snapshot_name(const char *prefix, int64_t step, const char *end);

#endif
