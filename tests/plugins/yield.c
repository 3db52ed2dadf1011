/* SPDX-License-Identifier: BSD-3-Clause */
/** @file yield.c
 *  Preloaded library that makes MPICH's waits yield their core. The tests use more ranks than
 *  the machine has cores; a rank in a collective call polls UCX (busy-wait) for its whole time
 *  slice, while the rank it waits for has no core. Open MPI yields by itself there. */
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
