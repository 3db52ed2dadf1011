/* SPDX-License-Identifier: BSD-3-Clause */
/** @file memory.h
 *  Buffers: their registry, the validation of operands, allocation and pooling. */
#ifndef META_MEMORY_H
#define META_MEMORY_H

#include "device/device.h"
#include "memory/span.h"

/* note.c: the label of a buffer and where it was allocated and freed */
/** A call in the program. */
typedef struct meta_site {
    char file[48]; /**< the end of its path; empty: only the caller is known */
    int line;
    const void *caller; /**< the return address */
} meta_site;
typedef struct meta_note {
    char label[META_LABEL_BYTES];
    bool wrapped;
    meta_site made, gone;
    struct meta_note *next; /**< in the free list */
} meta_note;
/** The site that meta_here() set for this call, and the return address: with META_CHECK=on that
 * into the program, otherwise into the direct caller, which may be the Fortran binding. */
void meta_site_take(meta_site *site, const void *caller);
#define META_SITE_TAKE(site) meta_site_take(site, __builtin_return_address(0))
/** Truncated to whole UTF-8 characters, control characters replaced; NULL: empty. */
void meta_label_copy(char to[META_LABEL_BYTES], const char *label);
enum { META_NOTE_ROOM = 352 };
/** ` ("density", allocated at solver.c:41)`, to follow the mention of a buffer, or nothing; with
 *  @p freed also where it was freed. @return text */
const char *meta_note_text(const meta_note *note, bool freed, char text[META_NOTE_ROOM]);

/* registry.c */
typedef struct meta_block meta_block;
typedef struct meta_allocation {
    meta_memory memory;
    meta_memory_kind kind;
    int holds;
    meta_device *device;
    uint64_t front;          /**< bytes of the object before the buffer */
    const meta_shape *shape; /**< of a grid: the registry's own copy; NULL: no grid, or freed */
    uint64_t guard;          /**< bytes of guard on both sides */
    uint64_t lead;           /**< bytes of the block before the front guard */
    meta_block *block;       /**< the memory of a META_MEMORY_DEVICE, NULL otherwise */
    meta_note *note;         /**< the registry's own, NULL where there is none */
    bool gone;               /**< freed, while the library keeps its memory */
} meta_allocation;
/** @p made: where the program allocated it; NULL for the library's own. allocation->shape is
 *  copied. */
meta_err meta_registry_add(const meta_allocation *allocation, const meta_site *made);
/** Remove the buffer of @p kind that begins at @p ptr; META_ERR_STATE while it is held. Device
 * memory is remembered as freed until meta_registry_drop(). */
meta_err meta_registry_take(void *ptr, meta_memory_kind kind, const char *name,
                            const meta_site *gone, meta_allocation *taken);
/** The memory of a buffer that was freed is given back: it may be the program's next. */
void meta_registry_drop(const meta_memory *memory);
/** meta_note_text() of the live buffer that holds @p ptr. */
const char *meta_registry_note(const void *ptr, char text[META_NOTE_ROOM]);
/** The buffer that holds @p ptr; false where none does. */
bool meta_registry_find(const void *ptr, meta_allocation *found);
/** Count a message or plan that uses the buffer at @p ptr (+1), or (-1) one that no longer does. */
void meta_registry_hold(const void *ptr, int change);
/** The label of the buffer that holds an address. */
typedef struct meta_called {
    const char *first, *end;      /**< its addresses */
    char label[META_LABEL_BYTES]; /**< empty: no label, or no such buffer */
} meta_called;
/** Whether any buffer may have a label. */
bool meta_registry_labelled(void);
void meta_registry_label(const void *address, meta_called *called);
/** Label the buffer at @p ptr, where the host has memory for a label. */
void meta_registry_name(const void *ptr, const char *label);
/** The buffer that begins at @p ptr becomes a grid of @p shape, which has @p bytes and is copied,
 * or with NULL, an array without a shape. */
meta_err meta_registry_shape(const void *ptr, const meta_shape *shape, uint64_t bytes);
/** The buffer with the lowest address above @p address, of all where that is NULL; false: none. */
bool meta_registry_behind(const void *address, meta_allocation *found);
/** Remove any buffer, with its note's text, when the library ends; false when there is none left.
 */
bool meta_registry_drain(meta_allocation *taken, char text[META_NOTE_ROOM]);
void meta_registry_forget(void);
/** Live device memory at @p ptr; otherwise META_ERR_POINTER with what is there instead. */
meta_err meta_span_at(const void *ptr, const char *name, meta_span *span);
/** @p ptr may be used as host memory of @p bytes. */
meta_err meta_host_range(const void *ptr, uint64_t bytes, const char *name);
/** Device memory (*is_device is 1 and the span is filled in) or host memory, in a single lookup. */
meta_err meta_span_or_host(const void *ptr, uint64_t bytes, const char *name, int *is_device,
                           meta_span *span);

/* box.c: validating types, boxes, faces and operands */
meta_err meta_type_check(meta_type type, size_t *bytes);
/** The same of an argument, or a part of one, that is called otherwise. */
meta_err meta_type_check_named(meta_type type, const char *name, size_t *bytes);
meta_err meta_type_arithmetic(meta_type type, size_t *bytes);
meta_err meta_op_check(meta_op op);
/** An empty box may lie in an array of any extents: nothing of it is computed with. */
meta_err meta_box_check(const meta_box *box, const char *name);
/** The same, and its array could exist. */
meta_err meta_array_check(const meta_box *box, const char *name);
bool meta_box_empty(const meta_box *box);
/** The lowest and highest element index of a face that is not empty. */
meta_err meta_face_reach(const meta_face *face, const char *name, int64_t *low, int64_t *high);
meta_err meta_face_count(const meta_face *face, const char *name, int64_t *count);
void meta_face_of_box(meta_face *face, const meta_box *box);
/** A span of `count` elements, or of a face's, at @p ptr. */
meta_err meta_resolve(const void *ptr, int64_t count, meta_type type, const char *name,
                      meta_span *span);
