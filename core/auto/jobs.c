/* SPDX-License-Identifier: BSD-3-Clause */
/** @file jobs.c
 *  A thread, and the jobs that it runs one after the other. Nobody spins: the thread and those who
 *  wait for a job sleep. */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "auto/auto.h"
#include "auto/jobs.h"

/* Jobs that may wait. */
enum { MOST = 256 };

typedef struct job {
    struct job *next;
    int users; /* ticket and stamp */
    const meta_ops *ops;
    meta_plugin_queue *queue;
    bool is_copy;
    meta_copy copy;
    meta_launch launch;
    meta_stamp stamp;
    meta_auto_work **behind;
    int behinds;
    atomic_bool is_complete; /* what follows is valid */
    meta_err error;
    char *message;
    _Alignas(max_align_t) unsigned char memory[];
} job;

static bool runs; /* the thread */
static pthread_t thread;
static atomic_int left; /* jobs that are not complete */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static job *first, *last; /* that are not begun; with the lock */
static bool ends;         /* likewise */

/* ------------------------------------------------------------------ the thread */

/* Errors of the work before are reported by its own tickets. */
static void run(job *j)
{
    meta_ticket own = NULL;
    for (int k = 0; k < j->behinds; ++k) j->behind[k]->ops->ticket_wait(j->behind[k]->ticket);
    j->launch.ticket = j->copy.ticket = &own;
    j->error = j->is_copy ? j->ops->copy(j->queue, &j->copy) : j->ops->launch(j->queue, &j->launch);
    if (j->error == META_OK && own) j->error = j->ops->ticket_wait(own);
    if (own) j->ops->ticket_release(own);
    j->message = j->error != META_OK ? meta_error_copy() : NULL;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!first && !ends) pthread_cond_wait(&more, &lock);
        job *j = first;
        if (!j) break;
        first = j->next;
        pthread_mutex_unlock(&lock);
        run(j);
        pthread_mutex_lock(&lock);
        atomic_store_explicit(&j->is_complete, true, memory_order_release);
        atomic_fetch_sub_explicit(&left, 1, memory_order_release);
        pthread_cond_broadcast(&done);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

/* Signals are the program's threads'. */
static bool start(void)
{
    sigset_t all, before;
    if (runs) return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    ends = false;
    runs = pthread_create(&thread, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs) return true;
    meta_log(
        META_LOG_WARN,
        "META_MODE=auto: no thread can be created for the CPU, so the calling thread computes");
    return false;
}

void meta_jobs_stop(void)
{
    if (!runs) return;
    pthread_mutex_lock(&lock);
    ends = true;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    runs = false;
}

/* ------------------------------------------------------------------ their descriptions */

/* Where what a job's description points to goes; without a place its bytes are counted. */
typedef struct place {
    unsigned char *at;
    size_t bytes;
} place;

