/* SPDX-License-Identifier: BSD-3-Clause */
/** @file snapshots.c
 *  Snapshots of a run: the files of --vti and --png, written every N time steps. */
#include "config.h"

#include "snapshots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "output.h"
#include "progress.h"
#include "slice.h"
#include "vti.h"

char *snapshot_name(const char *prefix, int64_t step, const char *end)
{
    const size_t room = strlen(prefix) + strlen(end) + 32;
    char *name = malloc(room);
    if (name == NULL) failure_note_memory((double)room);
    else snprintf(name, room, "%s_%06" PRId64 "%s", prefix, step, end);
    return name;
}

static void check(const char *option, const char *prefix, const char *end)
{
    char *name = prefix != NULL ? snapshot_name(prefix, 0, end) : NULL;
    if (name != NULL) output_check(option, name);
    free(name);
}

void snapshots_begin(snapshots *s, const problem *p)
{
    int rank;
    *s = (snapshots){.p = p};
    MPI_Comm_rank(p->cart, &rank);
    if (rank != 0) return;
    check("--vti", p->o.vti, ".pvti");
    check("--png", p->o.png, ".png");
    if (p->o.png != NULL) slice_check(p);
}

/* At the beginning of the run, every so many steps of it, and at its end. */
static bool is_time(const problem *p, int round, int64_t step, int64_t before)
{
    const options *o = &p->o;
    const bool last = step == o->num_tsteps && round >= o->num_spikes;
    if (o->every == 0) return last;
    if (step == 0) return round == 1;
    return last || (before + step) % o->every == 0;
}

void snapshots_take(snapshots *s, int round, int64_t step, int64_t before, const grid_source *from)
{
    const problem *p = s->p;
    const int64_t steps = before + step;
    if ((p->o.vti == NULL && p->o.png == NULL) || !is_time(p, round, step, before)) return;
    progress_clear();
    failure_lenient();
    if (p->o.vti != NULL) vti_write(p, steps, from);
    if (p->o.png != NULL && !failure_agree(p->cart)) slice_write(p, steps, from);
    if (failure_forgive(p->cart)) {
        ++s->failed;
        return;
    }
    ++s->written;
    s->last = steps;
}
