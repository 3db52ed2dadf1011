/* SPDX-License-Identifier: BSD-3-Clause */
/** @file leak.c
 *  What was never freed when the library ends: named by label and place, those of one label and
 *  place together. */
#include "memory/memory.h"

#include <string.h>

enum { NAMED = 32 };

/* Buffers of one kind, device, label and place. */
typedef struct leak {
    meta_allocation first;
    char words[META_NOTE_ROOM];
    uint64_t count, bytes;
} leak;

static bool alike(const leak *l, const meta_allocation *a, const char *words)
{
    return l->first.kind == a->kind && l->first.device == a->device && strcmp(l->words, words) == 0;
}

/* Count @p a to those like it; false where no more can be told apart. */
static bool add(leak *list, int *named, const meta_allocation *a, const char *words)
{
    int k = 0;
    while (k < *named && !alike(&list[k], a, words)) ++k;
    if (k == NAMED) return false;
    if (k == *named) {
        list[k] = (leak){.first = *a};
        memcpy(list[k].words, words, strlen(words) + 1);
        ++*named;
    }
    ++list[k].count;
    list[k].bytes += a->memory.bytes;
    return true;
}

static void say(const leak *l)
{
    static const char *const ended_by[] = {"meta_free", "meta_unwrap", "meta_host_free"};
    const meta_device *device = l->first.device;
    const char *end = ended_by[l->first.kind];
    if (l->count == 1)
        meta_log(META_LOG_WARN,
                 "meta_finalize: a buffer of %llu bytes at %p on %s:%d%s was never freed: give it "
                 "to %s()",
                 (unsigned long long)l->bytes, l->first.memory.address, device->backend->name,
                 device->index, l->words, end);
    else
        meta_log(META_LOG_WARN,
                 "meta_finalize: %llu buffers of %llu bytes together on %s:%d%s were never freed: "
                 "give them to %s()",
                 (unsigned long long)l->count, (unsigned long long)l->bytes, device->backend->name,
                 device->index, l->words, end);
}

void meta_leaks_release(void)
{
    static leak list[NAMED]; /* under life.c's lock */
    meta_allocation left;
    char words[META_NOTE_ROOM];
    uint64_t others = 0, bytes = 0;
    int named = 0;
    while (meta_registry_drain(&left, words)) {
        if (!add(list, &named, &left, words)) ++others, bytes += left.memory.bytes;
        meta_release_allocation(&left);
    }
    for (int k = 0; k < named; ++k) say(&list[k]);
    if (others)
        meta_log(META_LOG_WARN,
                 "meta_finalize: %llu more buffers of %llu bytes together were never freed",
                 (unsigned long long)others, (unsigned long long)bytes);
}
