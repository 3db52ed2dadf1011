/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_files.h
 *  Shared by reading and writing of checkpoints: file names and the checksums of planes. */
#ifndef CHECKPOINT_FILES_H
#define CHECKPOINT_FILES_H

#include "problem.h"

/** The name of checkpoint number @p which of @p path; to be freed. NULL and a failure noted where
 * there is no room. */
char *checkpoint_name(const char *path, int64_t which);
/** The name under which one is written. */
char *checkpoint_partial_name(const char *path);
/** The largest number of those there are; -1 if there is none. Notes a failure where the folder
 *  cannot be read. */
int64_t checkpoint_last(const char *option, const char *path);
/** The name of the one to restart from: number @p which, or the last if that is -1. NULL and a
 * failure noted if there is none. */
char *checkpoint_find(const char *path, int64_t which);

/** Room for a number for each z of the grid; NULL and a failure noted if there is none. */
uint64_t *checkpoint_planes(const problem *p);
/** Collective. Set @p planes on rank 0 to the checksums of the variable whose block's array is
 *  @p cells, of p->type. */
void checkpoint_sum_planes(const problem *p, const void *cells, uint64_t *planes);

#endif
