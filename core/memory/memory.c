/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.c
 *  Buffers: allocating, freeing and wrapping them, and copying between them and the host. */
#include "core.h"

#include <inttypes.h>

/* ------------------------------------------------------------------ accounts */

static void count_in(meta_device *device, uint64_t bytes)
{
    const uint64_t now = atomic_fetch_add(&device->allocated, bytes) + bytes;
    uint64_t peak = device->peak;
    while (now > peak && !atomic_compare_exchange_weak(&device->peak, &peak, now)) {
    }
}

static void count_out(meta_device *device, uint64_t bytes)
{
    device->allocated -= bytes;
    --device->buffers;
}

static meta_err register_memory(const meta_allocation *a, const meta_site *made)
{
    if (meta_checked()) META_TRY(meta_check_made(a));
    META_TRY(meta_registry_add(a, made));
    if (a->kind == META_MEMORY_DEVICE) count_in(a->device, a->memory.bytes);
    if (a->kind != META_MEMORY_HOST) ++a->device->buffers;
    return META_OK;
}

/* Give memory that has left the registry back to its device. */
void meta_release_allocation(const meta_allocation *a)
{
    const meta_ops *ops = &a->device->backend->ops;
    switch (a->kind) {
    case META_MEMORY_DEVICE:
        count_out(a->device, a->memory.bytes);
        meta_pool_put(a->device, a->block);
        break;
    case META_MEMORY_WRAPPED:
        --a->device->buffers;
        ops->unwrap(a->device->plugin, &a->memory);
        break;
    case META_MEMORY_HOST:
        meta_host_memory_free(a->device, (char *)a->memory.address - a->guard,
                              a->memory.bytes + 2 * a->guard);
        break;
    }
}

/* The same, and say what was written where it must not be. */
static meta_err check_and_release(const meta_allocation *a)
{
    const meta_err error = meta_check_gone(a);
    if (a->kind == META_MEMORY_DEVICE) count_out(a->device, a->memory.bytes);
    else meta_release_allocation(a);
    return error;
}

static meta_err give_back(void *ptr, meta_memory_kind kind, const meta_site *gone)
{
    meta_allocation taken;
    meta_err error, found = META_OK;
    META_TRY(meta_registry_take(ptr, kind, "ptr", gone, &taken));
    meta_exact_forget(taken.memory.address, taken.memory.bytes);
    error = meta_device_finish(taken.device);
    if (meta_checked()) found = check_and_release(&taken);
    else meta_release_allocation(&taken);
    return error != META_OK ? error : found;
}

/* A buffer's place between the guards of what was allocated for it. Where memory is no address, its
 * object has bytes before the buffer. */
static void put_between_guards(meta_allocation *a)
{
    a->memory.bytes -= 2 * a->guard;
    if (a->memory.object == a->memory.address)
        a->memory.object = (char *)a->memory.object + a->guard;
    else a->front = a->guard;
    a->memory.address = (char *)a->memory.address + a->guard;
}

/* ------------------------------------------------------------------ for the files around */

meta_err meta_buffer(meta_device *device, size_t bytes, const meta_site *made, void **ptr)
{
    meta_allocation a = {.kind = META_MEMORY_DEVICE, .device = device};
    if (bytes > PTRDIFF_MAX)
        return meta_fail(META_ERR_OVERFLOW, "%zu bytes are more than any buffer can have", bytes);
    a.guard = meta_check_guard(bytes);
    meta_err error = meta_pool_get(device, bytes + 2 * a.guard, &a.block);
    if (error == META_ERR_NO_MEMORY && a.guard > 0) /* so rather without guards */
        a.guard = 0, error = meta_pool_get(device, bytes, &a.block);
    META_TRY(error);
    a.memory = *meta_block_memory(a.block);
    a.memory.bytes = bytes + 2 * a.guard;
    put_between_guards(&a);
    error = register_memory(&a, made);
    if (error != META_OK) return meta_pool_put(device, a.block), error;
    *ptr = a.memory.address;
    return META_OK;
}

meta_err meta_scratch(meta_device *device, size_t bytes, void **ptr)
{
    return meta_buffer(device, bytes, NULL, ptr);
}

