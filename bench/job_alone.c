/* SPDX-License-Identifier: BSD-3-Clause */
/** @file job_alone.c
 *  The processes that take part in a measurement, without MPI: this one. */
#include "config.h"

#include "job.h"

void job_begin(int *argc, char ***argv)
{
    (void)argc, (void)argv;
}

void job_end(void) {}

meta_err job_begin_meta(void)
{
    return meta_init();
}

meta_err job_end_meta(void)
{
    return meta_finalize();
}

const job *job_here(void)
{
    static const job here = {0, 1, 0, 1};
    return &here;
}

void job_barrier(void) {}

void job_most(double *values, int count)
{
    (void)values, (void)count;
}

void job_tell(void *data, size_t bytes, int from)
{
    (void)data, (void)bytes, (void)from;
}
