/* SPDX-License-Identifier: BSD-3-Clause */
/** @file laps.c
 *  Timing breakdown of this rank: all time within the time steps is attributed to one of their
 *  parts. */
#include "config.h"

#include "laps.h"

#include <mpi.h>
#include <string.h>

static struct {
    bool on;
    void (*wait)(void);
    double last, seconds[LAP_COUNT];
} watch;

void laps_begin(bool on, void (*wait)(void))
{
    memset(&watch, 0, sizeof watch);
    watch.on = on;
    watch.wait = wait;
    laps_resume();
}

void laps_stop(void)
{
    watch.on = false;
}

bool laps_on(void)
{
    return watch.on;
}

void laps_resume(void)
{
    if (watch.on) watch.last = MPI_Wtime();
}

void lap(int part)
{
    if (!watch.on) return;
    if (part != LAP_START) watch.wait();
    const double now = MPI_Wtime();
    watch.seconds[part] += now - watch.last;
    watch.last = now;
}

const double *laps_read(void)
{
    return watch.seconds;
}
