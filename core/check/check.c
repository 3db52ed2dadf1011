/* SPDX-License-Identifier: BSD-3-Clause */
/** @file check.c
 *  META_CHECK=on: guard zones round every buffer, poison patterns in new and freed memory, and a
 *  quarantine that detects writes to freed buffers.
 *
 *  Guards and freed memory hold known patterns, so a changed one reveals a stray write by a kernel
 * or host pointer of the application. meta_flush() and the end of the library verify all of them; a
 *  buffer's own guards are verified when it is freed and after each operation on it. A damaged
 *  pattern is restored, so that it is reported once. */
#include "check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/raw.h"

/* Poison patterns: NaN as f32 and f64, and no small integer. */
enum { FRESH = 0x7ff5a5a5, GUARD = 0x7ff5c0de, GONE = 0x7ff5dead };
enum { GUARD_BYTES = 4096, CHUNK = 1 << 20, MOST_GONE = 256 };
#define MOST_GONE_BYTES ((uint64_t)64 << 20)

/* A freed buffer. */
typedef struct gone {
    meta_device *device;
    meta_block *block;
    uint64_t bytes, offset; /* in the block */
    const void *address;
    char words[META_NOTE_ROOM];
} gone;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static gone quarantine[MOST_GONE];                       /* a ring, the oldest first */
static size_t first_gone, gone_count;
static uint64_t gone_bytes;
static uint32_t wanted[CHUNK / sizeof(uint32_t)], found[CHUNK / sizeof(uint32_t)];
static size_t filled; /* words of `wanted` that hold the pattern */

meta_err meta_check_read(void)
{
    return meta_variable_switch("META_CHECK", &meta_check_on);
}

uint64_t meta_check_guard(uint64_t bytes)
{
    return meta_check_on && bytes < PTRDIFF_MAX - 2 * GUARD_BYTES ? GUARD_BYTES : 0;
}

meta_err meta_raw_copy(meta_device *device, meta_copy_kind kind, void *host, void *object,
                       uint64_t offset, uint64_t bytes)
{
    const meta_ops *ops = &device->backend->ops;
    meta_plugin_queue *queue;
    meta_ticket ticket = NULL;
    const meta_copy copy = {.size = sizeof copy,
                            .kind = kind,
                            .object = object,
                            .offset = offset,
                            .bytes = bytes,
                            .host = host,
                            .ticket = &ticket};
    if (!object) { /* the host's */
        if (kind == META_COPY_H2D) memcpy((void *)(uintptr_t)offset, host, bytes);
        else memcpy(host, (void *)(uintptr_t)offset, bytes);
        return META_OK;
    }
    META_TRY(meta_device_queue(device, META_QUEUE_COMPUTE, &queue));
    META_TRY(ops->copy(queue, &copy));
    if (!ticket) return META_OK;
    const meta_err error = ops->ticket_wait(ticket);
    ops->ticket_release(ticket);
    return error;
}

void meta_raw_place(const meta_allocation *a, void **object, uint64_t *offset)
{
    *object = a->block ? meta_block_memory(a->block)->object : a->memory.object;
    *offset = a->lead + a->guard;
    if (a->kind != META_MEMORY_HOST) return;
    *object = NULL;
    *offset = (uintptr_t)a->memory.address;
}

/* A stretch of memory that is to hold a pattern. */
typedef struct stretch {
    meta_device *device;
    void *object;
    uint64_t offset, bytes;
    uint32_t word;
} stretch;

/* Fill `wanted` with the pattern, as far as a part of the stretch needs it. */
static void want(const stretch *s)
{
    const size_t words = s->bytes < CHUNK ? (size_t)s->bytes / sizeof *wanted + 1 : 0;
    const size_t needed =
        words > 0 && words < CHUNK / sizeof *wanted ? words : CHUNK / sizeof *wanted;
    if (wanted[0] != s->word) filled = 0;
    for (; filled < needed; ++filled) wanted[filled] = s->word;
}

