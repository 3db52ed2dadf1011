/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Buffers, copies, events and callbacks. */
#include "inside.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ events and callbacks */

metamorph_err metamorph_init_event(metamorph_event *event)
{
    meta_preferred_mode mode = metaModePreferGeneric;
    meta_event *payload;
    if (!event)
        return metamorph_refuse("meta_init_event", "event is NULL: give the address of one");
    const metamorph_err err = metamorph_get_acc(NULL, &mode);
    if (err) return err;
    if (!(payload = calloc(1, sizeof *payload)))
        return metamorph_refuse("meta_init_event", "no memory for an event");
    *event = (metamorph_event){mode, payload};
    return 0;
}

metamorph_err metamorph_destroy_event(metamorph_event event)
{
    if (!event.event_pl)
        return metamorph_refuse("meta_destroy_event", "event is none of meta_init_event()");
    const meta_err err = meta_event_free(event.event_pl);
    free(event.event_pl);
    return metamorph_report("meta_destroy_event", err);
}

static void call_back(void *user, meta_err status)
{
    meta_callback *call = user;
    (void)status;
    call->callback_func(call);
}

void metamorph_begin(metamorph_queued *queued, bool async, const meta_callback *call,
                     const metamorph_event *ret_event)
{
    queued->event = (meta_event)META_EVENT_NULL;
    queued->done = !async ? NULL : call || ret_event ? &queued->event : META_ASYNC;
}

metamorph_err metamorph_end(const char *function, meta_err err, metamorph_queued *queued,
                            meta_callback *call, metamorph_event *ret_event)
{
    if (err != META_OK) return metamorph_report(function, err);
    if (call && call->callback_func) {
        if (queued->done) err = meta_event_then(queued->event, call_back, call);
        else call->callback_func(call);
    }
    if (ret_event && ret_event->event_pl) {
        meta_event *kept = ret_event->event_pl;
        meta_event_free(kept);
        *kept = queued->event;
    } else {
        meta_event_free(&queued->event);
    }
    return metamorph_report(function, err);
}

/* ------------------------------------------------------------------ buffers */

void metamorph_here(const char *file, int line)
{
    meta_here(file, line);
}

metamorph_err metamorph_alloc(void **ptr, size_t size)
{
    meta_err err = metamorph_start();
    if (err == META_OK) err = meta_alloc(ptr, size);
    return metamorph_report("meta_alloc", err);
}

metamorph_err metamorph_free(void *ptr)
{
    if (ptr) return metamorph_report("meta_free", meta_free(ptr));
    meta_here(NULL, 0);
    return 0;
}

typedef meta_err copy_function(void *dst, const void *src, size_t bytes, meta_event *done);

static metamorph_err copy(const char *function, copy_function *copy_by, void *dst, const void *src,
                          size_t size, bool async, meta_callback *call, metamorph_event *ret_event)
{
    metamorph_queued queued;
    const meta_err err = metamorph_start();
    if (err != META_OK) return metamorph_report(function, err);
    metamorph_begin(&queued, async, call, ret_event);
    return metamorph_end(function, copy_by(dst, src, size, queued.done), &queued, call, ret_event);
}

metamorph_err metamorph_copy_h2d(void *dst, void *src, size_t size, meta_bool async,
                                 meta_callback *call, metamorph_event *ret_event)
{
    return copy("meta_copy_h2d", meta_copy_h2d, dst, src, size, async, call, ret_event);
}

metamorph_err metamorph_copy_d2h(void *dst, void *src, size_t size, meta_bool async,
                                 meta_callback *call, metamorph_event *ret_event)
{
    return copy("meta_copy_d2h", meta_copy_d2h, dst, src, size, async, call, ret_event);
}

metamorph_err metamorph_copy_d2d(void *dst, void *src, size_t size, meta_bool async,
                                 meta_callback *call, metamorph_event *ret_event)
{
    return copy("meta_copy_d2d", meta_copy_d2d, dst, src, size, async, call, ret_event);
}
