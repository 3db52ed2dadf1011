/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ticket.c
 *  Queues and tickets of META_AUTO's device.
 *
 *  Buffers order work by themselves: what touches the same bytes runs in the order in which it was
 * queued. Host memory is ordered for each queue: work that reads or writes some runs behind earlier
 * work that does. */
#include "auto/auto.h"
#include "auto/share.h"

#include <stdlib.h>

meta_err meta_auto_order_host(const meta_plugin_queue *queue, meta_auto_lane *lane,
                              meta_auto_host_range range)
{
    for (int k = 0; k < 2 * meta_auto.devices; ++k) {
        if (queue->host[k] <= meta_auto.done[k]) continue;
        const meta_mark mark = meta_mark_of(k, queue->host[k]);
        meta_auto_await_results(lane, mark, range);
        META_TRY(meta_auto_order(lane, mark));
    }
    return META_OK;
}

void meta_auto_queue_after(meta_plugin_queue *queue, const meta_plugin_queue *earlier)
{
    for (int k = 0; k < 2 * meta_auto.devices; ++k)
        if (earlier->host[k] > queue->host[k]) queue->host[k] = earlier->host[k];
}

void meta_auto_queue_wait(meta_plugin_queue *queue, const meta_auto_ticket *t)
{
    for (size_t k = 0; t && k < t->count; ++k) {
        const meta_auto_work *w = t->work[k];
        if (w->number > queue->host[w->lane]) queue->host[w->lane] = w->number;
    }
}

/* ------------------------------------------------------------------ tickets */

meta_auto_ticket meta_auto_complete;

meta_err meta_auto_ticket_test(const meta_auto_ticket *t, int *complete)
{
    meta_err first = META_OK;
    *complete = 1;
    for (size_t k = 0; t && k < t->count; ++k) {
        int one;
        const meta_err error = meta_auto_test(t->work[k], &one);
        *complete &= one;
        if (first == META_OK) first = error;
    }
    return first;
}

meta_err meta_auto_ticket_wait(const meta_auto_ticket *t)
{
    meta_err first = META_OK;
    meta_loop_waited();
    for (size_t k = 0; t && k < t->count; ++k) {
        const meta_err error = meta_auto_wait_apart(t->work[k]);
        if (first == META_OK) first = error;
    }
    meta_share_waited();
    return first;
}

void meta_auto_ticket_free(meta_auto_ticket *t)
{
    if (!t || t == &meta_auto_complete) return;
    for (size_t k = 0; k < t->count; ++k) meta_auto_drop(t->work[k]);
    free(t);
}

meta_err meta_auto_ticket_add(meta_auto_ticket **t, meta_auto_work *work)
{
    if (!work) return META_OK;
    const size_t count = *t ? (*t)->count : 0;
    meta_auto_ticket *larger = realloc(*t, sizeof *larger + (count + 1) * sizeof(meta_auto_work *));
    if (!larger) {
        const meta_err error = meta_auto_wait_work(work);
        meta_auto_drop(work);
        return error;
    }
    larger->work[count] = work;
    larger->count = count + 1;
    *t = larger;
    return META_OK;
}

meta_err meta_auto_ticket_abandon(meta_auto_ticket *t, meta_err error)
{
    if (!t) return error;
    char *message = meta_error_copy();
    for (size_t k = 0; k < t->count; ++k) {
        meta_auto_wait_work(t->work[k]);
        meta_auto_drop(t->work[k]);
    }
    free(t);
    if (message) meta_fail_as(error, message);
    free(message);
    return error;
}
