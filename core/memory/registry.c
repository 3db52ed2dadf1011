/* SPDX-License-Identifier: BSD-3-Clause */
/** @file registry.c
 *  Buffers are addresses: which buffer, device and offset an address belongs to.
 *
 *  A table of disjoint ranges, sorted by address and searched by bisection. */
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

const meta_memory_hooks *meta_buffer_hooks;

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static meta_allocation *table;
static size_t count, room;

/* Recently freed ranges, to distinguish a freed address from a foreign one; the latest precedes
 * freed_next. */
enum { FREED = 1024 };
static struct {
    const char *base;
    uint64_t bytes;
    meta_note *note;
} freed[FREED];
static size_t freed_next;

/* Whether any buffer has had a label; most programs set none. */
static _Atomic bool labelled;

/* Free notes. A note lives as long as its buffer and then in `freed`. */
static meta_note *spare;

/* No buffer has a byte before the one or from the other on: most host addresses, as those on
 * stacks, are outside, which needs no lock to find. */
static _Atomic uintptr_t extent_from = UINTPTR_MAX, extent_to;

static const char *base_of(const meta_allocation *a)
{
    return a->memory.address;
}

/* After the table has changed; with the lock held. */
static void set_extent(void)
{
    const meta_allocation *last = count > 0 ? &table[count - 1] : NULL;
    extent_from = last ? (uintptr_t)base_of(table) : UINTPTR_MAX;
    extent_to = last ? (uintptr_t)base_of(last) + last->memory.bytes : 0;
}

