/* SPDX-License-Identifier: BSD-3-Clause */
/** @file object.c
 *  The handles that are valid, and the number of objects of each kind. */
#include "object.h"

#include <pthread.h>
#include <search.h>
#include <stdint.h>
#include <stdlib.h>

#include "call.h"

#define control gpu_fault_control

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of handles, and control.live[] */

static void *alive[OBJECT_KINDS]; /* trees of handles */

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

void object_print_left(FILE *report)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < GPU_FAULT_KINDS; ++k)
        if (control.live[k])
            fprintf(report, "  left over: %ld %s\n", control.live[k],
                    gpu_fault_kind_name((gpu_fault_kind)k));
    pthread_mutex_unlock(&lock);
}
