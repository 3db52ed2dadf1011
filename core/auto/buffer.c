/* SPDX-License-Identifier: BSD-3-Clause */
/** @file buffer.c
 *  Coherent buffers: an address that is reserved and never accessed, and copies on devices, each as
 * large as the buffer. */
#include "auto/auto.h"

#include <inttypes.h>
#include <stdlib.h>

static void link_in(meta_auto_buffer *b)
{
    b->older = meta_auto.newest;
    b->newer = NULL;
    if (b->older) b->older->newer = b;
    meta_auto.newest = b;
}

static void unlink_it(meta_auto_buffer *b)
{
    if (b->newer) b->newer->older = b->older;
    else meta_auto.newest = b->older;
    if (b->older) b->older->newer = b->newer;
}

/* A buffer without copies. */
static meta_auto_buffer *new_buffer(uint64_t bytes)
{
    meta_auto_buffer *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->slabs = meta_slabs_new(bytes, meta_auto.devices);
    if (!b->slabs) return free(b), NULL;
    b->bytes = bytes;
    b->pinned = -1;
    return b;
}

static meta_err out_of_memory(uint64_t bytes)
{
    return meta_fail(META_ERR_NO_MEMORY,
                     "the host has no memory for what is kept of a buffer of %" PRIu64 " bytes",
                     bytes);
}

/* A buffer that no device can hold is refused here, not where it is first used. */
static meta_err check_size(size_t bytes)
{
    uint64_t most = 0;
    char text[48];
    int largest = 0;
    for (int d = 0; d < meta_auto.devices; ++d) {
        const uint64_t memory = meta_auto.device[d].device->desc.memory;
        if (memory == 0) return META_OK; /* it does not say */
        if (memory > most) most = memory, largest = d;
    }
    if (bytes <= most) return META_OK;
    return meta_fail(META_ERR_NO_MEMORY,
                     "a buffer of %zu bytes fits on no device: %s has most, %" PRIu64 " bytes",
                     bytes, meta_auto_name(largest, text), most);
}

meta_err meta_auto_alloc(size_t bytes, meta_memory *memory)
{
    META_TRY(check_size(bytes));
    void *address;
    META_TRY(meta_addresses_take(bytes, &address));
    meta_auto_buffer *b = new_buffer(bytes);
    if (!b) {
        meta_addresses_give(address, bytes);
        return out_of_memory(bytes);
    }
    b->address = address;
    link_in(b);
    *memory = (meta_memory){address, b, bytes};
    return META_OK;
}

void meta_auto_wait_copy(const meta_auto_buffer *b, int d)
{
    for (size_t k = 0; k < b->slabs->count; ++k) {
        const meta_auto_slab *slab = &b->slabs->slab[k];
        const meta_mark *reader = meta_slab_readers(b->slabs, slab, d);
        meta_auto_wait(*meta_slab_writer(b->slabs, slab, d));
        for (int lane = 0; lane < b->slabs->lanes; ++lane) meta_auto_wait(reader[lane]);
    }
}

void meta_auto_free(const meta_memory *memory)
{
    meta_auto_buffer *b = memory->object;
    for (int d = 0; d < meta_auto.devices; ++d) {
        if (!b->copy[d].block) continue;
        meta_auto_wait_copy(b, d);
        meta_pool_put(meta_auto.device[d].device, b->copy[d].block);
    }
    meta_addresses_give(memory->address, memory->bytes);
    unlink_it(b);
    meta_slabs_free(b->slabs);
    free(b);
}

/* ------------------------------------------------------------------ memory of the program's */

meta_err meta_auto_wrap(void *native, size_t bytes, meta_native_kind kind, meta_memory *memory)
{
    int host = 0;
    if (kind != META_NATIVE_HOST)
        return meta_fail(META_ERR_UNSUPPORTED,
                         "argument 'kind' is META_NATIVE_OBJECT, an object of one device, but with "
                         "META_MODE=auto there are several: choose the device with meta_set_acc()");
    while (host < meta_auto.devices && !meta_auto.device[host].is_host) ++host;
    if (host == meta_auto.devices)
        return meta_fail(META_ERR_POINTER,
                         "argument 'native' (%p) is a host array, but no device of "
                         "META_AUTO_DEVICES uses the host's memory: add openmp",
                         native);
    const meta_device *device = meta_auto.device[host].device;
    meta_auto_buffer *b = new_buffer(bytes);
    if (!b) return out_of_memory(bytes);
    const meta_err error =
        device->backend->ops.wrap(device->plugin, native, bytes, kind, &b->wrapped);
    if (error != META_OK) {
        meta_slabs_free(b->slabs);
        free(b);
        return error;
    }
    b->address = b->wrapped.address;
    b->pinned = host;
    b->copy[host].object = b->wrapped.object;
    b->slabs->slab[0].valid = UINT32_C(1) << host;
    link_in(b);
    *memory = (meta_memory){b->address, b, bytes};
    return META_OK;
}

void meta_auto_unwrap(const meta_memory *memory)
{
    meta_auto_buffer *b = memory->object;
    const meta_device *device = meta_auto.device[b->pinned].device;
    meta_auto_wait_copy(b, b->pinned);
    device->backend->ops.unwrap(device->plugin, &b->wrapped);
    unlink_it(b);
    meta_slabs_free(b->slabs);
    free(b);
}
