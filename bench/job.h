/* SPDX-License-Identifier: BSD-3-Clause */
/** @file job.h
 *  The processes that take part in a measurement: all ranks of an MPI job, or this one alone.
 *  Everything but job_rank() is collective. */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "meta.h"

typedef struct job {
    int rank, size, node_rank, node_size;
} job;

/** Start the processes, before the command line is read; and end them. */
void job_begin(int *argc, char ***argv);
void job_end(void);
/** Start libmeta for the job, and finalise it. */
meta_err job_begin_meta(void);
meta_err job_end_meta(void);

const job *job_here(void);
void job_barrier(void);
/** Replace each of @p count values by the largest of all ranks. */
void job_most(double *values, int count);
/** Give all ranks the @p bytes that rank @p from has at @p data. */
void job_tell(void *data, size_t bytes, int from);

#endif