meta_err meta_resolve_face(const void *ptr, const meta_face *face, meta_type type, const char *name,
                           meta_span *span);
/** A span of the cells of @p box at @p ptr, whose extents a grid must have. */
meta_err meta_resolve_box(const void *ptr, const meta_box *box, meta_type type, const char *name,
                          meta_span *span);
/** The same by the extents of the grid at @p ptr, where it is one. @p own: NULL, or receives the
 * box with these. */
meta_err meta_resolve_array(const void *ptr, const meta_box *box, meta_type type, const char *name,
                            meta_span *span, meta_box *own);
/** The elements @p low … @p high of @p bytes each, counted from the beginning of @p span, are
 *  aligned and inside the buffer. */
meta_err meta_reach_check(const meta_span *span, int64_t low, int64_t high, size_t bytes,
                          const char *name);
meta_err meta_resolve_any(const void *ptr, int64_t count, meta_type type, const char *name,
                          int *is_device, meta_span *span);
/** The same for a result with a place: the meta_extreme_f64 or the like of @p type. */
meta_err meta_resolve_extreme(const void *ptr, meta_type type, const char *name, int *is_device,
                              meta_span *span);
meta_err meta_same_device(const meta_span *a, const char *name_a, const meta_span *b,
                          const char *name_b);
/** The elements @p low_a…@p high_a from span a and those from b share no byte. */
meta_err meta_no_overlap(const meta_span *a, int64_t low_a, int64_t high_a, const char *name_a,
                         size_t bytes_a, const meta_span *b, int64_t low_b, int64_t high_b,
                         const char *name_b, size_t bytes_b);
meta_err meta_no_overlap_face(const meta_span *packed, int64_t count, const meta_span *buf,
                              const meta_face *face, meta_type type);

/* memory.c */
/** What upper rooms add to buffers; every member is set. */
typedef struct meta_memory_hooks {
    /** Bytes of guard on each side of a new buffer; 0: none. */
    uint64_t (*guard_bytes)(uint64_t bytes);
    /** With META_CHECK=on: a buffer is about to be registered. */
    meta_err (*made)(const meta_allocation *allocation);
    /** With META_CHECK=on: a buffer has left the registry. Takes over device memory, whatever it
     *  returns. */
    meta_err (*gone)(const meta_allocation *allocation);
    /** An address range is no longer a buffer. */
    void (*freed)(const void *address, uint64_t bytes);
    /** Memory is short: give back what is kept above this room. @return whether there was any */
    bool (*reclaim)(void);
    /** META_CHECK=on: inspect all guards, and all memory that was freed; the first error. */
    meta_err (*verify)(void);
    /* Of a buffer of META_AUTO, by its object: keep its memory on one device from now on, where the
     * object is that of the device; let it move again; and the device where it is kept, NULL: none.
     */
    meta_err (*pin)(void *buffer, void **object);
    void (*unpin)(void *buffer);
    meta_device *(*pinned)(void *buffer);
} meta_memory_hooks;
extern const meta_memory_hooks *meta_buffer_hooks; /**< set before the first buffer */
/** A buffer for the library's own use. */
meta_err meta_scratch(meta_device *device, size_t bytes, void **ptr);
/** A buffer for the program, which asked for it at @p made, @p lead bytes (less than 64) behind an
 *  address that is aligned to 64. @p shape: of a grid, or NULL. */
meta_err meta_buffer(meta_device *device, size_t lead, size_t bytes, const meta_shape *shape,
                     const meta_site *made, void **ptr);
void meta_scratch_free(void *ptr);
/** Forget the buffer without giving its memory back: something else may still use it. */
void meta_scratch_leave(void *ptr);
/** Give memory that has left the registry back to its device. */
void meta_release_allocation(const meta_allocation *allocation);

/* pool.c: device memory of freed buffers, kept for new ones */
meta_err meta_pool_read(void);
meta_err meta_pool_open(meta_device *device);
/** Nothing of the device's memory may be in use. */
void meta_pool_close(meta_device *device);
/** A block of at least @p bytes. */
meta_err meta_pool_get(meta_device *device, uint64_t bytes, meta_block **block);
const meta_memory *meta_block_memory(const meta_block *block);
/** All work on the block must be complete. */
void meta_pool_put(meta_device *device, meta_block *block);
/** Forget the block without giving its memory back. */
void meta_pool_leave(meta_device *device, meta_block *block);
/** Bytes that the device has given: buffers and free blocks. */
uint64_t meta_pool_held(const meta_device *device);
/** Memory outside the pool. Before it is refused, what the library keeps is given back. */
meta_err meta_device_memory(meta_device *device, uint64_t bytes, meta_memory *memory);
/** Give back all free memory that the library keeps, on all devices. @return whether there was any
 */
bool meta_kept_release(void);

/* staging.c */
/** A block of host memory for a message. */
meta_err meta_staging_get(meta_device *device, size_t bytes, void **host);
void meta_staging_put(meta_device *device, void *host);
/** Give the free blocks back. @return whether there were any */
bool meta_staging_trim(meta_device *device);
/** Host memory as meta_host_alloc() returns it. */
meta_err meta_host_memory(meta_device *device, size_t bytes, void **host);
void meta_host_memory_free(meta_device *device, void *host, size_t bytes);

/* leak.c */
/** Report what was never freed, and give it back. */
void meta_leaks_release(void);

#endif