void meta_scratch_free(void *ptr)
{
    if (ptr) give_back(ptr, META_MEMORY_DEVICE, NULL);
}

/* Somebody else may still use the memory: it is not given back, and no longer the library's. */
void meta_scratch_leave(void *ptr)
{
    meta_allocation taken;
    if (meta_registry_take(ptr, META_MEMORY_DEVICE, "ptr", NULL, &taken) != META_OK) return;
    count_out(taken.device, taken.memory.bytes);
    meta_pool_leave(taken.device, taken.block);
}

/* ------------------------------------------------------------------ public */

meta_err meta_alloc(void **ptr, size_t bytes)
{
    meta_device *device;
    meta_site made;
    META_SITE_TAKE(&made);
    META_ENTER();
    META_NEED(ptr);
    if (bytes == 0) return meta_fail(META_ERR_ARGUMENT, "argument 'bytes' is 0: give at least 1");
    META_TRY(meta_device_current(&device));
    return meta_buffer(device, bytes, &made, ptr);
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
    meta_allocation a = {.kind = META_MEMORY_HOST};
    meta_site made;
    meta_err error;
    META_SITE_TAKE(&made);
    META_ENTER();
    META_NEED(ptr);
    if (bytes == 0) return meta_fail(META_ERR_ARGUMENT, "argument 'bytes' is 0: give at least 1");
    META_TRY(meta_device_current(&a.device));
    a.guard = meta_check_guard(bytes);
    error = meta_host_memory(a.device, bytes + 2 * a.guard, &a.memory.address);
    if (error == META_ERR_NO_MEMORY && a.guard > 0)
        a.guard = 0, error = meta_host_memory(a.device, bytes, &a.memory.address);
    META_TRY(error);
    a.memory.bytes = bytes + 2 * a.guard;
    put_between_guards(&a);
    error = register_memory(&a, &made);
    if (error != META_OK) {
        meta_host_memory_free(a.device, (char *)a.memory.address - a.guard, bytes + 2 * a.guard);
        return error;
    }
    *ptr = a.memory.address;
    return META_OK;
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
    meta_err error;
    META_SITE_TAKE(&made);
    META_ENTER();
    META_NEED(ptr);
    META_NEED(native);
    if (bytes == 0) return meta_fail(META_ERR_ARGUMENT, "argument 'bytes' is 0: give at least 1");
    if (bytes > PTRDIFF_MAX)
        return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu, more than any array has",
                         bytes);
    if (kind != META_NATIVE_HOST && kind != META_NATIVE_OBJECT)
        return meta_fail(META_ERR_ARGUMENT,
                         "argument 'kind' is %d: give META_NATIVE_HOST or "
                         "META_NATIVE_OBJECT",
                         (int)kind);
    META_TRY(meta_device_current(&a.device));
    const meta_ops *ops = &a.device->backend->ops;
    META_TRY(ops->wrap(a.device->plugin, native, bytes, kind, &a.memory));
    error = register_memory(&a, &made);
    if (error != META_OK) return ops->unwrap(a.device->plugin, &a.memory), error;
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

meta_err meta_copy_h2d(void *dst, const void *src, size_t bytes, meta_event *done)
{
    meta_span to;
    META_ENTER();
    if (bytes == 0) return meta_submit_nothing(done);
    if (bytes > PTRDIFF_MAX) return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu", bytes);
    META_TRY(meta_resolve(dst, (int64_t)bytes, META_U8, "dst", &to));
    META_TRY(meta_host_range(src, bytes, "src"));
    return meta_submit_copy(to.device, META_COPY_H2D, (void *)(uintptr_t)src, &to, bytes, done);
}

meta_err meta_copy_d2h(void *dst, const void *src, size_t bytes, meta_event *done)
{
    meta_span from;
    META_ENTER();
    if (bytes == 0) return meta_submit_nothing(done);
    if (bytes > PTRDIFF_MAX) return meta_fail(META_ERR_OVERFLOW, "argument 'bytes' is %zu", bytes);
    META_TRY(meta_host_range(dst, bytes, "dst"));
    META_TRY(meta_resolve(src, (int64_t)bytes, META_U8, "src", &from));
    return meta_submit_copy(from.device, META_COPY_D2H, dst, &from, bytes, done);
}
