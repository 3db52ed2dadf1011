/* SPDX-License-Identifier: BSD-3-Clause */
/** @file watch.c
 *  A thread that watches the program's own calls of MPI. It ends this process by _exit(), whereupon
 *  the launcher ends the others: MPI_Abort() may not be called from a second thread. */
#include "config.h"

#include "watch.h"

#include <glob.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "failure.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static pthread_cond_t changed;
static pthread_t thread;
static enum { UNKNOWN, NEVER, RUNS } state;
static double timeout; /* seconds */
static double left;    /* of it, to the call that is watched */
static double began;   /* when that call did */
static int rank;
static const char *during; /* NULL: nothing */
static char leaves[4096];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Open MPI makes files of the same name and more letters, for a file pointer that is shared. */
static void remove_leaves(void)
{
    char pattern[sizeof leaves + 8];
    glob_t found;
    if (leaves[0] == '\0') return;
    unlink(leaves);
    snprintf(pattern, sizeof pattern, "%s*.lock", leaves);
    if (glob(pattern, 0, NULL, &found) != 0) return;
    for (size_t k = 0; k < found.gl_pathc; ++k) unlink(found.gl_pathv[k]);
    globfree(&found);
}

void watch_remove_leaves(void)
{
    pthread_mutex_lock(&lock);
    remove_leaves();
    pthread_mutex_unlock(&lock);
}

static void *watch(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (during == NULL || left > 0) {
        if (during == NULL) {
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        /* Step by step: while this process is stopped, no more than one of them goes by. */
        const double step = fmin(left, fmin(timeout / 4, 1));
        const double before = now(), end = before + step;
        const struct timespec at = {(time_t)end, (long)(1e9 * (end - (double)(time_t)end))};
        pthread_cond_timedwait(&changed, &lock, &at);
        left -= fmin(now() - fmax(before, began), step);
    }
    fflush(stdout);
    fprintf(stderr, "%s: rank %d: not every rank has come where %s, for %g s (META_TIMEOUT)\n",
            failure_program_name(), rank, during, timeout);
    remove_leaves();
    _exit(STATUS_UNUSABLE);
}

/* With the lock. */
static void start(void)
{
    const double longest = 1e9; /* years: more is for ever */
    const char *text = getenv("META_TIMEOUT");
    pthread_condattr_t clock;
    sigset_t all, before;
    state = NEVER;
    timeout = text != NULL ? strtod(text, NULL) : 0;
    if (!(timeout > 0 && timeout < longest)) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0) state = RUNS;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void watch_begin(const char *what)
{
    pthread_mutex_lock(&lock);
    if (state == UNKNOWN) start();
    during = what;
    left = timeout;
    began = now();
    if (state == RUNS) pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

void watch_end(void)
{
    pthread_mutex_lock(&lock);
    during = NULL;
    pthread_mutex_unlock(&lock);
}

void watch_leaves(const char *path)
{
    pthread_mutex_lock(&lock);
    snprintf(leaves, sizeof leaves, "%s", path != NULL && strlen(path) < sizeof leaves ? path : "");
    pthread_mutex_unlock(&lock);
}
