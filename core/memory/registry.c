/* SPDX-License-Identifier: BSD-3-Clause */
/** @file registry.c
 *  Buffers are addresses: which buffer, device and offset an address belongs to.
 *
 *  Ranges are disjoint. Those of device memory stay while the pool keeps the memory, as gone: so a
 *  freed address is known for as long as it cannot be the program's own, and a buffer in memory of
 *  the pool's takes over the range that is there. */
#include "memory/ranges.h"
#include "memory/shape.h"

#include <stdlib.h>
#include <string.h>

const meta_memory_hooks *meta_buffer_hooks;

/* Every call reads: without precedence for writers, threads that call all the time would keep
 * another one's allocation waiting for milliseconds. No reader takes it twice. */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
#else
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#endif

/* Ranges that were dropped lately, to distinguish a freed address from a foreign one; the latest
 * precedes freed_next. */
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

/* The shape of a grid; a free one stays allocated, for threads that have just found it. */
typedef struct kept_shape {
    meta_shape of;
    struct kept_shape *next; /* in the free list */
} kept_shape;
static kept_shape *spare_shapes;

/* No buffer has a byte before the one or from the other on: most host addresses, as those on
 * stacks, are outside, which needs no lock to find. */
static _Atomic uintptr_t extent_from = UINTPTR_MAX, extent_to;

static const char *base_of(const meta_allocation *a)
{
    return a->memory.address;
}

/* After a range was added or removed; with the lock held. */
static void set_extent(void)
{
    const meta_allocation *first = meta_ranges_behind(NULL), *last = meta_ranges_last();
    extent_from = first ? (uintptr_t)base_of(first) : UINTPTR_MAX;
    extent_to = last ? (uintptr_t)base_of(last) + last->memory.bytes : 0;
}

/* The buffer that holds @p address; NULL where none does. With the lock held, like all that
 * follows.
 */
static meta_allocation *holding(const void *address)
{
    meta_allocation *a = meta_ranges_around(address);
    return a && !a->gone ? a : NULL;
}

/* The first range that shares a byte with @p bytes at @p address. */
static meta_allocation *touching(const void *address, uint64_t bytes)
{
    meta_allocation *a = meta_ranges_around(address);
    if (!a) a = meta_ranges_behind(address);
    if (!a || base_of(a) <= (const char *)address) return a;
    return (uint64_t)(base_of(a) - (const char *)address) < bytes ? a : NULL;
}

/* The next one behind @p a that begins before @p end. */
static meta_allocation *next_before(const meta_allocation *a, const char *end)
{
    meta_allocation *next = meta_ranges_behind(base_of(a));
    return next && base_of(next) < end ? next : NULL;
}

/* Another buffer of the native object that @p wrapped wraps, which reserved addresses do not
 * reveal. */
