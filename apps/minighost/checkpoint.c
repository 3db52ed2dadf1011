/* SPDX-License-Identifier: BSD-3-Clause */
/** @file checkpoint.c
 *  What a restart takes from a checkpoint, and what must be as it was. */
#include "config.h"

#include "checkpoint.h"

#include <inttypes.h>
#include <string.h>

#include "failure.h"

/* Take a value where it was not given; where it must be the same, it must. */
static void take(const checkpoint *c, const options *o, const char *name, int64_t *value,
                 int64_t written, bool same)
{
    if (!options_given(o, name)) *value = written;
    else if (same && *value != written)
        failure_note("--%s %" PRId64 ": checkpoint %s was written with %" PRId64, name, *value,
                     c->path, written);
}

static void take_grid(const checkpoint *c, options *o)
{
    static const char *const names[] = {"scaling", "nx", "ny", "nz", "ndim"};
    for (int k = 0; k < 5; ++k)
        if (options_given(o, names[k])) return;
    o->scaling = SCALING_STRONG;
    memcpy(o->n, c->is.global, sizeof o->n);
}

static void take_type(const checkpoint *c, options *o)
{
    const number type = c->is.type;
    if (!options_given(o, "type")) o->type = type;
    else if (o->type != type)
        failure_note("--type %s: checkpoint %s was written with %s", number_name(o->type), c->path,
                     number_name(type));
}

void checkpoint_options(const checkpoint *c, options *o)
{
    const checkpoint_state *is = &c->is;
    take_grid(c, o);
    take_type(c, o);
    take(c, o, "num_vars", &o->num_vars, is->variables, true);
    take(c, o, "stencil", &o->stencil, is->stencil, true);
    take(c, o, "debug_grid", &o->debug_grid, is->debug_grid, true);
    take(c, o, "comm_method", &o->comm_method, is->comm_method, false);
    take(c, o, "num_spikes", &o->num_spikes, is->num_spikes, false);
    take(c, o, "num_tsteps", &o->num_tsteps, is->num_tsteps, false);
    take(c, o, "percent_sum", &o->percent_sum, is->percent_sum, false);
    take(c, o, "report_diffusion", &o->report_diffusion, is->report_diffusion, false);
    take(c, o, "error_tol", &o->error_tol, is->error_tol, false);
    if (o->num_tsteps < is->step)
        failure_note("--num_tsteps %" PRId64 ": checkpoint %s is of time step %" PRId64,
                     o->num_tsteps, c->path, is->step);
    if ((o->num_spikes > 0 ? o->num_spikes : 1) < is->round)
        failure_note("--num_spikes %" PRId64 ": checkpoint %s is of spike %" PRId64, o->num_spikes,
                     c->path, is->round);
}

void checkpoint_compare(const checkpoint *c, const problem *p)
{
    const int64_t *mine = p->global, *its = c->is.global;
    if (memcmp(mine, its, sizeof p->global) != 0)
        failure_note("checkpoint %s is of a grid of %" PRId64 " x %" PRId64 " x %" PRId64
                     " cells, not %" PRId64 " x %" PRId64 " x %" PRId64,
                     c->path, its[0], its[1], its[2], mine[0], mine[1], mine[2]);
}
