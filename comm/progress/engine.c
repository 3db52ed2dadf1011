/* SPDX-License-Identifier: BSD-3-Clause */
/** @file engine.c
 *  The progress engine: advance all sources, wait for one of their operations, and give up what
 *  waits too long for another rank. Time between library calls does not count as waiting. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>

#include "node/node.h"
#include "progress/progress.h"

enum { LOOK_EVERY = 8, WARN_AFTER = 60 };

static const comm_source *const none[] = {NULL};
_Atomic int comm_owed;
double comm_now;
static const comm_source *const *sources = none;
static meta_wait_clock polls; /* of callers that come again and again */
static double last_poll;      /* comm_now */

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

/* ------------------------------------------------------------------ the clock */

void comm_clock_read(meta_wait_clock *wait)
{
    static double last, missed;
    const double timeout = comm_job.peer_timeout, time = MPI_Wtime();
    const double longest = timeout > 0 ? fmin(timeout / 4, 1) : 1;
    if (wait->began > 0) missed += fmax(time - last - longest, 0);
    last = time;
    comm_now = time - missed;
    if (wait->began == 0) wait->began = comm_now;
}

bool comm_clock_round(meta_wait_clock *wait)
{
    if (++wait->rounds % LOOK_EVERY != 0) return false;
    comm_clock_read(wait);
    return true;
}

/* ------------------------------------------------------------------ peers that do not answer */

double comm_waited_since(double began, double moved, int rank)
{
    const double longest = comm_job.peer_timeout, waited = comm_now - fmax(began, moved);
    if (longest == 0 || waited <= longest) return waited;
    return fmin(waited, comm_now - comm_mates_compiled(rank, longest));
}

bool comm_is_late(double waited, int rank)
{
    return comm_job.peer_timeout > 0 &&
           (waited > comm_job.peer_timeout || comm_is_lost(rank) || comm_mate_has_ended(rank));
}

/* Once for all. The text is formatted only when it is reported. */
static void warn(void)
{
    static bool warned;
    char text[COMM_TEXT / 2];
    for (int k = 0; sources[k] && !warned; ++k) {
        if (!sources[k]->describe(text, sizeof text)) continue;
        comm_mates_describe(WARN_AFTER, text, sizeof text);
        core->log(META_LOG_WARN,
                  "rank %d waits for %d s: %s (with META_TIMEOUT set, this is an error)",
                  comm_job.rank, WARN_AFTER, text);
        warned = true;
    }
}

static void look(const meta_wait_clock *wait)
{
    static double looked;
    const double every = 0.001;
    if (comm_now - looked < every) return;
    looked = comm_now;
    comm_mates_look(wait->began, comm_now);
    if (comm_job.peer_timeout > 0)
        for (int k = 0; sources[k]; ++k) sources[k]->give_up(wait->began);
    else if (comm_now - wait->began > WARN_AFTER) warn();
}

/* ------------------------------------------------------------------ progress */

bool comm_advance(void)
{
    bool moved = false;
    for (int k = 0; sources[k]; ++k) moved |= sources[k]->advance();
    return moved;
}

bool comm_advance_in(meta_wait_clock *wait)
{
    const bool moved = comm_advance();
    comm_mate_beat();
    if (comm_clock_round(wait)) look(wait);
    return moved;
}

bool comm_advance_polled(void)
{
    const double longest = 0.05; /* calls further apart are not one wait */
    const bool moved = comm_advance();
    if (moved) polls = (meta_wait_clock){0};
    if (moved || !comm_clock_round(&polls)) return moved;
    if (polls.began < comm_now) polls.began += fmax(comm_now - last_poll - longest, 0);
    last_poll = comm_now;
    look(&polls);
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

void comm_wait_while(bool (*busy)(const void *), const void *what, double seconds)
{
    meta_wait_clock wait = {0};
    for (unsigned idle = 0; busy(what);) {
        if (comm_advance_in(&wait)) {
            idle = 0;
            continue;
        }
        if (seconds > 0 && wait.began > 0 && comm_now - wait.began > seconds) return;
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
