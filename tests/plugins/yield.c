/* SPDX-License-Identifier: BSD-3-Clause */
/** @file yield.c
 *  Preloaded, it makes MPICH yield the CPU while it waits. Tests oversubscribe the machine; a rank
 * that waits in a collective busy-polls UCX for its whole time slice while the rank that it waits
 * for is not scheduled. Open MPI yields by itself when oversubscribed. */
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
