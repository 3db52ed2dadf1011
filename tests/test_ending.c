/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_ending.c
 *  Calls at the wrong time: while another thread ends the library, from functions that the library
 *  called, and in a child of fork(). */
/* TEST: backends=all,late labels=core */
#include "child.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, CELLS = 16 * 16 * 16 };

/* How children of this process ended before it had computed, with another thread that had called,
 * and when it had counted devices. */
static test_end uncomputed, left_behind, counted;
static atomic_bool has_called, may_go;
static int devices;

static void add_up(void *unused)
{
    const meta_box line = {1, {CELLS}, {0}, {CELLS}};
    const double one = 1;
    double sum = 0;
    int index;
    void *p;
    (void)unused;
    alarm(60); /* rather than hang */
    test_require(meta_get_acc(&index, NULL));
    if (!CHECK_OK(meta_alloc(&p, CELLS * sizeof one))) return;
    CHECK_OK(meta_fill(p, CELLS, &one, META_F64, NULL));
    CHECK_OK(meta_reduce(&sum, p, &line, META_SUM, META_F64, NULL));
    CHECK_NEAR(sum, CELLS, 0);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_finalize());
}

/* Of buffer @p p; NULL: the library was ended before the fork. */
static void be_refused(void *p)
{
    const double one = 1;
    void *q;
    alarm(20); /* rather than hang */
    if (p) CHECK_ERR_NAMES(meta_fill(p, 1, &one, META_F64, NULL), META_ERR_STATE, "fork()");
    CHECK_ERR_NAMES(meta_alloc(&q, 8), META_ERR_STATE, "fork()");
    CHECK_ERR(meta_flush(), META_ERR_STATE);
    CHECK_ERR_NAMES(meta_init(), META_ERR_STATE, "fork()");
    CHECK_ERR_NAMES(meta_finalize(), META_ERR_STATE, "fork()");
}

