/* SPDX-License-Identifier: BSD-3-Clause */
/** @file job.c
 *  This process in its job: which threads may call MPI, the lock they hold while they do, and
 *  how a public function begins and ends. */
#include <stdio.h>
#include <stdlib.h>

#include "base/comm_base.h"

static bool *lost_ranks; /* NULL while there is none whose number is known */

comm_process comm_job = {.messages = MPI_COMM_NULL, .collectives = MPI_COMM_NULL};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t awake = PTHREAD_COND_INITIALIZER;

bool comm_thread_may_call(void)
{
    return comm_job.thread_level >= MPI_THREAD_SERIALIZED ||
           pthread_equal(comm_job.thread, pthread_self());
}

meta_err comm_thread_allowed(void)
{
    if (comm_thread_may_call()) return META_OK;
    return core->fail(
        META_ERR_STATE,
        "MPI was initialised with %s, so messages are for the thread that "
        "called meta_comm_init() or meta_comm_attach() alone: call from that thread, or "
        "initialise MPI with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
        comm_job.thread_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
}

void comm_lock(void)
{
    pthread_mutex_lock(&lock);
}

bool comm_trylock(void)
{
    return pthread_mutex_trylock(&lock) == 0;
}

void comm_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void comm_sleep(void)
{
    pthread_cond_wait(&awake, &lock);
}

void comm_wake(void)
{
    pthread_cond_broadcast(&awake);
}

void comm_lose(int rank, const char *why)
{
    if (!comm_job.lost) snprintf(comm_job.lost_why, sizeof comm_job.lost_why, "%s", why);
    comm_job.lost = true;
    if (rank < 0) return;
    if (!lost_ranks) lost_ranks = calloc((size_t)comm_job.size, sizeof *lost_ranks);
    if (lost_ranks) lost_ranks[rank] = true;
}

bool comm_is_lost(int rank)
{
    return lost_ranks && rank >= 0 && lost_ranks[rank];
}

void comm_lost_forget(void)
{
    free(lost_ranks);
    lost_ranks = NULL;
}

meta_err comm_check_lost(const char *phase)
{
    if (!comm_job.lost) return META_OK;
    return core->fail(META_ERR_PEER, "%s: a rank was lost before, as %s", phase, comm_job.lost_why);
}

meta_err comm_check_attached(void)
{
    int finalized = 0;
    if (comm_job.attached) return META_OK;
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && finalized)
        return core->fail(META_ERR_INIT,
                          "this process is not part of a job: MPI_Finalize() has been "
                          "called, which ended it");
    return core->fail(META_ERR_INIT, "this process is not part of a job: call meta_comm_init() or "
                                     "meta_comm_attach() first");
}

meta_err comm_callback_error(meta_err result, uint64_t before, const char *call, const char *name)
{
    char text[COMM_TEXT];
    if (result == META_OK) return META_OK;
    snprintf(text, sizeof text, "%s", meta_last_error());
    core->ready(call);
    if ((int)result < 0 || result >= META_ERR_COUNT)
        return core->fail(META_ERR_ARGUMENT, "argument '%s' returned %d, which is no meta_err",
                          name, (int)result);
    if (core->failures() == before)
        return core->fail(result,
                          "argument '%s' returned %s, though no call of libmeta in it failed", name,
                          meta_strerror(result));
    return core->fail(result, "argument '%s': %s", name, text);
}

/* Attachment is checked before the lock as well: callbacks may call while a job is entered or left.
 */
static meta_err enter(const char *call)
{
    META_TRY(core->enter(call));
    META_TRY(comm_check_attached());
    META_TRY(comm_thread_allowed());
    comm_lock();
    /* Another thread may have left the job while this one waited. */
    const meta_err error = comm_check_attached();
    if (error != META_OK) comm_unlock();
    return error;
}

meta_err comm_enter(const char *call)
{
    const meta_err error = enter(call);
    if (error != META_OK) core->leave();
    return error;
}

meta_err comm_leave(meta_err error)
{
    comm_unlock();
    core->leave();
    return error;
}
