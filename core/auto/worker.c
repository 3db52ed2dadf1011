/* SPDX-License-Identifier: BSD-3-Clause */
/** @file worker.c
 *  OpenMP computes while its caller waits. Here a thread calls it instead: what the caller would
 *  wait for is queued as a job, with a copy of all that its description points to.
 *
 *  Handing a job over takes longer than a short kernel, and the thread computes with a team of
 *  OpenMP's threads of its own. So it runs what takes long, while other devices than the cores are
 *  in use, and what is queued behind that; all other work is the caller's as without a worker.
 *  Nobody spins: the thread and those who wait for a job sleep. */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "auto/worker.h"

/* RECENT: another device is in use if work was queued there so many calls ago. MOST: jobs that may
 * wait. BEHIND: work of others behind which the next job runs. */
enum { RECENT = 256, MOST = 256, BEHIND = 64 };

typedef struct job {
    struct job *next;
    int users; /* ticket and stamp */
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

static struct {
    const meta_auto_device *of; /* NULL: there is no worker */
    const meta_ops *real;       /* of its back end */
    meta_ops ops;
    bool is_forced, is_off; /* META_TEST_WORKER */
    bool takes;             /* what is queued next is a job */
    meta_auto_work *behind[BEHIND];
    int behinds;
    bool runs; /* the thread */
    pthread_t thread;
    atomic_int left; /* jobs that are not complete */
    pthread_mutex_t lock;
    pthread_cond_t more, done;
    job *first, *end; /* that are not begun; with the lock */
    bool ends;        /* likewise */
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .more = PTHREAD_COND_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER};

/* ------------------------------------------------------------------ the thread */

/* Errors of the work before are reported by its own tickets. */
static void run(job *j)
{
    meta_ticket own = NULL;
    for (int k = 0; k < j->behinds; ++k) j->behind[k]->ops->ticket_wait(j->behind[k]->ticket);
    j->launch.ticket = j->copy.ticket = &own;
    j->error = j->is_copy ? worker.real->copy(j->queue, &j->copy)
                          : worker.real->launch(j->queue, &j->launch);
    if (j->error == META_OK && own) j->error = worker.real->ticket_wait(own);
    if (own) worker.real->ticket_release(own);
    j->message = j->error != META_OK ? meta_error_copy() : NULL;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&worker.lock);
    for (;;) {
        while (!worker.first && !worker.ends) pthread_cond_wait(&worker.more, &worker.lock);
        job *j = worker.first;
        if (!j) break;
        worker.first = j->next;
        pthread_mutex_unlock(&worker.lock);
        run(j);
        pthread_mutex_lock(&worker.lock);
        atomic_store_explicit(&j->is_complete, true, memory_order_release);
        atomic_fetch_sub_explicit(&worker.left, 1, memory_order_release);
        pthread_cond_broadcast(&worker.done);
    }
    pthread_mutex_unlock(&worker.lock);
    return unused;
}