static meta_err fill(const stretch *s)
{
    want(s);
    for (uint64_t at = 0; at < s->bytes; at += CHUNK) {
        const uint64_t part = s->bytes - at < CHUNK ? s->bytes - at : CHUNK;
        META_TRY(meta_raw_copy(s->device, META_COPY_H2D, wanted, s->object, s->offset + at, part));
    }
    return META_OK;
}

/* Whether *any byte differs from the pattern, the first and the last of them; restores it. */
static meta_err look(const stretch *s, bool *any, uint64_t *first, uint64_t *last)
{
    const unsigned char *is = (const unsigned char *)found, *was = (const unsigned char *)wanted;
    *any = false;
    want(s);
    for (uint64_t at = 0; at < s->bytes; at += CHUNK) {
        const uint64_t part = s->bytes - at < CHUNK ? s->bytes - at : CHUNK;
        META_TRY(meta_raw_copy(s->device, META_COPY_D2H, found, s->object, s->offset + at, part));
        if (memcmp(is, was, part) == 0) continue;
        for (uint64_t k = 0; k < part; ++k) {
            if (is[k] == was[k]) continue;
            if (!*any) *first = at + k;
            *last = at + k;
            *any = true;
        }
    }
    return *any ? fill(s) : META_OK;
}

/* As "byte 3" or "bytes 3 to 10". */
enum { RANGE = 64 };
static const char *in_words(char text[RANGE], uint64_t first, uint64_t last)
{
    if (first == last) snprintf(text, RANGE, "byte %" PRIu64, first);
    else snprintf(text, RANGE, "bytes %" PRIu64 " to %" PRIu64, first, last);
    return text;
}

/* ------------------------------------------------------------------ guards; with the lock held */

static stretch guard_of(const meta_allocation *a, bool behind)
{
    stretch s = {.device = a->device, .bytes = a->guard, .word = GUARD};
    meta_raw_place(a, &s.object, &s.offset);
    s.offset = behind ? s.offset + a->memory.bytes : s.offset - a->guard;
    return s;
}

static meta_err guard(const meta_allocation *a, const char *words, bool behind)
{
    const stretch s = guard_of(a, behind);
    uint64_t first = 0, last = 0;
    char text[RANGE];
    bool any;
    META_TRY(look(&s, &any, &first, &last));
    if (!any) return META_OK;
    const uint64_t nearest = behind ? first + 1 : a->guard - last,
                   farthest = behind ? last + 1 : a->guard - first;
    return meta_fail(
        META_ERR_BOUNDS,
        "META_CHECK: something wrote %s the buffer of %" PRIu64 " bytes at %p%s: %s %s",
        behind ? "behind" : "before", a->memory.bytes, a->memory.address, words,
        in_words(text, nearest, farthest), behind ? "behind its last one" : "before its first one");
}

static meta_err guards(const meta_allocation *a, const char *words)
{
    if (a->guard == 0) return META_OK;
    META_TRY(guard(a, words, false));
    return guard(a, words, true);
}

meta_err meta_check_guards(const meta_allocation *a)
{
    char words[META_NOTE_ROOM];
    pthread_mutex_lock(&lock);
    const meta_err error = guards(a, meta_note_text(a->note, false, words));
    pthread_mutex_unlock(&lock);
    return error;
}

static meta_err whole(const meta_allocation *a, uint32_t word)
{
    stretch s = {.device = a->device, .bytes = a->memory.bytes, .word = word};
    meta_raw_place(a, &s.object, &s.offset);
    return fill(&s);
}

meta_err meta_check_made(const meta_allocation *a)
{
    if (!a->guard) return META_OK;
    pthread_mutex_lock(&lock);
    meta_err error = META_OK;
    for (int behind = 0; behind < 2 && error == META_OK; ++behind) {
        const stretch s = guard_of(a, behind);
        error = fill(&s);
    }
    if (error == META_OK) error = whole(a, FRESH);
    pthread_mutex_unlock(&lock);
    return error;
}

