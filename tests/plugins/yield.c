/* SPDX-License-Identifier: BSD-3-Clause */
/** @file yield.c
 *  Preloaded, it lets MPICH's waits give up their core. The tests put more ranks on a machine than
 * it has cores; a rank that waits in a collective call polls UCX without a pause, for as long as
 * the scheduler lets it, while the rank that it waits for has no core. Open MPI yields by itself
 * there. */
#include "config.h"

#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void *worker);

__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*_Atomic progress)(void *);
    unsigned (*next)(void *) = progress;
    unsigned found = 0;
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "ucp_worker_progress");
        progress = next;
    }
    if (next != NULL) found = next(worker);
    if (found == 0) sched_yield();
    return found;
}
