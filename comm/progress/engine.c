/* SPDX-License-Identifier: BSD-3-Clause */
/** @file engine.c
 *  The progress engine: retire what is done, issue what can start; and the core's way into it. */
#include "comm.h"

#include <sched.h>
#include <stdio.h>
#include <time.h>

static meta_err background = META_OK;
static char background_text[COMM_TEXT];

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

bool comm_advance(void)
{
    const bool messages = comm_messages_advance();
    const bool plans = comm_plans_advance();
    if (messages || plans) comm_watch(true);
    return messages || plans;
}

bool comm_progress(void)
{
    const bool moved = comm_advance();
    if (!moved) comm_watch(false);
    return moved;
}

void comm_back_off(unsigned idle)
{
    enum { SPINS = 200, YIELDS = 2000 };
    const struct timespec nap = {.tv_nsec = 50000};
    /* With a core for each rank the neighbour is not kept from computing. */
    if (idle < SPINS && !job.crowded) return;
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

/* ------------------------------------------------------------------ the core's hooks */

static void progress(int *moved)
{
    if (!comm_thread_may_call() || !comm_trylock()) return;
    if (job.attached && comm_progress()) *moved = 1;
    comm_unlock();
}

static meta_err allowed(void)
{
    return comm_thread_allowed();
}

/* Receives, reductions and sends that MPI still has, and exchanges that were finished. */
static bool anything_left(const void *unused)
{
    (void)unused;
    return comm_messages_count(COMM_SEND) + comm_messages_count(COMM_RECV) +
                   comm_messages_count(COMM_REDUCE) >
               0 ||
           comm_plans_finishing();
}

static meta_err flush(void)
{
    meta_err error;
    COMM_TRY(comm_thread_allowed());
    comm_lock();
    comm_wait_while(anything_left, NULL, 0);
    error = comm_background_take();
    comm_unlock();
    return error;
}

static void settle(meta_device *device)
{
    if (*comm_exchanges_owing == 0 || !comm_thread_may_call()) return;
    comm_lock();
    comm_plans_settle(device);
    comm_unlock();
}

static void finalize(void)
{
    comm_progress_thread_stop();
    comm_lock();
    if (job.attached) {
        comm_messages_abandon(COMM_RECV);
        comm_messages_abandon(COMM_REDUCE);
        comm_messages_abandon(COMM_SEND);
        comm_plans_drop(false);
        comm_messages_forget();
        comm_background_take();
        job.attached = job.own_core = false;
    }
    comm_unlock();
}

void comm_hooks_set(void)
{
    static const meta_hooks hooks = {.progress = progress,
                                     .allowed = allowed,
                                     .flush = flush,
                                     .settle = settle,
                                     .print = comm_profile_print,
                                     .finalize = finalize};
    core->set_hooks(&hooks);
}