static meta_allocation *sharing(const meta_allocation *wrapped)
{
    if (wrapped->kind != META_MEMORY_WRAPPED) return NULL;
    for (meta_allocation *a = meta_ranges_behind(NULL); a; a = meta_ranges_behind(base_of(a)))
        if (!a->gone && a->kind != META_MEMORY_HOST && a->device == wrapped->device &&
            a->memory.object == wrapped->memory.object)
            return a;
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

/* A number for the start of a shape, which is not 0: six bits of it for each dimension, or where
 * they do not hold it, a number of this shape alone. */
static uint64_t origin_of(const meta_shape *shape)
{
    enum { BITS = 6 };
    const meta_box *box = &shape->box;
    uint64_t origin = UINT64_C(1) << (BITS * META_MAX_DIM);
    for (int d = 0; d < box->ndim; ++d) {
        if (box->start[d] >> BITS) return UINT64_C(1) << 63 | (uintptr_t)shape;
        origin |= (uint64_t)box->start[d] << (BITS * d);
    }
    return origin;
}

/* A copy of the shape that @p a was allocated with becomes the registry's; false: no memory. */
static bool keep_shape(meta_allocation *a)
{
    kept_shape *kept = spare_shapes;
    if (!a->shape) return true;
    if (kept) spare_shapes = kept->next;
    else if (!(kept = malloc(sizeof *kept))) return a->shape = NULL, false;
    kept->of = *a->shape;
    kept->of.origin = origin_of(&kept->of);
    a->shape = &kept->of;
    return true;
}

static void forget_shape(meta_allocation *a)
{
    kept_shape *kept = (kept_shape *)(uintptr_t)a->shape;
    if (!kept) return;
    kept->next = spare_shapes;
    spare_shapes = kept;
    a->shape = NULL;
}

/* A buffer's label and origin, to follow its mention in a message. */
#define NOTE(a) meta_note_text((a)->note, false, (char[META_NOTE_ROOM]){0})

/* Forget a range, but for messages about it. */
static void drop(meta_allocation *a)
{
    meta_note *old = freed[freed_next].note;
    if (old) {
        old->next = spare;
        spare = old;
    }
    freed[freed_next].base = base_of(a);
    freed[freed_next].bytes = a->memory.bytes;
    freed[freed_next].note = a->note;
    freed_next = (freed_next + 1) % FREED;
    forget_shape(a);
    meta_ranges_remove(a);
    set_extent();
}

/* A buffer that shares memory with @p allocation, whose own range may be there as gone. */
static const meta_allocation *other_than(const meta_allocation *allocation)
{
    const char *base = base_of(allocation), *end = base + allocation->memory.bytes;
    for (meta_allocation *a = touching(base, allocation->memory.bytes); a; a = next_before(a, end))
        if (!a->gone || allocation->kind != META_MEMORY_DEVICE) return a;
    return sharing(allocation);
}

/* In the place of what was in this memory before. */
static meta_allocation *enter(const meta_allocation *allocation)
{
    const char *base = base_of(allocation), *end = base + allocation->memory.bytes;
    meta_allocation *a = touching(base, allocation->memory.bytes);
    if (a && base_of(a) == base && !next_before(a, end)) {
        meta_note *note = a->note;
        *a = *allocation;
        a->note = note;
        if (note) note->label[0] = note->made.file[0] = note->gone.file[0] = '\0';
        if (note) note->made.caller = note->gone.caller = NULL;
        if ((uintptr_t)base + a->memory.bytes > extent_to) set_extent();
        return a;
    }
    for (; a; a = touching(base, allocation->memory.bytes)) drop(a);
    a = meta_ranges_add(allocation);
    if (a) set_extent();
    return a;
}

meta_err meta_registry_add(const meta_allocation *allocation, const meta_site *made)
{
    meta_err error = META_OK;
    meta_allocation *a;
    pthread_rwlock_wrlock(&lock);
    const meta_allocation *other = other_than(allocation);
    if (other)
        error = meta_fail(META_ERR_OVERLAP,
                          "%s%llu bytes at %p overlap the buffer of %llu bytes at %p%s%s",
                          allocation->kind == META_MEMORY_WRAPPED ? "argument 'native': " : "",
                          (unsigned long long)allocation->memory.bytes, allocation->memory.address,
                          (unsigned long long)other->memory.bytes, other->memory.address,
                          other->gone ? ", which was freed" : "", NOTE(other));
    else if (!(a = enter(allocation)) || !keep_shape(a)) {
        if (a) drop(a);
        error = meta_fail(META_ERR_NO_MEMORY, "the host has no memory for another buffer");
    } else if (made && note_of(a)) a->note->made = *made;
    pthread_rwlock_unlock(&lock);
    return error;
}

void meta_registry_drop(const meta_memory *memory)
{
    pthread_rwlock_wrlock(&lock);
    meta_allocation *a = touching(memory->address, memory->bytes);
    if (a && a->gone) drop(a);
    pthread_rwlock_unlock(&lock);
}

static meta_err was_freed(const void *ptr, const char *name, uint64_t bytes, const meta_note *note)
{
    return meta_fail(META_ERR_POINTER,
                     "argument '%s' (%p) points into a buffer of %llu bytes that was freed%s", name,
                     ptr, (unsigned long long)bytes,
                     meta_note_text(note, true, (char[META_NOTE_ROOM]){0}));
}

/* Whether @p ptr is in a buffer that was freed; then *error says so. */
static bool is_freed(const void *ptr, const char *name, meta_err *error)
{
    const meta_allocation *a = meta_ranges_around(ptr);
    if (a) return *error = was_freed(ptr, name, a->memory.bytes, a->note), true;
    for (size_t step = 1; step <= FREED; ++step) { /* the latest first */
        const size_t k = (freed_next + FREED - step) % FREED;
        if (!freed[k].base || (uint64_t)((const char *)ptr - freed[k].base) >= freed[k].bytes)
            continue;
        *error = was_freed(ptr, name, freed[k].bytes, freed[k].note);
        return true;
    }
    return false;
}

/* The error for a pointer outside all live buffers. @p makers: what would have made the right one.
 */
static meta_err no_buffer(const void *ptr, const char *name, const char *makers)
{
    meta_err error;
    if (!ptr) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    if (is_freed(ptr, name, &error)) return error;
    return meta_fail(META_ERR_POINTER, "argument '%s' (%p) is not in any buffer of %s", name, ptr,
                     makers);
}

/* Whether @p a (NULL: none) may be freed as a buffer of @p kind at @p ptr. */
static meta_err check_take(const meta_allocation *a, const void *ptr, meta_memory_kind kind,
                           const char *name)
{
    static const char *const made_by[] = {"meta_alloc()", "meta_wrap()", "meta_host_alloc()"};
    static const char *const ended_by[] = {"meta_free", "meta_unwrap", "meta_host_free"};
    if (!a) return no_buffer(ptr, name, made_by[kind]);
    if (a->kind != kind)
        return meta_fail(META_ERR_POINTER, "argument '%s' (%p)%s comes from %s: give it to %s()",
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
    meta_allocation *a = ptr ? holding(ptr) : NULL;
    const meta_err error = check_take(a, ptr, kind, name);
    if (error == META_OK) {
        forget_shape(a);
        *taken = *a;
        if (gone && note_of(a)) a->note->gone = *gone;
        if (kind == META_MEMORY_DEVICE) a->gone = true;
        else drop(a);
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

bool meta_registry_behind(const void *address, meta_allocation *found)
{
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = meta_ranges_behind(address);
    while (a && a->gone) a = meta_ranges_behind(base_of(a));
    if (a) *found = *a;
    pthread_rwlock_unlock(&lock);
    return a != NULL;
}

bool meta_registry_drain(meta_allocation *taken, char text[META_NOTE_ROOM])
{
    pthread_rwlock_wrlock(&lock);
    meta_allocation *a = meta_ranges_last();
    for (; a && a->gone; a = meta_ranges_last()) drop(a);
    const bool any = a != NULL;
    if (any) {
        forget_shape(a);
        *taken = *a;
        meta_note_text(taken->note, false, text);
        drop(a);
    }
    pthread_rwlock_unlock(&lock);
    return any;
}

void meta_registry_forget(void)
{
    pthread_rwlock_wrlock(&lock);
    for (meta_allocation *a; (a = meta_ranges_last()) != NULL;) drop(a);
    meta_ranges_forget();
    for (size_t k = 0; k < FREED; ++k) free(freed[k].note);
    while (spare) {
        meta_note *note = spare;
        spare = note->next;
        free(note);
    }
    while (spare_shapes) {
        kept_shape *kept = spare_shapes;
        spare_shapes = kept->next;
        free(kept);
    }
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
    span->shape = span->before == 0 ? a->shape : NULL;
}

meta_err meta_span_at(const void *ptr, const char *name, meta_span *span)
{
    meta_err error = META_OK;
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = ptr ? holding(ptr) : NULL;
    if (!a) {
        error = no_buffer(ptr, name, "meta_alloc() or meta_wrap()");
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

static meta_err check_host_range(const void *ptr, uint64_t bytes, const char *name)
{
    if (!ptr) return meta_fail(META_ERR_ARGUMENT, "argument '%s' is NULL", name);
    if (bytes > UINTPTR_MAX - (uintptr_t)ptr)
        return meta_fail(META_ERR_OVERFLOW,
                         "argument '%s' (%p): %llu bytes reach past the end of the address space",
                         name, ptr, (unsigned long long)bytes);
    const char *end = (const char *)ptr + bytes;
    for (const meta_allocation *a = touching(ptr, bytes); a; a = next_before(a, end)) {
        const bool within = base_of(a) <= (const char *)ptr && end <= base_of(a) + a->memory.bytes;
        if (a->gone) return was_freed(ptr, name, a->memory.bytes, a->note);
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
    meta_err error;
    if (!meta_addresses_reserved(ptr, bytes)) return META_OK;
    if (is_freed(ptr, name, &error)) return error;
    return meta_fail(META_ERR_POINTER,
                     "argument '%s' (%p): %llu bytes are not of the host: device buffers get their "
                     "addresses, and none has them now",
                     name, ptr, (unsigned long long)bytes);
}

meta_err meta_host_range(const void *ptr, uint64_t bytes, const char *name)
{
    const uintptr_t from = (uintptr_t)ptr;
    const bool behind = from >= extent_to && bytes <= UINTPTR_MAX - from;
    const bool before = bytes <= extent_from && from <= extent_from - bytes;
    if (ptr && (behind || before) && !meta_addresses_reserved(ptr, bytes)) return META_OK;
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
    meta_pointer_desc found = META_POINTER_DESC_INIT;
    META_ENTER();
    META_NEED_DESC(desc, label, META_POINTER_DESC_INIT);
    pthread_rwlock_rdlock(&lock);
    const meta_allocation *a = ptr ? holding(ptr) : NULL;
    if (a) {
        device = a->device;
        object = a->kind != META_MEMORY_HOST ? a->memory.object : NULL;
        found.kind = a->kind;
        found.base = a->memory.address;
        found.bytes = a->memory.bytes;
        found.offset = (size_t)((const char *)ptr - base_of(a));
        meta_label_copy(found.label, a->note ? a->note->label : NULL);
    } else {
        error = no_buffer(ptr, "ptr", "meta_alloc(), meta_wrap() or meta_host_alloc()");
    }
    pthread_rwlock_unlock(&lock);
    META_TRY(error);
    if (object && device->backend->mode == META_AUTO) pinned = meta_buffer_hooks->pinned(object);
    if (pinned) device = pinned;
    found.mode = device->backend->mode;
    found.index = device->index;
    meta_sized_put(desc, &found, sizeof found);
    return META_OK;
}

/* False: no memory. */
static bool set_label(meta_allocation *a, const char *label)
{
    if (!note_of(a)) return false;
    meta_label_copy(a->note->label, label);
    return labelled = true;
}

meta_err meta_label(const void *ptr, const char *label)
{
    meta_err error = META_OK;
    META_ENTER();
    pthread_rwlock_wrlock(&lock);
    meta_allocation *a = ptr ? holding(ptr) : NULL;
    if (!a) error = no_buffer(ptr, "ptr", "meta_alloc(), meta_wrap() or meta_host_alloc()");
    else if (!set_label(a, label))
        error = meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a label");
    pthread_rwlock_unlock(&lock);
    return error;
}

void meta_registry_name(const void *ptr, const char *label)
{
    pthread_rwlock_wrlock(&lock);
    meta_allocation *a = holding(ptr);
    if (a) set_label(a, label);
    pthread_rwlock_unlock(&lock);
}

/* Whether the buffer at @p ptr may have another shape, of @p bytes. */
static meta_err check_shape(const meta_allocation *a, const void *ptr, uint64_t bytes)
{
    if (!a) return no_buffer(ptr, "ptr", "meta_alloc() or meta_grid_alloc()");
    if (a->kind != META_MEMORY_DEVICE)
        return meta_fail(
            META_ERR_POINTER,
            "argument 'ptr' (%p)%s comes from %s, and only a buffer of meta_alloc() or "
            "meta_grid_alloc() has a shape of its own: use it by its box",
            ptr, NOTE(a), a->kind == META_MEMORY_HOST ? "meta_host_alloc()" : "meta_wrap()");
    if (base_of(a) != ptr)
        return meta_fail(
            META_ERR_POINTER,
            "argument 'ptr' (%p) lies inside the buffer that begins at %p%s, and only "
            "a whole buffer has a shape: give the beginning, or use this part by its box",
            ptr, a->memory.address, NOTE(a));
    if (bytes > a->memory.bytes)
        return meta_fail(
            META_ERR_BOUNDS,
            "argument 'box': an array of these extents has %llu bytes, the buffer%s %llu",
            (unsigned long long)bytes, NOTE(a), (unsigned long long)a->memory.bytes);
    return META_OK;
}

meta_err meta_registry_shape(const void *ptr, const meta_shape *shape, uint64_t bytes)
{
    pthread_rwlock_wrlock(&lock);
    meta_allocation *a = holding(ptr);
    meta_err error = check_shape(a, ptr, bytes);
    if (error == META_OK) {
        const meta_shape *before = a->shape;
        a->shape = shape;
        if (keep_shape(a)) {
            meta_allocation old = {.shape = before};
            forget_shape(&old);
        } else {
            a->shape = before;
            error = meta_fail(META_ERR_NO_MEMORY, "the host has no memory for a shape");
        }
    }
    pthread_rwlock_unlock(&lock);
    return error;
}
