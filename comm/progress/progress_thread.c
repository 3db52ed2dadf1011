/* SPDX-License-Identifier: BSD-3-Clause */
/** @file progress_thread.c
 *  META_PROGRESS=thread: a thread that advances messages while the program computes, and sleeps
 * while none are under way. It does what any call of the library does, under the same lock. */
#include "progress/progress.h"

#include <string.h>

static pthread_t thread;
static bool running, stopping;

int comm_thread_level_wanted(void)
{
    const char *text = core->variable("META_PROGRESS");
    return text && strcmp(text, "thread") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

static void *advance(void *unused)
{
    unsigned idle = 0;
    (void)unused;
    core->ready("the progress thread");
    comm_lock();
    while (!stopping) {
        if (!comm_sources_busy()) {
            comm_sleep();
            continue;
        }
        const bool moved = comm_advance();
        comm_unlock();
        if (moved) idle = 0;
        else comm_back_off(idle++);
        comm_lock();
    }
    comm_unlock();
    return NULL;
}

meta_err comm_progress_thread_start(void)
{
    if (!comm_job.wants_thread) return META_OK;
    if (comm_job.thread_level < MPI_THREAD_MULTIPLE) {
        core->log(META_LOG_WARN, "META_PROGRESS=thread: MPI does not grant MPI_THREAD_MULTIPLE, so "
                                 "that messages advance "
                                 "only in calls of the library");
        return META_OK;
    }
    stopping = false;
    if (pthread_create(&thread, NULL, advance, NULL) != 0)
        return core->fail(META_ERR_NO_MEMORY, "the system has no thread for META_PROGRESS=thread");
    running = true;
    return META_OK;
}

void comm_progress_thread_stop(void)
{
    comm_lock();
    const bool was = running;
    running = false;
    stopping = true;
    comm_wake();
    comm_unlock();
    if (was) pthread_join(thread, NULL);
}
