/* SPDX-License-Identifier: BSD-3-Clause */
/** @file call.c
 *  Counts calls, injects faults, and keeps the thread's last error and the first misuse. */
#include "call.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "report.h"
#include "settings.h"

#define control gpu_fault_control

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of control, but for live[] */

_Thread_local cudaError_t call_last_error;

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
    report_call(name);
    if (call_last_error != cudaSuccess && device_error() == cudaSuccess)
        report_pending(name, cudaGetErrorName(call_last_error));
    pthread_mutex_lock(&lock);
    const long number = ++control.calls;
    if (call.injected == cudaSuccess) call.injected = injected_by_number(number);
    if (call.injected != cudaSuccess && !control.failed) control.failed = name;
    pthread_mutex_unlock(&lock);
    return call;
}

void call_uncount(void)
{
    pthread_mutex_lock(&lock);
    control.calls -= previous && strcmp(previous, "cudaSetDevice") == 0 ? 2 : 1;
    pthread_mutex_unlock(&lock);
}

long call_count(void)
{
    pthread_mutex_lock(&lock);
    const long calls = control.calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

cudaError_t call_end(cudaError_t status)
{
    if (status != cudaSuccess) call_last_error = status;
    return status;
}

void call_misuse(const char *name, const char *format, ...)
{
    char text[200], numbered[sizeof control.misuse];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(numbered, sizeof numbered, "call %ld, %s: %s", call_count(), name, text);
    report_misuse(numbered);
    pthread_mutex_lock(&lock);
    if (!control.misuse[0]) snprintf(control.misuse, sizeof control.misuse, "%s", numbered);
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
