/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint_mpi.c
 *  Without libmeta there are no checkpoints: options.c refuses what would ask for one. */
#include "config.h"

#include "checkpoint.h"

#include <stddef.h>

bool checkpoint_is_there(void)
{
    return false;
}

bool checkpoint_load(checkpoint *c, const options *o)
{
    (void)o;
    *c = (checkpoint){.path = NULL};
    return false;
}

void checkpoint_free(checkpoint *c)
{
    (void)c;
}

bool checkpoint_read(checkpoint *c, const problem *p, void *cells, solver *s)
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