/* The number of buffers that begin at or before @p address. */
static size_t rank_of(const char *address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (base_of(&table[middle]) <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The buffer that holds @p address; NULL where none does. With the lock held. */
static meta_allocation *holding(const void *address)
{
    const size_t k = rank_of(address);
    if (k == 0) return NULL;
    meta_allocation *a = &table[k - 1];
    return (uint64_t)((const char *)address - base_of(a)) < a->memory.bytes ? a : NULL;
}

/* The first buffer that shares a byte with @p bytes at @p address. With the lock held. */
static meta_allocation *touching(const void *address, uint64_t bytes)
{
    meta_allocation *a = holding(address);
    if (a) return a;
    const size_t k = rank_of(address);
    if (k < count && (uint64_t)(base_of(&table[k]) - (const char *)address) < bytes)
        return &table[k];
    return NULL;
}

/* Another buffer of the native object that @p wrapped wraps, which reserved addresses do not
 * reveal. With the lock held. */
static meta_allocation *sharing(const meta_allocation *wrapped)
{
    if (wrapped->kind != META_MEMORY_WRAPPED) return NULL;
    for (size_t k = 0; k < count; ++k)
        if (table[k].kind != META_MEMORY_HOST && table[k].device == wrapped->device &&
            table[k].memory.object == wrapped->memory.object)
            return &table[k];
    return NULL;
}

/* NULL without memory: the buffer then has neither label nor origin. */
static meta_note *note_of(meta_allocation *a)
{
    if (!a->note) {
        meta_note *note = spare;
        if (note) spare = note->next;
        else if (!(note = malloc(sizeof *note))) return NULL;
        note->label[0] = note->made.file[0] = note->gone.file[0] = '\0';
        note->made.caller = note->gone.caller = NULL;
        a->note = note;
    }
    a->note->wrapped = a->kind == META_MEMORY_WRAPPED;
    return a->note;
}

/* A buffer's label and origin, to follow its mention in a message. With the lock held. */
#define NOTE(a) meta_note_text((a)->note, false, (char[META_NOTE_ROOM]){0})

static meta_err grow(void)
{
    const size_t more = room ? 2 * room : 64;
    if (count < room) return META_OK;
    meta_allocation *larger = realloc(table, more * sizeof *table);
    if (!larger)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for %zu buffers", more);
    table = larger;
    room = more;
    return META_OK;
}

meta_err meta_registry_add(const meta_allocation *allocation, const meta_site *made)
{
    meta_err error;
    pthread_rwlock_wrlock(&lock);
    const meta_allocation *other = touching(allocation->memory.address, allocation->memory.bytes);
    if (!other) other = sharing(allocation);
    if (other) {
        error = meta_fail(
            META_ERR_OVERLAP, "%s%llu bytes at %p overlap the buffer of %llu bytes at %p%s",
            allocation->kind == META_MEMORY_WRAPPED ? "argument 'native': " : "",
            (unsigned long long)allocation->memory.bytes, allocation->memory.address,
            (unsigned long long)other->memory.bytes, other->memory.address, NOTE(other));
    } else if ((error = grow()) == META_OK) {
        const size_t k = rank_of(allocation->memory.address);
        memmove(&table[k + 1], &table[k], (count - k) * sizeof *table);
        table[k] = *allocation;
        if (made && note_of(&table[k])) table[k].note->made = *made;
        ++count;
        set_extent();
    }
    pthread_rwlock_unlock(&lock);
    return error;
}

static void remove_at(size_t k, const meta_site *gone)
{
    if (gone && note_of(&table[k])) table[k].note->gone = *gone;
    meta_note *old = freed[freed_next].note;
    if (old) {
        old->next = spare;
        spare = old;
    }
    freed[freed_next].base = base_of(&table[k]);
    freed[freed_next].bytes = table[k].memory.bytes;
    freed[freed_next].note = table[k].note;
    freed_next = (freed_next + 1) % FREED;
    memmove(&table[k], &table[k + 1], (count - k - 1) * sizeof *table);
    --count;
    set_extent();
}

/* The error for a pointer outside all live buffers. With the lock held. */
static meta_err no_buffer(const void *ptr, const char *name)
{
    if (!ptr) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    for (size_t step = 1; step <= FREED; ++step) { /* the latest first */
        const size_t k = (freed_next + FREED - step) % FREED;
        if (freed[k].base && (uint64_t)((const char *)ptr - freed[k].base) < freed[k].bytes)
            return meta_fail(META_ERR_POINTER,
                             "argument '%s' (%p) points into a buffer of %llu bytes "
                             "that was freed%s",
                             name, ptr, (unsigned long long)freed[k].bytes,
                             meta_note_text(freed[k].note, true, (char[META_NOTE_ROOM]){0}));
    }
    return meta_fail(META_ERR_POINTER,
                     "argument '%s' (%p) is not in any buffer of meta_alloc() or meta_wrap()", name,
                     ptr);
}

/* Whether @p a (NULL: none) may be freed as a buffer of @p kind at @p ptr. With the lock held. */
static meta_err check_take(const meta_allocation *a, const void *ptr, meta_memory_kind kind,
                           const char *name)
{
    static const char *const made_by[] = {"meta_alloc", "meta_wrap", "meta_host_alloc"};
    static const char *const ended_by[] = {"meta_free", "meta_unwrap", "meta_host_free"};
    if (!a) return no_buffer(ptr, name);
    if (a->kind != kind)
        return meta_fail(META_ERR_POINTER, "argument '%s' (%p)%s comes from %s(): give it to %s()",
                         name, ptr, NOTE(a), made_by[a->kind], ended_by[a->kind]);
    if (base_of(a) != ptr)
        return meta_fail(META_ERR_POINTER,
                         "argument '%s' (%p) lies inside the buffer that begins "
                         "at %p%s: give the beginning",
                         name, ptr, a->memory.address, NOTE(a));
    if (a->holds > 0)
        return meta_fail(META_ERR_STATE,
                         "argument '%s' (%p)%s is used by a message or a plan: wait for "
                         "its event first",
                         name, ptr, NOTE(a));
    return META_OK;
}

meta_err meta_registry_take(void *ptr, meta_memory_kind kind, const char *name,
                            const meta_site *gone, meta_allocation *taken)
{
    pthread_rwlock_wrlock(&lock);
    const meta_allocation *a = ptr ? holding(ptr) : NULL;
    const meta_err error = check_take(a, ptr, kind, name);
    if (error == META_OK) {
        *taken = *a;
        remove_at((size_t)(a - table), gone);
    }
    pthread_rwlock_unlock(&lock);
    return error;
}

bool meta_registry_find(const void *ptr, meta_allocation *found)
{
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = holding(ptr);
    if (a) *found = *a;
    pthread_rwlock_unlock(&lock);
    return a != NULL;
}

void meta_registry_hold(const void *ptr, int change)
{
    pthread_rwlock_wrlock(&lock);
    meta_allocation *a = holding(ptr);
    if (a) a->holds += change;
    pthread_rwlock_unlock(&lock);
}

const char *meta_registry_note(const void *ptr, char text[META_NOTE_ROOM])
{
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = holding(ptr);
    meta_note_text(a ? a->note : NULL, false, text);
    pthread_rwlock_unlock(&lock);
    return text;
}

bool meta_registry_labelled(void)
{
    return labelled;
}

void meta_registry_label(const void *address, meta_called *called)
{
    *called = (meta_called){.first = address, .end = address};
    if (!address) return;
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = holding(address);
    if (a) {
        called->first = base_of(a);
        called->end = base_of(a) + a->memory.bytes;
        meta_label_copy(called->label, a->note ? a->note->label : NULL);
    }
    pthread_rwlock_unlock(&lock);
}

void meta_registry_each(void (*function)(const meta_allocation *, void *), void *with)
{
    pthread_rwlock_rdlock(&lock);
    for (size_t k = 0; k < count; ++k) function(&table[k], with);
    pthread_rwlock_unlock(&lock);
}

bool meta_registry_drain(meta_allocation *taken, char text[META_NOTE_ROOM])
{
    pthread_rwlock_wrlock(&lock);
    const bool any = count > 0;
    if (any) {
        *taken = table[count - 1];
        meta_note_text(taken->note, false, text);
        remove_at(count - 1, NULL);
    }
    pthread_rwlock_unlock(&lock);
    return any;
}

void meta_registry_forget(void)
{
    pthread_rwlock_wrlock(&lock);
    for (size_t k = 0; k < FREED; ++k) free(freed[k].note);
    while (spare) {
        meta_note *note = spare;
        spare = note->next;
        free(note);
    }
    free(table);
    table = NULL;
    count = room = 0;
    set_extent();
    labelled = false;
    memset(freed, 0, sizeof freed);
    pthread_rwlock_unlock(&lock);
}

static void fill_span(const meta_allocation *a, const void *ptr, meta_span *span)
{
    span->device = a->device;
    span->object = a->memory.object;
    span->before = (uint64_t)((const char *)ptr - base_of(a));
    span->offset = a->front + span->before;
    span->room = a->memory.bytes - span->before;
    span->address = (char *)(uintptr_t)ptr;
}

meta_err meta_span_at(const void *ptr, const char *name, meta_span *span)
{
    meta_err error = META_OK;
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = ptr ? holding(ptr) : NULL;
    if (!a) {
        error = no_buffer(ptr, name);
    } else if (a->kind == META_MEMORY_HOST) {
        error = meta_fail(META_ERR_POINTER,
                          "argument '%s' (%p)%s is host memory of meta_host_alloc(): a "
                          "device buffer is needed",
                          name, ptr, NOTE(a));
    } else {
        fill_span(a, ptr, span);
    }
    pthread_rwlock_unlock(&lock);
    return error;
}

/* With the lock held. */
static meta_err check_host_range(const void *ptr, uint64_t bytes, const char *name)
{
    if (!ptr) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    if (bytes > UINTPTR_MAX - (uintptr_t)ptr)
        return meta_fail(META_ERR_OVERFLOW,
                         "argument '%s' (%p): %llu bytes reach past the end of the address space",
                         name, ptr, (unsigned long long)bytes);
    const char *end = (const char *)ptr + bytes;
    for (const meta_allocation *a = touching(ptr, bytes);
         a && a < table + count && base_of(a) < end; ++a) {
        const bool within = base_of(a) <= (const char *)ptr && end <= base_of(a) + a->memory.bytes;
        if (a->kind == META_MEMORY_HOST && within) continue;
        if (a->kind == META_MEMORY_HOST)
            return meta_fail(META_ERR_BOUNDS,
                             "argument '%s' (%p): %llu bytes leave the host memory of %llu bytes "
                             "at %p%s",
                             name, ptr, (unsigned long long)bytes,
                             (unsigned long long)a->memory.bytes, a->memory.address, NOTE(a));
        /* A wrapped array is still the application's, and part of it may be wrapped. */
        if (a->kind == META_MEMORY_WRAPPED && meta_device_is_host(a->device)) continue;
        return meta_fail(META_ERR_POINTER,
                         "argument '%s' (%p) must be host memory, but lies in a device buffer of "
                         "%llu bytes at %p%s",
                         name, ptr, (unsigned long long)a->memory.bytes, a->memory.address,
                         NOTE(a));
    }
    return META_OK;
}

meta_err meta_host_range(const void *ptr, uint64_t bytes, const char *name)
{
    const uintptr_t from = (uintptr_t)ptr;
    if (from >= extent_to && ptr && bytes <= UINTPTR_MAX - from) return META_OK;
    if (bytes <= extent_from && from <= extent_from - bytes && ptr) return META_OK;
    pthread_rwlock_rdlock(&lock);
    const meta_err error = check_host_range(ptr, bytes, name);
    pthread_rwlock_unlock(&lock);
    return error;
}

meta_err meta_span_or_host(const void *ptr, uint64_t bytes, const char *name, int *is_device,
                           meta_span *span)
{
    meta_err error = META_OK;
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = ptr ? holding(ptr) : NULL;
    *is_device = a && a->kind != META_MEMORY_HOST;
    if (*is_device) fill_span(a, ptr, span);
    else error = check_host_range(ptr, bytes, name);
    pthread_rwlock_unlock(&lock);
    return error;
}

meta_err meta_pointer_info(const void *ptr, meta_pointer_desc *desc)
{
    meta_err error = META_OK;
    meta_device *device = NULL, *pinned = NULL;
    void *object = NULL;
    META_ENTER();
    META_NEED_DESC(desc, META_POINTER_DESC_INIT);
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = ptr ? holding(ptr) : NULL;
    if (a) {
        device = a->device;
        object = a->kind != META_MEMORY_HOST ? a->memory.object : NULL;
        desc->kind = a->kind;
        desc->base = a->memory.address;
        desc->bytes = a->memory.bytes;
        desc->offset = (size_t)((const char *)ptr - base_of(a));
        meta_label_copy(desc->label, a->note ? a->note->label : NULL);
    } else {
        error = no_buffer(ptr, "ptr");
    }
    pthread_rwlock_unlock(&lock);
    META_TRY(error);
    if (object && device->backend->mode == META_AUTO) pinned = meta_buffer_hooks->pinned(object);
    if (pinned) device = pinned;
    desc->mode = device->backend->mode;
    desc->index = device->index;
    return META_OK;
}

meta_err meta_label(const void *ptr, const char *label)
{
    meta_err error = META_OK;
    META_ENTER();
    pthread_rwlock_wrlock(&lock);
    meta_allocation *a = ptr ? holding(ptr) : NULL;
    if (!a) error = no_buffer(ptr, "ptr");
    else if (note_of(a)) meta_label_copy(a->note->label, label), labelled = true;
    else error = meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a label");
    pthread_rwlock_unlock(&lock);
    return error;
}
