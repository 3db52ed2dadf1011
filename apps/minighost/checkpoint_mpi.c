/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_mpi.c
 *  Without libmeta there are no checkpoints. */
#include "config.h"

#include "checkpoint.h"

#include <stddef.h>

#include "failure.h"

static void refuse(const char *option, const char *path)
{
    failure_note("--%s %s: this version has no checkpoints; meta-minighost has them", option, path);
}

bool checkpoint_load(checkpoint *c, const options *o)
{
    *c = (checkpoint){.path = NULL};
    refuse("restart_file", o->restart_file);
    return !failure_agree(MPI_COMM_WORLD);
}

bool checkpoint_read(const checkpoint *c, const problem *p, void *cells, solver *s)
{
    (void)c;
    (void)p;
    (void)cells;
    (void)s;
    return false;
}

void checkpoints_begin(checkpoints *w, const problem *p)
{
    *w = (checkpoints){.p = p};
    if (p->o.checkpoint_interval != 0) refuse("checkpoint_file", p->o.checkpoint_file);
}

void checkpoints_end(checkpoints *w)
{
    (void)w;
}

void checkpoints_write(checkpoints *w, int round, int64_t step, int64_t before,
                       const double *source, const double *flux, solver *s)
{
    (void)w;
    (void)round;
    (void)step;
    (void)before;
    (void)source;
    (void)flux;
    (void)s;
}
