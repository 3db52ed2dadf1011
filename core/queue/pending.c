/* SPDX-License-Identifier: BSD-3-Clause */
/** @file pending.c
 *  What tells when device work is complete: a ticket, or several that are joined. */
#include "queue/join.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ joined work */

/* The ticket of a pending without a device. */
typedef struct joined {
    size_t count, room;
    meta_pending part[];
} joined;

static joined *with_room(joined *j)
{
    const size_t room = j ? 2 * j->room : 8;
    if (j && j->count < j->room) return j;
    joined *more = realloc(j, sizeof *more + room * sizeof *more->part);
    if (more && !j) more->count = 0;
    if (more) more->room = room;
    return more;
}

void meta_pending_join(meta_pending *all, meta_pending *more)
{
    const bool is_joined = all->ticket && !all->device;
    if (!more->ticket) return;
    if (!all->ticket) {
        *all = *more;
        return;
    }
    joined *j = with_room(is_joined ? all->ticket : NULL);
    if (!j) { /* an error is reported by the queue as well */
        (void)meta_pending_wait(more);
        meta_pending_release(more);
        return;
    }
    if (!is_joined) j->part[j->count++] = *all;
    j->part[j->count++] = *more;
    *all = (meta_pending){NULL, j};
}

static meta_err test_joined(meta_ticket ticket, int *complete)
{
    const joined *j = ticket;
    meta_err first = META_OK;
    for (size_t k = 0; k < j->count; ++k) {
        const meta_err error = meta_pending_test(&j->part[k], complete);
        if (!*complete) return META_OK;
        if (first == META_OK) first = error;
    }
    return first;
}

static meta_err wait_for_joined(meta_ticket ticket)
{
    const joined *j = ticket;
    meta_err first = META_OK;
    char *message = NULL;
    for (size_t k = 0; k < j->count; ++k) {
        const meta_err error = meta_pending_wait(&j->part[k]);
        if (error == META_OK || first != META_OK) continue;
        first = error;
        message = meta_error_copy();
    }
    if (message) meta_fail_as(first, message);
    free(message);
    return first;
}

static void release_joined(meta_ticket ticket)
{
    joined *j = ticket;
    for (size_t k = 0; k < j->count; ++k) meta_pending_release(&j->part[k]);
    free(j);
}

/* ------------------------------------------------------------------ either */

meta_err meta_pending_test(const meta_pending *pending, int *complete)
{
    *complete = 1;
    if (!pending->ticket) return META_OK;
    if (!pending->device) return test_joined(pending->ticket, complete);
    return pending->device->backend->ops.ticket_test(pending->ticket, complete);
}

meta_err meta_pending_wait(const meta_pending *pending)
{
    if (!pending->ticket) return META_OK;
    if (!pending->device) return wait_for_joined(pending->ticket);
    return pending->device->backend->ops.ticket_wait(pending->ticket);
}

void meta_pending_release(meta_pending *pending)
{
    if (pending->ticket && !pending->device) release_joined(pending->ticket);
    else if (pending->ticket) pending->device->backend->ops.ticket_release(pending->ticket);
    pending->ticket = NULL;
}
