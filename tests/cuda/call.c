/* SPDX-License-Identifier: BSD-3-Clause */
/** @file call.c
 *  Counts calls, injects faults into them, keeps the thread's last error, the handles that are
 *  valid and what was misused, and reports all that when the process ends. */
#include "call.h"

#include <pthread.h>
#include <search.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "ptx.h"
#include "settings.h"

#define control gpu_fault_control

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below, and the control block */

_Thread_local cudaError_t call_last_error;

/* ------------------------------------------------------------------ counts, by name */

typedef struct count {
    const char *name;
    long times;
} count;
static void *calls_by_name, *kernels_by_name; /* trees of counts */
static long launches, with_error_pending, misuses;
static char first_pending[128];

static int compare_counts(const void *left, const void *right)
{
    return strcmp(((const count *)left)->name, ((const count *)right)->name);
}

static void add_to(void **tree, const char *name)
{
    const count key = {name, 0};
    count **found = tfind(&key, tree, compare_counts);
    if (!found) {
        count *made = malloc(sizeof *made);
        char *copy = strdup(name);
        if (!made || !copy) abort();
        *made = (count){copy, 0};
        found = tsearch(made, tree, compare_counts);
    }
    ++(*found)->times;
}

void call_note_kernel(const char *name)
{
    pthread_mutex_lock(&lock);
    ++launches;
    add_to(&kernels_by_name, name);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ calls */

/* With the lock held. */
static cudaError_t injected_by_number(long number)
{
    const bool fails = control.fail_at > 0 &&
                       (number == control.fail_at || (control.sticky && number > control.fail_at));
    if (!fails) return cudaSuccess;
    return control.status ? (cudaError_t)control.status : cudaErrorUnknown;
}

/* The thread's latest call, and the one before it. */
static _Thread_local const char *latest, *previous;

fake_call call_begin(const char *name)
{
    previous = latest;
    latest = name;
    fake_call call = {
        name, (cudaError_t)settings_fail_status(settings.fail_call, name, cudaErrorUnknown)};
    pthread_mutex_lock(&lock);
    add_to(&calls_by_name, name);
    const long number = ++control.calls;
    if (call.injected == cudaSuccess) call.injected = injected_by_number(number);
    if (call.injected != cudaSuccess && !control.failed) control.failed = name;
    if (call_last_error != cudaSuccess && device_error() == cudaSuccess &&
        with_error_pending++ == 0)
        snprintf(first_pending, sizeof first_pending, "%s after %s", name,
                 cudaGetErrorName(call_last_error));
    pthread_mutex_unlock(&lock);
    return call;
}

void call_uncount(void)
{
    pthread_mutex_lock(&lock);
    control.calls -= previous && strcmp(previous, "cudaSetDevice") == 0 ? 2 : 1;
    pthread_mutex_unlock(&lock);
}

cudaError_t call_end(cudaError_t status)
{
    if (status != cudaSuccess) call_last_error = status;
    return status;
}

void call_misuse(const char *name, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&lock);
    ++misuses;
    if (!control.misuse[0])
        snprintf(control.misuse, sizeof control.misuse, "call %ld, %s: %s", control.calls, name,
                 text);
    pthread_mutex_unlock(&lock);
    if (!settings.quiet) fprintf(stderr, "fake CUDA: %s: %s\n", name, text);
}

_Noreturn void call_lacks(const char *name, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "fake CUDA: %s: the fake lacks ", name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    abort();
}

/* ------------------------------------------------------------------ objects */

static void *alive[CALL_KINDS]; /* trees of handles */

static int compare_handles(const void *left, const void *right)
{
    return ((uintptr_t)left > (uintptr_t)right) - ((uintptr_t)left < (uintptr_t)right);
}

void object_add(int kind, const void *object)
{
    pthread_mutex_lock(&lock);
    if (!tsearch(object, &alive[kind], compare_handles)) abort();
    if (kind < GPU_FAULT_KINDS) ++control.live[kind];
    pthread_mutex_unlock(&lock);
}

bool object_is(int kind, const void *object)
{
    pthread_mutex_lock(&lock);
    const bool found = tfind(object, &alive[kind], compare_handles) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

void object_remove(int kind, const void *object)
{
    pthread_mutex_lock(&lock);
    tdelete(object, &alive[kind], compare_handles);
    if (kind < GPU_FAULT_KINDS) --control.live[kind];
    pthread_mutex_unlock(&lock);
}

void object_count(gpu_fault_kind kind, long by)
{
    pthread_mutex_lock(&lock);
    control.live[kind] += by;
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ the report */

static FILE *report;
static const char *what_it_did;

static void print_count(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if (visit != postorder && visit != leaf) return;
    const count *one = *(count *const *)node;
    fprintf(report, "  %s %s %ld\n", what_it_did, one->name, one->times);
}

static void print_left_over(void)
{
    static const char *const kinds[GPU_FAULT_KINDS] = {"device memory", "host memory", "streams",
                                                       "events",        "pools",       "modules"};
    for (int k = 0; k < GPU_FAULT_KINDS; ++k)
        if (control.live[k]) fprintf(report, "  left over: %ld %s\n", control.live[k], kinds[k]);
}

__attribute__((destructor)) static void print_report(void)
{
    if (!settings.report) return;
    const bool to_file = strcmp(settings.report, "-") != 0;
    report = to_file ? fopen(settings.report, "a") : stderr;
    if (!report) return;
    pthread_mutex_lock(&lock);
    fprintf(
        report, "fake CUDA: process %ld, %ld calls, %ld launches, %llu instructions, seed %ld\n",
        (long)getpid(), control.calls, launches, (unsigned long long)ptx_executed(), settings.seed);
    what_it_did = "called";
    twalk(calls_by_name, print_count);
    what_it_did = "ran";
    twalk(kernels_by_name, print_count);
    if (with_error_pending)
        fprintf(report, "  calls with an error pending: %ld, the first: %s\n", with_error_pending,
                first_pending);
    if (misuses) fprintf(report, "  misuse: %ld, the first: %s\n", misuses, control.misuse);
    print_left_over();
    pthread_mutex_unlock(&lock);
    if (to_file) fclose(report);
}
