/* SPDX-License-Identifier: BSD-3-Clause */
/** @file sharing.c
 *  Sharing a device's native objects with the application, in both directions. */
#include "core.h"

meta_err meta_get_state(int index, meta_mode mode, meta_state *state)
{
    meta_device *device;
    meta_state found = META_STATE_INIT;
    META_ENTER();
    META_NEED_DESC(state, META_STATE_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    META_TRY(meta_device_open(device, NULL));
    META_TRY(device->backend->ops.state(device->plugin, device->queue[META_QUEUE_COMPUTE], &found));
    *state = found;
    return META_OK;
}

meta_err meta_set_state(int index, meta_mode mode, const meta_state *state)
{
    meta_device *device;
    META_ENTER();
    META_NEED_DESC(state, META_STATE_INIT);
    META_TRY(meta_device_find(index, mode, &device));
    return meta_device_open(device, state);
}

meta_err meta_native(const void *ptr, void **object, size_t *offset)
{
    meta_span span;
    META_ENTER();
    if (!object && !offset)
        return meta_fail(META_ERR_ARGUMENT, "arguments 'object' and 'offset' are both NULL");
    META_TRY(meta_span_at(ptr, "ptr", &span));
    if (object) *object = span.object;
    if (offset) *offset = span.offset;
    return META_OK;
}
