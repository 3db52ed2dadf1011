/* SPDX-License-Identifier: BSD-3-Clause */
/** @file join.c
 *  A public call whose work is several pieces. */
#include "queue/join.h"

#include <stdlib.h>

void meta_pieces_begin(meta_pieces *pieces, meta_device *device, meta_event *done)
{
    *pieces = (meta_pieces){.device = device,
                            .done = done,
                            .apart = done != META_ASYNC && !meta_in_order(device),
                            .all = {NULL, NULL}};
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
    meta_pending_release(&pieces->all);
    if (meta_device_finish(pieces->device) != META_OK)
        meta_log(META_LOG_WARN, "%s", meta_last_error());
    if (message) meta_fail_as(error, message);
    free(message);
    return error;
}
