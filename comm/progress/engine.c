/* SPDX-License-Identifier: BSD-3-Clause */
/** @file engine.c
 *  The progress engine: advance all sources, wait for one of their operations, and give up what
 *  waits too long for another rank. Time between library calls does not count as waiting. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "progress/progress.h"

enum { LOOK_EVERY = 64, WARN_AFTER = 60 };

static const comm_source *const none[] = {NULL};
_Atomic int comm_owed;
static const comm_source *const *sources = none;

static double waited, last_look;
static unsigned idle_calls;
static bool warned;

static meta_err background = META_OK;
static char background_text[COMM_TEXT];

void comm_sources_set(const comm_source *const *list)
{
    sources = list;
}

void comm_background_error(meta_err error, const char *text)
{
    if (error == META_OK || background != META_OK) return;
    background = error;
    snprintf(background_text, sizeof background_text, "%s", text);
}

meta_err comm_background_take(void)
{
    const meta_err error = background;
    background = META_OK;
    return error == META_OK ? META_OK : core->fail_as(error, background_text);
}

/* ------------------------------------------------------------------ peers that do not answer */

void comm_not_waiting(void)
{
    waited = last_look = 0;
    idle_calls = 0;
}

/* Give up what has waited too long, or warn. The text is formatted only when it is reported. */
static void look(void)
{
    char text[COMM_TEXT / 2];
    bool waiting = false, described = false;
    for (int k = 0; sources[k] && !waiting; ++k) waiting = sources[k]->waiting();
    if (!waiting) {
        waited = 0;
    } else if (comm_job.peer_timeout > 0 && waited > comm_job.peer_timeout) {
        for (int k = 0; sources[k]; ++k) sources[k]->give_up(waited);
        waited = last_look = 0;
    } else if (comm_job.peer_timeout == 0 && waited > WARN_AFTER && !warned) {
        for (int k = 0; sources[k] && !described; ++k)
            described = sources[k]->describe(text, sizeof text);
        if (!described) return;
        warned = true;
        core->log(META_LOG_WARN,
                  "rank %d waits for %d s: %s (with META_TIMEOUT set, this is an error)",
                  comm_job.rank, WARN_AFTER, text);
    }
}

static void count_waiting(void)
{
    const double longest = 0.05; /* calls further apart are not one wait */
    if (++idle_calls % LOOK_EVERY != 0) return;
    const double now = MPI_Wtime();
    if (last_look > 0) waited += fmin(now - last_look, longest);
    last_look = now;
    if (waited > 0) look();
}

/* ------------------------------------------------------------------ progress */

bool comm_advance(void)
{
    bool moved = false;
    for (int k = 0; sources[k]; ++k) moved |= sources[k]->advance();
    if (moved) comm_not_waiting();
    return moved;
}

bool comm_progress(void)
{
    const bool moved = comm_advance();
    if (!moved) count_waiting();
    return moved;
}

void comm_back_off(unsigned idle)
{
    enum { SPINS = 200, YIELDS = 2000 };
    const struct timespec nap = {.tv_nsec = 50000};
    /* With a core for each rank the neighbour is not kept from computing. */
    if (idle < SPINS && !comm_job.crowded) return;
    if (idle < YIELDS) sched_yield();
    else nanosleep(&nap, NULL);
}

void comm_wait_while(bool (*busy)(const void *), const void *what, double deadline)
{
    for (unsigned idle = 0; busy(what);) {
        if (comm_progress()) {
            idle = 0;
            continue;
        }
        if (deadline > 0 && MPI_Wtime() > deadline) return;
        comm_unlock();
        comm_back_off(idle++);
        comm_lock();
    }
}

static bool not_yet(const void *complete)
{
    return !*(const bool *)complete;
}

void comm_wait(const bool *complete)
{
    comm_wait_while(not_yet, complete, 0);
}

bool comm_sources_unfinished(const void *unused)
{
    (void)unused;
    for (int k = 0; sources[k]; ++k)
        if (sources[k]->unfinished()) return true;
    return false;
}

bool comm_sources_busy(void)
{
    for (int k = 0; sources[k]; ++k)
        if (sources[k]->busy()) return true;
    return false;
}

void comm_queue_owed_on(const meta_range *ranges, int count)
{
    for (int k = 0; sources[k] && comm_owed > 0; ++k)
        if (sources[k]->queue_owed) sources[k]->queue_owed(ranges, count);
}

void comm_queue_owed(const meta_span *span)
{
    const meta_range buffer = {span->address - span->before, span->before + span->room};
    if (comm_owed > 0) comm_queue_owed_on(&buffer, 1);
}
