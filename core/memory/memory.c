/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Buffers: allocating, freeing and wrapping them. */
#include "memory/memory.h"

#include <inttypes.h>

static void count_out(const meta_allocation *a)
{
    if (a->kind != META_MEMORY_HOST) --a->device->buffers;
    if (a->kind == META_MEMORY_DEVICE) a->device->allocated -= a->memory.bytes;
}

static void release(const meta_allocation *a)
{
    if (a->kind == META_MEMORY_DEVICE) meta_pool_put(a->device, a->block);
    else if (a->kind == META_MEMORY_WRAPPED)
        a->device->backend->ops.unwrap(a->device->plugin, &a->memory);
    else
        meta_host_memory_free(a->device, (char *)a->memory.address - a->guard,
                              a->memory.bytes + 2 * a->guard);
}

void meta_release_allocation(const meta_allocation *a)
{
    count_out(a);
    release(a);
}

/* Register and count a buffer; on failure its memory is released. */
static meta_err register_memory(const meta_allocation *a, const meta_site *made)
{
    meta_err error = meta_checked() ? meta_buffer_hooks->made(a) : META_OK;
    if (error == META_OK) error = meta_registry_add(a, made);
    if (error != META_OK) return release(a), error;
    meta_device *device = a->device;
    if (a->kind != META_MEMORY_HOST) ++device->buffers;
    if (a->kind != META_MEMORY_DEVICE) return META_OK;
    const uint64_t now = atomic_fetch_add(&device->allocated, a->memory.bytes) + a->memory.bytes;
    uint64_t peak = device->peak;
    while (now > peak && !atomic_compare_exchange_weak(&device->peak, &peak, now)) {
    }
    return META_OK;
}

static meta_err allocate(meta_allocation *a, size_t bytes)
{
    if (a->kind == META_MEMORY_HOST)
        META_TRY(meta_host_memory(a->device, bytes, &a->memory.address));
    else {
        META_TRY(meta_pool_get(a->device, bytes, &a->block));
        a->memory = *meta_block_memory(a->block);
    }
    return META_OK;
}

/* A buffer of @p kind between guards, or where memory is short without them, @p lead bytes from an
 * address that is aligned to 64. */
static meta_err new_buffer(meta_memory_kind kind, meta_device *device, size_t lead, size_t bytes,
                           const meta_shape *shape, const meta_site *made, void **ptr)
{
    meta_allocation a = {.kind = kind,
                         .device = device,
                         .guard = meta_buffer_hooks->guard_bytes(bytes),
                         .lead = lead,
                         .shape = shape};
    meta_err error = allocate(&a, lead + bytes + 2 * a.guard);
    if (error == META_ERR_NO_MEMORY && a.guard > 0) a.guard = 0, error = allocate(&a, lead + bytes);
    META_TRY(error);
    const uint64_t before = a.lead + a.guard;
    a.memory.bytes = bytes;
    /* With reserved addresses the object begins with the block, otherwise with the buffer. */
    if (a.memory.object == a.memory.address) a.memory.object = (char *)a.memory.object + before;
    else a.front = before;
    a.memory.address = (char *)a.memory.address + before;
    META_TRY(register_memory(&a, made));
    *ptr = a.memory.address;
    return META_OK;
}

meta_err meta_buffer(meta_device *device, size_t lead, size_t bytes, const meta_shape *shape,
                     const meta_site *made, void **ptr)
{
    if (bytes > PTRDIFF_MAX)
        return meta_fail(META_ERR_OVERFLOW, "%zu bytes are more than any buffer can have", bytes);
    return new_buffer(META_MEMORY_DEVICE, device, lead, bytes, shape, made, ptr);
}

meta_err meta_scratch(meta_device *device, size_t bytes, void **ptr)
{
    return meta_buffer(device, 0, bytes, NULL, NULL, ptr);
}

static meta_err give_back(void *ptr, meta_memory_kind kind, const meta_site *gone)
{
    meta_allocation taken;
    META_TRY(meta_registry_take(ptr, kind, "ptr", gone, &taken));
    meta_buffer_hooks->freed(taken.memory.address, taken.memory.bytes);
    const meta_err error = meta_device_finish(taken.device);
    const meta_err found = meta_checked() ? meta_buffer_hooks->gone(&taken) : META_OK;
    count_out(&taken);
    if (!meta_checked() || kind != META_MEMORY_DEVICE) release(&taken);
    return error != META_OK ? error : found;
}

void meta_scratch_free(void *ptr)
{
    if (ptr) give_back(ptr, META_MEMORY_DEVICE, NULL);
}

