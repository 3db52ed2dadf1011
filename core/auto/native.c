/* SPDX-License-Identifier: BSD-3-Clause */
/** @file native.c
 *  Buffers whose native object the program has: they are kept on one device. */
#include "auto/auto.h"

/* All of the buffer's bytes, on device @p d. */
static meta_err make_there(meta_auto_buffer *b, int d)
{
    const meta_auto_range whole = {b, 0, b->bytes, .reads = true, .writes = true};
    uint32_t failed;
    meta_auto.why = META_AUTO_WHY_NATIVE;
    do { /* work for which is waited may fail */
        failed = meta_auto.failed;
        META_TRY(meta_auto_acquire(meta_auto_lane_of(d, META_QUEUE_COMPUTE), &whole, 1));
        meta_auto_wait_copy(b, d);
    } while (failed != meta_auto.failed && !(meta_auto.failed >> d & 1));
    return meta_auto.failed >> d & 1 ? meta_auto_has_failed(d) : META_OK;
}

/* What the program does with the memory is unknown: only the device's own copy is valid then. */
static meta_err pin(meta_auto_buffer *b)
{
    META_TRY(meta_auto_any_left());
    const meta_auto_range whole = {b, 0, b->bytes, .reads = true, .writes = true};
    uint32_t among = meta_auto_usable();
    int d = meta_auto_choose_copy(&whole, among);
    meta_err error;
    while ((error = make_there(b, d)) != META_OK) {
        const bool fails = error == META_ERR_DEVICE && meta_auto.failed >> d & 1;
        among &= meta_auto_usable() & ~(UINT32_C(1) << d);
        if (!among || (error != META_ERR_NO_MEMORY && !fails)) return error;
        d = meta_auto_choose_copy(&whole, among);
    }
    meta_auto_commit(&whole, 1, d, 0);
    b->pinned = d;
    return META_OK;
}

meta_err meta_auto_pin(void *buffer, void **object)
{
    meta_auto_buffer *b = buffer;
    pthread_mutex_lock(&meta_auto.lock);
    const meta_err error = b->pinned >= 0 ? META_OK : pin(b);
    if (error == META_OK) *object = b->copy[b->pinned].object;
    pthread_mutex_unlock(&meta_auto.lock);
    return error;
}

void meta_auto_unpin(void *buffer)
{
    meta_auto_buffer *b = buffer;
    pthread_mutex_lock(&meta_auto.lock);
    if (!b->wrapped.object) b->pinned = -1;
    pthread_mutex_unlock(&meta_auto.lock);
}

meta_device *meta_auto_pinned(void *buffer)
{
    const meta_auto_buffer *b = buffer;
    pthread_mutex_lock(&meta_auto.lock);
    const int d = b->pinned;
    pthread_mutex_unlock(&meta_auto.lock);
    return d >= 0 ? meta_auto.device[d].device : NULL;
}
