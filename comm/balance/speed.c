/* SPDX-License-Identifier: BSD-3-Clause */
/** @file speed.c
 *  The speed of each rank at the caller's own kernel, measured while all ranks compute. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "balance/cuts.h"

typedef struct measuring {
    const char *call; /* the public function, to be named again after the caller's ones */
    meta_speed_work *work;
    void *with;
    int64_t calls; /* in a sample */
} measuring;

/* The time of a sample. The caller's work may call any function: without the lock. */
static meta_err sample(const measuring *m, double *seconds)
{
    comm_unlock();
    const uint64_t before = core->failures();
    meta_err error = meta_flush();
    const double start = MPI_Wtime();
    for (int64_t k = 0; k < m->calls && error == META_OK; ++k) error = m->work(m->with);
    if (error == META_OK) error = meta_flush();
    *seconds = MPI_Wtime() - start;
    comm_lock();
    return comm_callback_error(error, before, m->call, "work");
}

/* Choose a sample long enough for any clock, and warm up. */
static meta_err choose_calls(measuring *m)
{
    const double least = 1e-3;
    double seconds = 0;
    META_TRY(sample(m, &seconds));
    while (m->calls < INT64_C(1) << 24) {
        META_TRY(sample(m, &seconds));
        if (seconds >= least) break;
        m->calls *= 2;
    }
    return META_OK;
}

/* Take the samples, then compute on until every rank has its own. A rank that failed waits.
 * *in_step: it can agree with the others on the outcome; they wait for it elsewhere otherwise. */
static meta_err take(const measuring *m, MPI_Comm among, int times, double *seconds, meta_err error,
                     bool *in_step)
{
    MPI_Request barrier;
    double unused;
    int all = 0;
    unsigned idle = 0;
    bool met;
    *in_step = false;
    const meta_err meeting = comm_meet(among, &met);
    if (!met) return meeting;
    if (error == META_OK) error = meeting;
    for (int k = 0; k < times && error == META_OK; ++k) error = sample(m, &seconds[k]);
    const comm_awaited others = comm_all_of(among, "while speeds are measured");
    meta_wait_clock wait = {0};
    COMM_MPI(MPI_Ibarrier, (among, &barrier));
    while (!all) {
        const meta_err tested = comm_request_test(&barrier, &all);
        *in_step = barrier == MPI_REQUEST_NULL;
        META_TRY(tested);
        if (all) break;
        META_TRY(comm_watch(&wait, &others));
        if (error == META_OK) {
            error = sample(m, &unused);
        } else if (!comm_advance()) {
            comm_unlock();
            comm_back_off(idle++);
            comm_lock();
        }
    }
    return error;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static meta_err check(meta_speed_work *work, int64_t cells, int times, const double *speed,
                      const double *seconds)
{
    if (!work) return core->fail(META_ERR_ARGUMENT, "argument 'work' is NULL");
    if (!speed) return core->fail(META_ERR_ARGUMENT, "argument 'speed' is NULL");
    if (cells < 1)
        return core->fail(META_ERR_ARGUMENT,
                          "argument 'cells' is %" PRId64 ": a rank without cells has no speed",
                          cells);
    if (times < 1) return core->fail(META_ERR_ARGUMENT, "argument 'times' is %d", times);
    if (!seconds)
        return core->fail(META_ERR_NO_MEMORY, "the host has no memory for %d samples", times);
    return META_OK;
}

static meta_err measure(MPI_Comm comm, measuring *m, int64_t cells, int times, double *speed)
{
    MPI_Comm among;
    META_TRY(cuts_duplicate(comm, "comm", &among));
    double *seconds = times > 0 ? calloc((size_t)times, sizeof *seconds) : NULL;
    meta_err error = comm_agree(among, check(m->work, cells, times, speed, seconds));
    if (error == META_OK) {
        bool in_step;
        error = take(m, among, times, seconds, choose_calls(m), &in_step);
        if (in_step) error = comm_agree(among, error);
    }
    if (error == META_OK) {
        qsort(seconds, (size_t)times, sizeof *seconds, ascending);
        const double median = (seconds[(times - 1) / 2] + seconds[times / 2]) / 2;
        *speed = (double)cells * (double)m->calls / (median > 1e-9 ? median : 1e-9);
    }
    free(seconds);
    comm_free(&among);
    return error;
}

meta_err meta_measure_speed(MPI_Comm comm, meta_speed_work *work, void *with, int64_t cells,
                            int times, double *speed)
{
    measuring m = {.call = __func__, .work = work, .with = with, .calls = 1};
    META_TRY(comm_enter(__func__));
    return comm_leave(measure(comm, &m, cells, times, speed));
}
