/* SPDX-License-Identifier: BSD-3-Clause */
/** @file watchdog.c
 *  A thread beside a call of MPI that can only block and returns no error where a rank does not
 *  come: after META_TIMEOUT it says so in the log, and with META_TIMEOUT_ABORT=on it ends this
 *  process. By _exit(): MPI_Abort() may not be called from here, and exit() would run destructors
 * of an MPI that is in the middle of a call. It asks MPI nothing, and takes no lock of
 * libmeta_comm. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "life/life.h"
#include "node/node.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the thread's orders */
static pthread_cond_t returns;
static pthread_t thread;
static bool running, returned, ends_process;
static const char *watched;
static double allowed;

static void speak(void)
{
    char text[COMM_TEXT / 2] = "";
    comm_mates_describe_missing(text, sizeof text);
    core->log(META_LOG_WARN, "%s has not returned for %.3g s: not every rank has come to it%s (%s)",
              watched, allowed, text,
              ends_process ? "META_TIMEOUT_ABORT=on: this process ends"
                           : "with META_TIMEOUT_ABORT=on, this ends the process");
    if (!ends_process) return;
    fflush(stderr);
    _exit(1);
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    /* Step by step: while this process is stopped, no more than one of them goes by. */
    const double step = fmin(allowed / 4, 1);
    for (double left = allowed; !returned && left > 0; left -= step) {
        struct timespec end;
        int error = 0;
        clock_gettime(CLOCK_MONOTONIC, &end);
        const double nanoseconds = (double)end.tv_nsec + 1e9 * fmin(left, step);
        end.tv_sec += (time_t)(nanoseconds / 1e9);
        end.tv_nsec = (long)fmod(nanoseconds, 1e9);
        while (!returned && error != ETIMEDOUT)
            error = pthread_cond_timedwait(&returns, &lock, &end);
    }
    if (!returned) speak();
    pthread_mutex_unlock(&lock);
    return NULL;
}

void comm_watchdog_begin(const char *call)
{
    const double longest = 1e9; /* years: more is for ever */
    pthread_condattr_t clock;
    sigset_t all, before;
    comm_settings_timeout(&allowed, &ends_process);
    if (allowed <= 0 || allowed > longest) return;
    watched = call;
    returned = false;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&returns, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* the program's handlers run on its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    running = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!running) pthread_cond_destroy(&returns);
}

void comm_watchdog_end(void)
{
    if (!running) return;
    pthread_mutex_lock(&lock);
    returned = true;
    pthread_cond_signal(&returns);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&returns);
    running = false;
}