void meta_scratch_leave(void *ptr)
{
    meta_allocation taken;
    if (meta_registry_take(ptr, META_MEMORY_DEVICE, "ptr", NULL, &taken) != META_OK) return;
    count_out(&taken);
    meta_pool_leave(taken.device, taken.block);
}

/* ------------------------------------------------------------------ public */

static meta_err check_bytes(size_t bytes)
{
    if (bytes == 0) return meta_fail(META_ERR_ARGUMENT, "argument 'bytes' is 0: give at least 1");
    if (bytes > PTRDIFF_MAX)
        return meta_fail(META_ERR_OVERFLOW,
                         "argument 'bytes' is %zu, more than any buffer can have", bytes);
    return META_OK;
}

meta_err meta_alloc(void **ptr, size_t bytes)
{
    meta_device *device;
    meta_site made;
    META_SITE_TAKE(&made);
    META_ENTER();
    META_NEED(ptr);
    META_TRY(check_bytes(bytes));
    META_TRY(meta_device_current(&device));
    return meta_buffer(device, 0, bytes, NULL, &made, ptr);
}

meta_err meta_free(void *ptr)
{
    meta_site gone;
    META_SITE_TAKE(&gone);
    META_ENTER();
    return give_back(ptr, META_MEMORY_DEVICE, &gone);
}

meta_err meta_host_alloc(void **ptr, size_t bytes)
{
    meta_device *device;
    meta_site made;
    META_SITE_TAKE(&made);
    META_ENTER();
    META_NEED(ptr);
    META_TRY(check_bytes(bytes));
    META_TRY(meta_device_current(&device));
    return new_buffer(META_MEMORY_HOST, device, 0, bytes, NULL, &made, ptr);
}

meta_err meta_host_free(void *ptr)
{
    meta_site gone;
    META_SITE_TAKE(&gone);
    META_ENTER();
    return give_back(ptr, META_MEMORY_HOST, &gone);
}

meta_err meta_wrap(void **ptr, void *native, size_t bytes, meta_native_kind kind)
{
    meta_allocation a = {.kind = META_MEMORY_WRAPPED};
    meta_site made;
    META_SITE_TAKE(&made);
    META_ENTER();
    META_NEED(ptr);
    META_NEED(native);
    META_TRY(check_bytes(bytes));
    if (kind != META_NATIVE_HOST && kind != META_NATIVE_OBJECT)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'kind' is %d: give META_NATIVE_HOST or META_NATIVE_OBJECT",
                         (int)kind);
    if (kind == META_NATIVE_HOST && bytes > UINTPTR_MAX - (uintptr_t)native)
        return meta_fail(
            META_ERR_OVERFLOW,
            "argument 'native' (%p): %zu bytes reach past the end of the address space", native,
            bytes);
    META_TRY(meta_device_current(&a.device));
    META_TRY(a.device->backend->ops.wrap(a.device->plugin, native, bytes, kind, &a.memory));
    META_TRY(register_memory(&a, &made));
    *ptr = a.memory.address;
    return META_OK;
}

meta_err meta_unwrap(void *ptr)
{
    meta_site gone;
    META_SITE_TAKE(&gone);
    META_ENTER();
    return give_back(ptr, META_MEMORY_WRAPPED, &gone);
}

meta_err meta_host_view(const void *ptr, void **host)
{
    char note[META_NOTE_ROOM];
    meta_span span;
    META_ENTER();
    META_NEED(host);
    META_TRY(meta_span_at(ptr, "ptr", &span));
    if (!meta_device_is_host(span.device))
        return meta_fail(META_ERR_UNSUPPORTED,
                         "argument 'ptr' (%p)%s is in the memory of %s:%d, which the host cannot "
                         "address: copy it with meta_copy_d2h() or meta_copy_box_d2h(), or "
                         "allocate it on an OpenMP device (META_MODE=openmp)",
                         ptr, meta_registry_note(ptr, note), span.device->backend->name,
                         span.device->index);
    *host = span.address;
    return META_OK;
}

meta_err meta_native(const void *ptr, void **object, size_t *offset)
{
    meta_span span;
    META_ENTER();
    if (!object && !offset)
        return meta_fail(META_ERR_ARGUMENT, "arguments 'object' and 'offset' are both NULL");
    META_TRY(meta_span_at(ptr, "ptr", &span));
    if (span.device->backend->mode == META_AUTO)
        META_TRY(meta_buffer_hooks->pin(span.object, &span.object));
    if (object) *object = span.object;
    if (offset) *offset = span.offset;
    return META_OK;
}

meta_err meta_native_end(const void *ptr)
{
    meta_span span;
    META_ENTER();
    META_TRY(meta_span_at(ptr, "ptr", &span));
    if (span.device->backend->mode == META_AUTO) meta_buffer_hooks->unpin(span.object);
    return META_OK;
}