static void *take(place *p, size_t bytes)
{
    void *taken = p->at ? p->at + p->bytes : NULL;
    p->bytes += (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    return taken;
}

static void *keep(place *p, const void *data, size_t bytes)
{
    void *copy = data ? take(p, bytes) : NULL;
    if (copy) memcpy(copy, data, bytes);
    return copy;
}

static size_t values_bytes(const meta_call *call)
{
    const bool is_user = call->desc->family == META_FAMILY_USER;
    return call->desc->values * (is_user ? sizeof(meta_u64) : meta_element_bytes(call->type));
}

static void keep_call(place *p, meta_call *to, const meta_call *call)
{
    const meta_kernel_desc *desc = call->desc;
    const uint32_t layouts =
        desc->operands > META_SPACE_OPERANDS ? desc->operands : META_SPACE_OPERANDS;
    meta_call copy = *call;
    copy.space = keep(p, call->space, meta_space_bytes(layouts));
    copy.object = keep(p, call->object, desc->operands * sizeof *call->object);
    copy.values = keep(p, desc->values ? call->values : NULL, values_bytes(call));
    copy.result = keep(p, call->result, meta_auto_results(desc) * sizeof *call->result);
    if (desc->family == META_FAMILY_USER)
        copy.start = keep(p, call->start, META_MAX_DIM * sizeof *call->start);
    if (to) *to = copy;
}

static meta_call *keep_calls(place *p, const meta_launch *l)
{
    meta_call *calls = take(p, l->count * sizeof *calls);
    for (size_t n = 0; n < l->count; ++n)
        keep_call(p, calls ? &calls[n] : NULL, meta_launch_call(l, n));
    return calls;
}

/* ------------------------------------------------------------------ jobs */

static job *new_job(const meta_ops *ops, meta_plugin_queue *queue, size_t bytes,
                    const meta_jobs_behind *behind)
{
    const size_t more_bytes = (size_t)behind->count * sizeof *behind->work;
    job *j = start() ? malloc(sizeof *j + bytes + more_bytes) : NULL;
    if (!j) return NULL;
    *j = (job){.users = 1, .ops = ops, .queue = queue, .behinds = behind->count};
    j->behind = (meta_auto_work **)(void *)(j->memory + bytes);
    if (more_bytes) memcpy(j->behind, behind->work, more_bytes);
    return j;
}

static void push(job *j, meta_ticket *ticket, meta_stamp *stamp)
{
    if (stamp) {
        *stamp = (meta_stamp){.work = j};
        ++j->users;
        j->launch.stamp = j->copy.stamp = &j->stamp;
    }
    *ticket = j;
    pthread_mutex_lock(&lock);
    while (atomic_load_explicit(&left, memory_order_relaxed) >= MOST)
        pthread_cond_wait(&done, &lock);
    atomic_fetch_add_explicit(&left, 1, memory_order_relaxed);
    if (first) last->next = j;
    else first = j;
    last = j;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}

bool meta_jobs_launch(const meta_ops *ops, meta_plugin_queue *queue, const meta_launch *l,
                      const meta_jobs_behind *behind)
{
    place counted = {NULL, 0};
    keep_calls(&counted, l);
    job *j = new_job(ops, queue, counted.bytes, behind);
    if (!j) return false;
    place p = {j->memory, 0};
    j->launch = *l;
    j->launch.calls = keep_calls(&p, l);
    j->launch.stride = sizeof *l->calls;
    push(j, l->ticket, l->stamp);
    return true;
}

bool meta_jobs_copy(const meta_ops *ops, meta_plugin_queue *queue, const meta_copy *c,
                    const meta_jobs_behind *behind)
{
    job *j = new_job(ops, queue, 0, behind);
    if (!j) return false;
    j->is_copy = true;
    j->copy = *c;
    push(j, c->ticket, c->stamp);
    return true;
}

bool meta_jobs_left(void)
{
    return atomic_load_explicit(&left, memory_order_acquire) > 0;
}

void meta_jobs_wait(void)
{
    pthread_mutex_lock(&lock);
    while (meta_jobs_left()) pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}

void meta_jobs_release(void *released)
{
    job *j = released;
    if (--j->users > 0) return;
    for (int k = 0; k < j->behinds; ++k) meta_auto_drop(j->behind[k]);
    free(j->message);
    free(j);
}

/* ------------------------------------------------------------------ tickets and stamps */

static meta_err error_of(const job *j)
{
    if (j->error == META_OK) return META_OK;
    return meta_fail_as(j->error, j->message ? j->message : meta_strerror(j->error));
}

meta_err meta_jobs_ticket_test(meta_ticket ticket, int *complete)
{
    const job *j = ticket;
    *complete = atomic_load_explicit(&j->is_complete, memory_order_acquire);
    return *complete ? error_of(j) : META_OK;
}

meta_err meta_jobs_ticket_wait(meta_ticket ticket)
{
    job *j = ticket;
    pthread_mutex_lock(&lock);
    while (!atomic_load_explicit(&j->is_complete, memory_order_relaxed))
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
    return error_of(j);
}

int meta_jobs_stamp_read(void *stamp, uint64_t *begin, uint64_t *end)
{
    const job *j = stamp;
    if (!atomic_load_explicit(&j->is_complete, memory_order_acquire)) return 0;
    *begin = j->stamp.begin;
    *end = j->stamp.end;
    return 1;
}
