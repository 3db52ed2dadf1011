/* SPDX-License-Identifier: BSD-3-Clause */
/** @file thread.c
 *  Which threads may call MPI, and the lock that everything calling it holds. */
#include "comm.h"

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