/* Signals are the program's threads'. */
static bool start(void)
{
    sigset_t all, before;
    if (worker.runs) return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    worker.ends = false;
    worker.runs = pthread_create(&worker.thread, NULL, work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (worker.runs) return true;
    meta_log(
        META_LOG_WARN,
        "META_MODE=auto: no thread can be created for the CPU, so the calling thread computes");
    worker.is_off = true;
    return false;
}

/* OpenMP's threads for it end with it. All jobs are complete. */
static void stop(void)
{
    if (!worker.runs) return;
    pthread_mutex_lock(&worker.lock);
    worker.ends = true;
    pthread_cond_signal(&worker.more);
    pthread_mutex_unlock(&worker.lock);
    pthread_join(worker.thread, NULL);
    worker.runs = false;
}

/* ------------------------------------------------------------------ jobs */

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

static job *new_job(meta_plugin_queue *queue, size_t bytes)
{
    const size_t behind = (size_t)worker.behinds * sizeof *worker.behind;
    job *j = malloc(sizeof *j + bytes + behind);
    if (!j) return NULL;
    *j = (job){.users = 1, .queue = queue, .behinds = worker.behinds};
    j->behind = (meta_auto_work **)(void *)(j->memory + bytes);
    if (behind) memcpy(j->behind, worker.behind, behind);
    worker.behinds = 0;
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
    pthread_mutex_lock(&worker.lock);
    while (atomic_load_explicit(&worker.left, memory_order_relaxed) >= MOST)
        pthread_cond_wait(&worker.done, &worker.lock);
    atomic_fetch_add_explicit(&worker.left, 1, memory_order_relaxed);
    if (worker.first) worker.end->next = j;
    else worker.first = j;
    worker.end = j;
    pthread_cond_signal(&worker.more);
    pthread_mutex_unlock(&worker.lock);
}

static void release(job *j)
{
    if (--j->users > 0) return;
    for (int k = 0; k < j->behinds; ++k) meta_auto_drop(j->behind[k]);
    free(j->message);
    free(j);
}

static bool any_left(void)
{
    return atomic_load_explicit(&worker.left, memory_order_acquire) > 0;
}

/* Whether what is queued now is a job: to be decided, or behind one. */
static bool is_job(void)
{
    return (worker.takes || worker.behinds > 0 || any_left()) && start();
}

/* The caller runs what is next. */
static void wait_for_all(void)
{
    pthread_mutex_lock(&worker.lock);
    while (any_left()) pthread_cond_wait(&worker.done, &worker.lock);
    pthread_mutex_unlock(&worker.lock);
    while (worker.behinds > 0) {
        meta_auto_work *w = worker.behind[--worker.behinds];
        meta_auto_wait_work(w);
        meta_auto_drop(w);
    }
}

/* ------------------------------------------------------------------ in place of the back end's */

static meta_err launch(meta_plugin_queue *queue, const meta_launch *l)
{
    place counted = {NULL, 0};
    if (is_job()) {
        keep_calls(&counted, l);
        job *j = new_job(queue, counted.bytes);
        if (j) {
            place p = {j->memory, 0};
            j->launch = *l;
            j->launch.calls = keep_calls(&p, l);
            j->launch.stride = sizeof *l->calls;
            push(j, l->ticket, l->stamp);
            return META_OK;
        }
    }
    wait_for_all();
    return worker.real->launch(queue, l);
}

static meta_err copy(meta_plugin_queue *queue, const meta_copy *c)
{
    job *j = is_job() ? new_job(queue, 0) : NULL;
    if (!j) {
        wait_for_all();
        return worker.real->copy(queue, c);
    }
    j->is_copy = true;
    j->copy = *c;
    push(j, c->ticket, c->stamp);
    return META_OK;
}

static meta_err error_of(const job *j)
{
    if (j->error == META_OK) return META_OK;
    return meta_fail_as(j->error, j->message ? j->message : meta_strerror(j->error));
}

static meta_err ticket_test(meta_ticket ticket, int *complete)
{
    const job *j = ticket;
    *complete = atomic_load_explicit(&j->is_complete, memory_order_acquire);
    return *complete ? error_of(j) : META_OK;
}

static meta_err ticket_wait(meta_ticket ticket)
{
    job *j = ticket;
    pthread_mutex_lock(&worker.lock);
    while (!atomic_load_explicit(&j->is_complete, memory_order_relaxed))
        pthread_cond_wait(&worker.done, &worker.lock);
    pthread_mutex_unlock(&worker.lock);
    return error_of(j);
}

static void ticket_release(meta_ticket ticket)
{
    release(ticket);
}

static int stamp_read(void *stamp, uint64_t *begin, uint64_t *end)
{
    const job *j = stamp;
    if (!atomic_load_explicit(&j->is_complete, memory_order_acquire)) return 0;
    *begin = j->stamp.begin;
    *end = j->stamp.end;
    return 1;
}

static void stamp_release(void *stamp)
{
    release(stamp);
}

/* The worker waits for it, unless the caller runs what is queued next. */
static meta_err run_behind(meta_auto_work *w)
{
    if (w->complete || w->ops == &worker.ops) return META_OK;
    if (!(worker.takes || any_left()) || worker.behinds == BEHIND) return META_ERR_UNSUPPORTED;
    worker.behind[worker.behinds++] = w;
    ++w->users;
    return META_OK;
}

/* ------------------------------------------------------------------ decisions */

meta_err meta_worker_read(void)
{
    const char *value = meta_variable("META_TEST_WORKER");
    worker.is_forced = worker.is_off = false;
    if (!value || strcmp(value, "auto") == 0) return META_OK;
    META_TRY(meta_variable_switch("META_TEST_WORKER", &worker.is_forced));
    worker.is_off = !worker.is_forced;
    return META_OK;
}

void meta_worker_open(void)
{
    meta_auto_device *cpu = NULL;
    bool others = worker.is_forced;
    for (int d = 0; d < meta_auto.devices; ++d) {
        meta_auto_device *device = &meta_auto.device[d];
        if (device->device->backend->mode == META_OPENMP) cpu = device;
        others |= !device->is_cpu;
    }
    worker.of = NULL;
    worker.takes = false;
    if (!cpu || !others || worker.is_off) return;
    worker.of = cpu;
    worker.real = cpu->ops;
    worker.ops = *cpu->ops;
    worker.ops.launch = launch;
    worker.ops.copy = copy;
    worker.ops.ticket_test = ticket_test;
    worker.ops.ticket_wait = ticket_wait;
    worker.ops.ticket_release = ticket_release;
    worker.ops.stamp_read = stamp_read;
    worker.ops.stamp_release = stamp_release;
    cpu->ops = &worker.ops;
    cpu->run_behind = run_behind;
}

void meta_worker_close(void)
{
    while (worker.behinds > 0) meta_auto_drop(worker.behind[--worker.behinds]);
    stop();
    worker.of = NULL;
}

bool meta_worker_has(const meta_auto_device *device)
{
    return device == worker.of;
}

/* Its team of threads is in the way of the caller's while both are there. */
static void stop_if_unused(void)
{
    enum { LONG_AGO = 16 * RECENT };
    if (worker.runs && meta_auto.calls - meta_auto.elsewhere > LONG_AGO && !any_left()) stop();
}

/* Whoever waits at once has nothing to do meanwhile. Checks of kernels look at the caller's calls.
 */
void meta_worker_decide(const meta_auto_device *device, uint64_t expected)
{
    if (device != worker.of) return;
    const bool in_use = meta_auto.elsewhere > 0 && meta_auto.calls - meta_auto.elsewhere < RECENT;
    const bool is_worth = in_use && !meta_waits_at_once && (double)expected >= META_WORKER_LONG;
    worker.takes = !meta_check_on && !worker.is_off && (is_worth || worker.is_forced);
    if (!worker.is_forced && !in_use) stop_if_unused();
}
