/* SPDX-License-Identifier: BSD-3-Clause */
/** @file join.c
 *  Several pieces of device work that complete as one. */
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

meta_err meta_joined_test(meta_ticket ticket, int *complete)
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

meta_err meta_joined_wait(meta_ticket ticket)
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

void meta_joined_release(meta_ticket ticket)
{
    joined *j = ticket;
    for (size_t k = 0; k < j->count; ++k) meta_pending_release(&j->part[k]);
    free(j);
}

/* ------------------------------------------------------------------ a call's pieces */

void meta_pieces_begin(meta_pieces *pieces, const meta_device *device, meta_event *done)
{
    *pieces = (meta_pieces){
        .done = done, .apart = done != META_ASYNC && !meta_in_order(device), .all = {NULL, NULL}};
}

meta_event *meta_piece(meta_pieces *pieces, bool is_last)
{
    pieces->event = (meta_event)META_EVENT_NULL;
    if (pieces->apart) return &pieces->event;
    return is_last ? pieces->done : META_ASYNC;
}

meta_err meta_piece_queued(meta_pieces *pieces, meta_err error)
{
    meta_pending piece;
    if (!pieces->apart || error != META_OK) return error;
    meta_event_take(pieces->event, &piece);
    meta_pending_join(&pieces->all, &piece);
    return META_OK;
}

meta_err meta_pieces_end(meta_pieces *pieces)
{
    meta_event event;
    meta_err error = META_OK;
    if (!pieces->apart) return META_OK;
    if (pieces->done) error = meta_event_new(&event);
    if (pieces->done && error == META_OK) {
        meta_event_follow(event, &pieces->all);
        *pieces->done = event;
        return META_OK;
    }
    const meta_err work = meta_pending_wait(&pieces->all);
    meta_pending_release(&pieces->all);
    return error == META_OK ? work : error;
}

meta_err meta_pieces_drop(meta_pieces *pieces, meta_err error)
{
    char *message = meta_error_copy();
    (void)meta_pending_wait(&pieces->all);
    meta_pending_release(&pieces->all);
    if (message) meta_fail_as(error, message);
    free(message);
    return error;
}
