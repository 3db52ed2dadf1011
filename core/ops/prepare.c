/* SPDX-License-Identifier: BSD-3-Clause */
/** @file prepare.c
 *  Building many kernels ahead of their first run: by several threads, and where several processes
 * of a node build the same ones, each begins with others. */
#include "ops/ops.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 8, SHOW_MS = 1000, LOG_EVERY = 5 };

typedef struct work {
    meta_kernel *const *kernel;
    int count, first;  /* this process begins with number `first` */
    bool spares_types; /* a type that the device lacks is no error */
    meta_device *device;
    atomic_int next, done;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ends;
    bool ended;
    meta_err *error;
    int worst; /* the first kernel that failed, by its number; count if none has */
    char *message;
} work;

/* ------------------------------------------------------------------ building */

static void note_failure(work *w, int number, meta_err error)
{
    char *message = meta_error_copy();
    pthread_mutex_lock(&w->lock);
    w->error[number] = error;
    if (number < w->worst) {
        w->worst = number;
        free(w->message);
        w->message = message;
        message = NULL;
    }
    pthread_mutex_unlock(&w->lock);
    free(message);
}

static void *build(void *argument)
{
    work *w = argument;
    meta_call_name("meta_kernels_prepare");
    for (int k; (k = atomic_fetch_add(&w->next, 1)) < w->count;) {
        const int number = (w->first + k) % w->count;
        const meta_err error = meta_user_prepare(w->kernel[number], w->device);
        if (error != META_OK && !(error == META_ERR_TYPE && w->spares_types))
            note_failure(w, number, error);
        atomic_fetch_add(&w->done, 1);
    }
    return NULL;
}

/* ------------------------------------------------------------------ progress */

/* On a terminal one line that changes, of the first process only; in a log lines, if it allows
 * them. */
static void *show(void *argument)
{
    work *w = argument;
    const bool is_terminal = isatty(STDERR_FILENO) && !meta_variable("META_LOG_FILE") &&
                             meta_log_allows(META_LOG_WARN) && meta_job_rank() == 0;
    bool shown = false;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&w->lock);
    for (int second = 1;; ++second) {
        next.tv_sec += SHOW_MS / 1000;
        int waited = 0;
        while (!w->ended && waited == 0) waited = pthread_cond_timedwait(&w->ends, &w->lock, &next);
        if (w->ended) break;
        if (is_terminal) {
            fprintf(stderr, "\rlibmeta: %d of %d kernels are built for %s, %d s\033[K",
                    (int)w->done, w->count, w->device->desc.name, second);
            fflush(stderr);
            shown = true;
        } else if (second == 1 || second % LOG_EVERY == 0) {
            meta_log(META_LOG_INFO, "%d of %d kernels are built for %s, %d s", (int)w->done,
                     w->count, w->device->desc.name, second);
        }
    }
    pthread_mutex_unlock(&w->lock);
    if (shown) fprintf(stderr, "\r\033[K");
    return NULL;
}

/* ------------------------------------------------------------------ threads */

/* The program's signal handlers run on its own threads. Without a thread, its work is done by the
 * others, or nothing is shown. */
static int begin_threads(work *w, pthread_t *thread)
{
    const int wanted = meta_threads() < w->count ? meta_threads() : w->count;
    sigset_t all, before;
    int begun = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread[0], NULL, show, w) == 0) begun = 1;
    while (begun > 0 && begun < wanted && begun < MOST_THREADS &&
           pthread_create(&thread[begun], NULL, build, w) == 0)
        ++begun;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

static void build_all(work *w)
{
    pthread_t thread[MOST_THREADS];
    if (w->device->desc.mode == META_OPENMP) { /* its code is linked in */
        build(w);
        return;
    }
    const int begun = begin_threads(w, thread);
    build(w);
    for (int k = 1; k < begun; ++k) pthread_join(thread[k], NULL);
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    pthread_cond_signal(&w->ends);
    pthread_mutex_unlock(&w->lock);
    if (begun > 0) pthread_join(thread[0], NULL);
}

/* ------------------------------------------------------------------ the result */

/* The first one's error, with the names of all that failed. */
static meta_err fail_of(const work *w)
{
    static const char prefix[] = "meta_kernels_prepare: ";
    const char *said = w->message ? w->message : "";
    char *names = NULL;
    size_t room = 0;
    int failed = 0;
    if (strncmp(said, prefix, sizeof prefix - 1) == 0) said += sizeof prefix - 1;
    FILE *list = open_memstream(&names, &room);
    for (int k = 0; k < w->count; ++k) {
        if (w->error[k] == META_OK) continue;
        if (list)
            fprintf(list, "%s%s %s", failed > 0 ? ", " : "", w->kernel[k]->name,
                    meta_element_name((uint32_t)w->kernel[k]->type));
        ++failed;
    }
    const bool listed = list && fclose(list) == 0;
    const meta_err error =
        meta_fail(w->error[w->worst], "%d of %d kernels cannot be built (%s): %s", failed, w->count,
                  listed ? names : "?", said);
    free(names);
    return error;
}

static meta_err prepare(work *w)
{
    pthread_condattr_t clock;
    META_TRY(meta_device_current(&w->device));
    w->error = calloc((size_t)w->count, sizeof *w->error);
    if (!w->error) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory left");
    int node_rank, node_size;
    meta_job_place(&node_rank, &node_size);
    w->first = (int)((int64_t)node_rank * w->count / node_size);
    w->worst = w->count;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->ends, &clock);
    pthread_condattr_destroy(&clock);
    build_all(w);
    const meta_err error = w->worst < w->count ? fail_of(w) : META_OK;
    pthread_cond_destroy(&w->ends);
    pthread_mutex_destroy(&w->lock);
    free(w->message);
    free(w->error);
    return error;
}

static meta_err prepare_all(void)
{
    int count = 0, found = 0;
    META_TRY(meta_kernel_count(&count));
    meta_kernel **kernel = calloc((size_t)count + 1, sizeof(meta_kernel *));
    if (!kernel) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory left");
    /* One that another thread unregisters meanwhile is not among them. */
    while (found < count && meta_kernel_at(found, &kernel[found]) == META_OK) ++found;
    meta_call_name("meta_kernels_prepare");
    work w = {.kernel = kernel, .count = found, .spares_types = true};
    const meta_err error = found > 0 ? prepare(&w) : META_OK;
    free(kernel);
    return error;
}

meta_err meta_kernels_prepare(meta_kernel *const *kernels, int count)
{
    META_ENTER();
    if (!kernels && count == 0) return prepare_all();
    if (!kernels)
        return meta_fail(META_ERR_ARGUMENT, "argument 'kernels' is NULL, but count %d", count);
    if (count < 0) return meta_fail(META_ERR_ARGUMENT, "argument 'count' is %d", count);
    for (int k = 0; k < count; ++k)
        if (!kernels[k]) return meta_fail(META_ERR_ARGUMENT, "argument 'kernels' is NULL at %d", k);
    work w = {.kernel = kernels, .count = count};
    return count > 0 ? prepare(&w) : META_OK;
}
