/* SPDX-License-Identifier: BSD-3-Clause */
/** @file hooks.c
 *  What the core calls: to advance messages, to complete them, and before it finalises. */
#include "halo/halo.h"
#include "life/life.h"
#include "p2p/p2p.h"
#include "record/comm_record.h"

static void progress(meta_wait_clock *wait, int *moved)
{
    if (!comm_thread_may_call() || !comm_trylock()) return;
    if (comm_job.attached && (wait ? comm_advance_in(wait) : comm_advance_polled())) *moved = 1;
    comm_unlock();
}

static meta_err flush(void)
{
    META_TRY(comm_thread_allowed());
    comm_lock();
    const bool lost = comm_job.lost;
    comm_wait_while(comm_sources_unfinished, NULL, 0);
    meta_err error = comm_background_take();
    /* What was given up here may have its error in an event alone. */
    if (error == META_OK && comm_job.lost && !lost)
        error = comm_check_lost("while messages are completed");
    comm_unlock();
    return error;
}

static void order(const meta_range *ranges, int count)
{
    if (!comm_thread_may_call()) return;
    comm_lock();
    comm_queue_owed_on(ranges, count);
    comm_unlock();
}

static void finalize(void)
{
    comm_progress_thread_stop();
    comm_lock();
    if (comm_job.attached) {
        comm_messages_abandon(COMM_RECV);
        comm_messages_abandon(COMM_REDUCE);
        comm_messages_abandon(COMM_SEND);
        comm_plans_drop(false);
        comm_messages_forget();
        comm_background_take();
        comm_job.attached = comm_job.own_core = false;
    }
    comm_unlock();
}

void comm_hooks_set(void)
{
    static const meta_hooks hooks = {.progress = progress,
                                     .allowed = comm_thread_allowed,
                                     .flush = flush,
                                     .owing = &comm_owed,
                                     .order = order,
                                     .print = comm_profile_print,
                                     .finalize = finalize};
    core->set_hooks(&hooks);
}
