/* SPDX-License-Identifier: BSD-3-Clause */
/** @file report.c
 *  Counts what ran, and prints it when the process ends. */
#include "report.h"

#include <pthread.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call.h"
#include "object.h"
#include "ptx.h"
#include "settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all in this file */

/* ------------------------------------------------------------------ counts */

typedef struct count {
    const char *name;
    long times;
} count;
static void *calls_by_name, *kernels_by_name; /* trees of counts */
static long launches, pending, misuses;
static char first_pending[128], first_misuse[256];

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

void report_kernel(const char *name)
{
    pthread_mutex_lock(&lock);
    ++launches;
    add_to(&kernels_by_name, name);
    pthread_mutex_unlock(&lock);
}

void report_call(const char *name)
{
    pthread_mutex_lock(&lock);
    add_to(&calls_by_name, name);
    pthread_mutex_unlock(&lock);
}

void report_pending(const char *name, const char *error)
{
    pthread_mutex_lock(&lock);
    if (pending++ == 0) snprintf(first_pending, sizeof first_pending, "%s after %s", name, error);
    pthread_mutex_unlock(&lock);
}

void report_misuse(const char *text)
{
    pthread_mutex_lock(&lock);
    if (misuses++ == 0) snprintf(first_misuse, sizeof first_misuse, "%s", text);
    pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------ printing */

static FILE *report;
static const char *what_it_did;

static void print_count(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if (visit != postorder && visit != leaf) return;
    const count *one = *(count *const *)node;
    fprintf(report, "  %s %s %ld\n", what_it_did, one->name, one->times);
}

__attribute__((destructor)) static void print_report(void)
{
    if (!settings.report) return;
    const bool to_file = strcmp(settings.report, "-") != 0;
    report = to_file ? fopen(settings.report, "a") : stderr;
    if (!report) return;
    const long calls = call_count();
    pthread_mutex_lock(&lock);
    fprintf(report,
            "fake CUDA: process %ld, %ld calls, %ld launches, %llu instructions, seed %ld\n",
            (long)getpid(), calls, launches, (unsigned long long)ptx_executed(), settings.seed);
    what_it_did = "called";
    twalk(calls_by_name, print_count);
    what_it_did = "ran";
    twalk(kernels_by_name, print_count);
    if (pending)
        fprintf(report, "  calls with an error pending: %ld, the first: %s\n", pending,
                first_pending);
    if (misuses) fprintf(report, "  misuse: %ld, the first: %s\n", misuses, first_misuse);
    object_print_left(report);
    pthread_mutex_unlock(&lock);
    if (to_file) fclose(report);
}
