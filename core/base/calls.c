/* SPDX-License-Identifier: BSD-3-Clause */
/** @file calls.c
 *  Public calls under way. Each thread counts its own, so that whoever ends the library can wait
 * for those of the others. */
#include "base/base.h"

#include <stdlib.h>
#include <time.h>

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* What new calls meet. */
enum { CLOSED, OPEN, ENDING, FORKED };

/* The calls of a thread. */
typedef struct counter {
    _Alignas(64) _Atomic unsigned depth; /* public calls that are under way, one inside another */
    _Atomic bool taken;                  /* by a thread */
    struct counter *next;
} counter;

static _Atomic int door = CLOSED;
static _Atomic unsigned lives;
static _Atomic bool computed; /* meta_computes() was called, in whichever life */
static _Atomic bool fenced;   /* there is no barrier(): each call has one of its own */
static _Atomic int threads_barred;
static _Atomic(counter *) counters; /* grows only; those of threads that ended are reused */
static pthread_key_t owner;         /* its value is the thread's counter */
static pthread_mutex_t preparing = PTHREAD_MUTEX_INITIALIZER;
static bool has_owner;        /* once there is a key, so with `preparing` */
static _Atomic bool prepared; /* all that calls need is there */
static META_THREAD_OWN counter *mine;
static _Thread_local const char *barred; /* why this thread must not call the library; NULL */

/* A barrier on every core that runs a thread of this process. @return whether it took place */
static bool barrier(void)
{
#ifdef __linux__
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
    return false;
#endif
}

/* The thread ends. Destructors of other keys, which follow, may still call. */
static void give(void *counter_of_thread)
{
    counter *c = counter_of_thread;
    mine = NULL;
    atomic_store_explicit(&c->depth, 0, memory_order_release);
    c->taken = false;
}

/* The child has this thread alone, and none of those that devices had. */
static void after_fork(void)
{
    for (counter *c = counters; c; c = c->next) {
        if (c == mine) continue;
        c->depth = 0;
        c->taken = false;
    }
    if (computed || door == ENDING) door = FORKED;
}

/* Tried again by the next call where the system had no room. */
static void prepare(void)
{
    pthread_mutex_lock(&preparing);
    if (!has_owner) has_owner = pthread_key_create(&owner, give) == 0;
    if (has_owner && !prepared) {
        fenced = !barrier();
        prepared = pthread_atfork(NULL, NULL, after_fork) == 0;
    }
    pthread_mutex_unlock(&preparing);
}

/* Before the library is unloaded, whose give() threads would call. */
__attribute__((destructor)) static void delete_owner(void)
{
    if (has_owner) pthread_key_delete(owner);
}

static meta_err prepare_once(void)
{
    if (!prepared) prepare();
    if (prepared) return META_OK;
    return meta_fail(META_ERR_NO_MEMORY,
                     "the system has no room for what each thread has of its own");
}

static meta_err take(void)
{
    META_TRY(prepare_once());
    counter *c = counters;
    for (; c; c = c->next) {
        bool taken = false;
        if (!c->taken && atomic_compare_exchange_strong(&c->taken, &taken, true)) break;
    }
    if (!c) {
        c = aligned_alloc(_Alignof(counter), sizeof *c);
        if (!c) return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a thread");
        *c = (counter){.taken = true, .next = counters};
        while (!atomic_compare_exchange_weak(&counters, &c->next, c)) continue;
    }
    mine = c;
    pthread_setspecific(owner, c); /* without it the counter stays with a thread that has ended */
    return META_OK;
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = 50000};
    nanosleep(&time, NULL);
}

static meta_err check_forked(void)
{
    if (door != FORKED) return META_OK;
    return meta_fail(
        META_ERR_STATE,
        "this process is a child, by fork(), of one that had opened a device or asked a "
        "driver for its devices, whose threads and connections it does not have: call "
        "fork() before that, or exec() in the child");
}

/* A call that must not simply go on. */
static meta_err refuse(int state, bool is_inner)
{
    if (barred) return meta_fail(META_ERR_STATE, "%s", barred);
    if (state == FORKED) return check_forked();
    /* The thread that ends the library waits for the outer call. */
    if (state == OPEN || (state == ENDING && is_inner)) return META_OK;
    return meta_fail(META_ERR_INIT,
                     state == ENDING
                         ? "the library is being finalised"
                         : "the library is not started: call meta_init() or meta_comm_init() "
                           "first%s",
                     lives > 0 ? " (it was finalised)" : "");
}

meta_err meta_enter(const char *call)
{
    meta_call_name(call);
    if (__builtin_expect(!mine, 0)) META_TRY(take());
    counter *const own = mine;
    const unsigned depth = atomic_load_explicit(&own->depth, memory_order_relaxed);
    atomic_store_explicit(&own->depth, depth + 1, memory_order_relaxed);
    /* The other half of meta_calls_refuse(): it sees the depth, or this call what it wrote. */
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&fenced, memory_order_relaxed), 0))
        atomic_thread_fence(memory_order_seq_cst);
    const int state = atomic_load_explicit(&door, memory_order_acquire);
    if (__builtin_expect(
            state == OPEN && atomic_load_explicit(&threads_barred, memory_order_relaxed) == 0, 1))
        return META_OK;
    return refuse(state, depth > 0);
}

void meta_leave(void)
{
    counter *const own = mine;
    if (!own) return;
    const unsigned depth = atomic_load_explicit(&own->depth, memory_order_relaxed);
    atomic_store_explicit(&own->depth, depth - 1, memory_order_release);
}

meta_err meta_ready(const char *call)
{
    const meta_err error = meta_enter(call);
    meta_leave();
    return error;
}

bool meta_in_call(void)
{
    return mine && atomic_load_explicit(&mine->depth, memory_order_relaxed) > 0;
}

void meta_bar(const char *why)
{
    if (why && !barred) atomic_fetch_add(&threads_barred, 1);
    if (!why && barred) atomic_fetch_sub(&threads_barred, 1);
    barred = why;
}

/* ------------------------------------------------------------------ the library's state */

meta_err meta_calls_prepare(void)
{
    META_TRY(prepare_once());
    return check_forked();
}

int meta_started(void)
{
    return door == OPEN || door == ENDING;
}

bool meta_is_ending(void)
{
    return door == ENDING;
}

unsigned meta_life(void)
{
    return lives;
}

void meta_started_set(bool on)
{
    if (on) ++lives;
    door = on ? OPEN : CLOSED;
}

/* Where barrier() fails, for want of memory, what other cores have stored is long visible after so
 * many naps. */
void meta_calls_refuse(void)
{
    door = ENDING;
    for (int tries = 0; tries < 100 && !fenced && !barrier(); ++tries) nap();
}

void meta_calls_wait(void)
{
    for (const counter *c = counters; c; c = c->next)
        while (c != mine && atomic_load_explicit(&c->depth, memory_order_acquire) > 0) nap();
}

void meta_computes(void)
{
    computed = true;
}