static meta_err look_at_gone(const gone *g)
{
    const meta_memory *memory = meta_block_memory(g->block);
    const stretch s = {g->device, memory->object, g->offset, g->bytes, GONE};
    uint64_t first = 0, last = 0;
    char text[RANGE];
    bool any;
    META_TRY(look(&s, &any, &first, &last));
    if (!any) return META_OK;
    return meta_fail(META_ERR_POINTER,
                     "META_CHECK: something wrote to the buffer of %" PRIu64 " bytes at %p%s after "
                     "it was freed: %s",
                     g->bytes, g->address, g->words, in_words(text, first, last));
}

/* The first error and its message, of many; the others go to the log. */
typedef struct finding {
    meta_err error;
    char *message;
} finding;

static void note(finding *f, meta_err error)
{
    if (error == META_OK) return;
    if (f->error != META_OK) meta_log(META_LOG_WARN, "%s", meta_last_error());
    else f->error = error, f->message = meta_error_copy();
}

/* @return the error, with its message as the last one */
static meta_err conclude(finding *f)
{
    if (f->message) meta_fail_as(f->error, f->message);
    free(f->message);
    return f->error;
}

static meta_err release_down_to(size_t count, uint64_t bytes)
{
    finding met = {META_OK, NULL};
    while (gone_count > count || (gone_count > 0 && gone_bytes > bytes)) {
        gone *g = &quarantine[first_gone];
        note(&met, look_at_gone(g));
        meta_pool_put(g->device, g->block);
        gone_bytes -= g->bytes;
        first_gone = (first_gone + 1) % MOST_GONE;
        --gone_count;
    }
    return conclude(&met);
}

/* A buffer larger than the quarantine goes to the pool at once, and so does one that the device
 * fails to fill. */
static meta_err put_away(const meta_allocation *a, const char *words)
{
    if (a->memory.bytes > MOST_GONE_BYTES) return meta_pool_put(a->device, a->block), META_OK;
    const meta_err error = whole(a, GONE);
    if (error != META_OK) return meta_pool_put(a->device, a->block), error;
    const meta_err others = release_down_to(MOST_GONE - 1, MOST_GONE_BYTES - a->memory.bytes);
    gone *g = &quarantine[(first_gone + gone_count++) % MOST_GONE];
    *g = (gone){a->device, a->block, a->memory.bytes, a->lead + a->guard, a->memory.address, ""};
    memcpy(g->words, words, strlen(words) + 1);
    gone_bytes += g->bytes;
    return others;
}

meta_err meta_check_gone(const meta_allocation *a)
{
    char words[META_NOTE_ROOM];
    meta_note_text(a->note, true, words);
    finding met = {META_OK, NULL};
    pthread_mutex_lock(&lock);
    note(&met, guards(a, words));
    if (a->block) note(&met, put_away(a, words));
    pthread_mutex_unlock(&lock);
    return conclude(&met);
}

meta_err meta_quarantine_release(void)
{
    pthread_mutex_lock(&lock);
    const meta_err error = release_down_to(0, 0);
    pthread_mutex_unlock(&lock);
    return error;
}

/* Not while the lock is held: a device of META_AUTO may be short of memory in what is done with it.
 */
bool meta_quarantine_some(void)
{
    if (pthread_mutex_trylock(&lock) != 0) return false;
    const bool any = gone_count > 0;
    if (any && release_down_to(0, 0) != META_OK) meta_log(META_LOG_WARN, "%s", meta_last_error());
    pthread_mutex_unlock(&lock);
    return any;
}

/* One buffer after the other, not with the registry's lock held: what looks at them may wait for a
 * thread that waits for that lock. What has guards stays meanwhile, as its free waits for this one.
 */
meta_err meta_check_all(void)
{
    finding met = {META_OK, NULL};
    meta_allocation a;
    char words[META_NOTE_ROOM];
    if (!meta_check_on) return META_OK;
    pthread_mutex_lock(&lock);
    for (const void *at = NULL; meta_registry_behind(at, &a); at = a.memory.address)
        if (a.guard > 0) note(&met, guards(&a, meta_note_text(a.note, false, words)));
    for (size_t k = 0; k < gone_count; ++k)
        note(&met, look_at_gone(&quarantine[(first_gone + k) % MOST_GONE]));
    pthread_mutex_unlock(&lock);
    return conclude(&met);
}
