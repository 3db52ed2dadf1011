/* SPDX-License-Identifier: BSD-3-Clause */
/** @file leak.c
 *  Buffers that were never freed, reported when the library ends: one line for all of the same
 * label and origin. */
#include "memory/memory.h"

#include <string.h>

enum { NAMED = 32 };

/* Buffers of the same kind, device, label and origin. */
typedef struct leak {
    meta_allocation first;
    char note[META_NOTE_ROOM];
    uint64_t count, bytes;
} leak;

/* Count @p a with those like it; false where the list is full. */
static bool add(leak *list, int *named, const meta_allocation *a, const char *note)
{
    leak *l = list;
    while (l < list + *named &&
           (l->first.kind != a->kind || l->first.device != a->device || strcmp(l->note, note) != 0))
        ++l;
    if (l == list + NAMED) return false;
    if (l == list + *named) {
        ++*named;
        *l = (leak){.first = *a};
        memcpy(l->note, note, strlen(note) + 1);
    }
    ++l->count;
    l->bytes += a->memory.bytes;
    return true;
}

static void report(const leak *l)
{
    static const char *const ended_by[] = {"meta_free", "meta_unwrap", "meta_host_free"};
    const meta_device *device = l->first.device;
    const char *end = ended_by[l->first.kind];
    if (l->count == 1)
        meta_log(META_LOG_WARN,
                 "meta_finalize: a buffer of %llu bytes at %p on %s:%d%s was never freed: give it "
                 "to %s()",
                 (unsigned long long)l->bytes, l->first.memory.address, device->backend->name,
                 device->index, l->note, end);
    else
        meta_log(META_LOG_WARN,
                 "meta_finalize: %llu buffers of %llu bytes together on %s:%d%s were never freed: "
                 "give them to %s()",
                 (unsigned long long)l->count, (unsigned long long)l->bytes, device->backend->name,
                 device->index, l->note, end);
}

void meta_leaks_release(void)
{
    static leak list[NAMED]; /* too large for a stack; meta_finalize() runs once at a time */
    meta_allocation left;
    char note[META_NOTE_ROOM];
    uint64_t others = 0, bytes = 0;
    int named = 0;
    while (meta_registry_drain(&left, note)) {
        if (!add(list, &named, &left, note)) ++others, bytes += left.memory.bytes;
        meta_release_allocation(&left);
    }
    for (int k = 0; k < named; ++k) report(&list[k]);
    if (others)
        meta_log(META_LOG_WARN,
                 "meta_finalize: %llu more buffers of %llu bytes together were never freed",
                 (unsigned long long)others, (unsigned long long)bytes);
}