static void *call_and_stay(void *unused)
{
    meta_flush();
    atomic_store(&has_called, true);
    while (!atomic_load(&may_go)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return unused;
}

static void start(int *argc, char ***argv)
{
    pthread_t thread;
    test_find_own_plugins();
    setenv("META_LOG", "off", 1); /* buffers are left behind on purpose */
    CHECK_OK(meta_init());
    uncomputed = test_child(add_up, NULL, NULL, 0);
    if (CHECK_INT(pthread_create(&thread, NULL, call_and_stay, NULL), 0)) {
        while (!atomic_load(&has_called)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        left_behind = test_child(add_up, NULL, NULL, 0);
        atomic_store(&may_go, true);
        pthread_join(thread, NULL);
    }
    CHECK_OK(meta_device_count(META_OPENCL, &devices));
    if (devices > 0) counted = test_child(be_refused, NULL, NULL, 0);
    CHECK_OK(meta_finalize());
    test_device.start(argc, argv);
}

static int end(int status)
{
    return test_device.end(status);
}

static const test_setting setting = {.start = start, .end = end};

/* ------------------------------------------------------------------ other threads */

typedef struct worker {
    pthread_t thread;
    long calls;
    meta_err error;
    char fault[256];
    double in[CELLS], out[CELLS];
} worker;
static worker workers[THREADS];
static atomic_int running;

/* Count the call; false, and the thread ends, where it failed. */
static bool works(worker *w, meta_err error)
{
    ++w->calls;
    if (error == META_OK || w->error != META_OK) return w->error == META_OK;
    w->error = error;
    snprintf(w->fault, sizeof w->fault, "%s", meta_last_error());
    return false;
}

/* A round of calls of every kind on buffers of this thread's own. */
static bool compute(worker *w)
{
    const meta_box box = {3, {16, 16, 16}, {1, 1, 1}, {15, 15, 15}};
    const double value = 3;
    double sum = 0;
    void *in = NULL, *out = NULL;
    meta_event event;
    meta_pointer_desc desc = META_POINTER_DESC_INIT;
    if (!works(w, meta_alloc(&in, sizeof w->in)) || !works(w, meta_alloc(&out, sizeof w->out)) ||
        !works(w, meta_pointer_info(out, &desc)) ||
        !works(w, meta_fill(in, CELLS, &value, META_F64, META_ASYNC)) ||
        !works(w, meta_stencil(out, in, &box, META_3D7P, META_F64, &sum, NULL)))
        return false;
    if (sum != 3.0 * 14 * 14 * 14)
        return snprintf(w->fault, sizeof w->fault, "a sum of %g", sum), false;
    return works(w, meta_copy_d2h(w->out, out, sizeof w->out, &event)) &&
           works(w, meta_event_wait(event)) && works(w, meta_event_free(&event)) &&
           works(w, meta_free(in)) && works(w, meta_free(out));
}

static void *compute_until_it_ends(void *argument)
{
    worker *w = argument;
    ++running;
    while (compute(w)) continue;
    return NULL;
}

static void nap(long microseconds)
{
    const struct timespec time = {.tv_nsec = 1000 * microseconds};
    nanosleep(&time, NULL);
}

static void calls_of_other_threads_are_complete_or_META_ERR_INIT_when_the_library_ends(void)
{
    const int rounds = (int)test_count(20, 500);
    for (int round = 0; round < rounds; ++round) {
        running = 0;
        for (int k = 0; k < THREADS; ++k) {
            workers[k].calls = 0;
            workers[k].error = META_OK;
            *workers[k].fault = '\0';
            if (pthread_create(&workers[k].thread, NULL, compute_until_it_ends, &workers[k]) != 0)
                abort();
        }
        while (running < THREADS) nap(10);
        nap((long)(test_random() % 5000));
        CHECK_OK(meta_finalize());
        for (int k = 0; k < THREADS; ++k) {
            pthread_join(workers[k].thread, NULL);
            test_case("round %d, thread %d, call %ld: %s", round, k, workers[k].calls,
                      workers[k].fault);
            CHECK_INT(workers[k].error, META_ERR_INIT);
        }
        CHECK_OK(meta_init());
    }
}

/* ------------------------------------------------------------------ functions that it called */

static meta_err ended_from_within, worked_after_it;

static void end_the_library(void *user, meta_err status)
{
    const double one = 1;
    (void)status;
    ended_from_within = meta_finalize();
    worked_after_it = meta_fill(user, 1, &one, META_F64, NULL);
}

static void a_function_that_a_call_calls_cannot_end_the_library(void)
{
    const double one = 1;
    double *p;
    meta_event event;
    CHECK_OK(meta_alloc((void **)&p, sizeof *p));
    CHECK_OK(meta_fill(p, 1, &one, META_F64, &event));
    CHECK_OK(meta_event_then(event, end_the_library, p));
    CHECK_OK(meta_event_wait(event));
    CHECK_OK(meta_flush());
    CHECK_INT(ended_from_within, META_ERR_STATE);
    CHECK_INT(worked_after_it, META_OK);
    CHECK_OK(meta_event_free(&event));
    CHECK_OK(meta_free(p));
}

/* ------------------------------------------------------------------ children of fork() */

static void a_child_of_a_process_that_has_computed_gets_META_ERR_STATE_at_once(void)
{
    const double one = 1;
    double back = 0, *p;
    CHECK_OK(meta_alloc((void **)&p, sizeof *p));
    CHECK_OK(meta_fill(p, 1, &one, META_F64, NULL));
    CHECK_CHILD(be_refused, p);
    CHECK_OK(meta_copy_d2h(&back, p, sizeof back, NULL)); /* the parent goes on */
    CHECK_NEAR(back, 1, 0);
    CHECK_OK(meta_free(p));
    CHECK_OK(meta_finalize());
    CHECK_CHILD(be_refused, NULL);
    CHECK_OK(meta_init());
}

static void a_child_of_a_process_that_has_counted_the_devices_of_a_driver_is_refused(void)
{
    if (devices == 0) return;
    CHECK_INT(counted.signal, 0);
    CHECK_INT(counted.status, 0);
}

static void a_child_of_a_process_that_has_not_computed_may_compute(void)
{
    CHECK_INT(uncomputed.signal, 0);
    CHECK_INT(uncomputed.status, 0);
}

static void a_child_waits_for_no_thread_that_its_parent_alone_has(void)
{
    CHECK_INT(left_behind.signal, 0);
    CHECK_INT(left_behind.status, 0);
}

TEST_MAIN_WITH(&setting,
               PROMISE(calls_of_other_threads_are_complete_or_META_ERR_INIT_when_the_library_ends),
               PROMISE(a_function_that_a_call_calls_cannot_end_the_library),
               PROMISE(a_child_of_a_process_that_has_computed_gets_META_ERR_STATE_at_once),
               PROMISE(a_child_of_a_process_that_has_counted_the_devices_of_a_driver_is_refused),
               PROMISE(a_child_of_a_process_that_has_not_computed_may_compute),
               PROMISE(a_child_waits_for_no_thread_that_its_parent_alone_has))
