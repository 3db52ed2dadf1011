/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fatbin.c
 *  Reads fat binaries as nvcc 13 writes them. NVIDIA does not document them: a header, then
 *  entries, each with a header of its own and PTX or machine code, compressed or not. */
#include "fatbin.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "call.h"

typedef struct header {
    uint32_t magic;
    uint16_t version, bytes; /* bytes: of this header */
    uint64_t size;           /* of all entries */
} header;

typedef struct entry {
    uint16_t kind, attributes;
    uint32_t bytes; /* of this header */
    uint64_t size;  /* of what follows */
    uint32_t compressed, unknown;
    uint16_t minor, major;
    uint32_t capability, name, name_bytes;
    uint64_t flags, zero, expanded;
} entry;
_Static_assert(sizeof(header) == 16 && sizeof(entry) == 64, "as they lie in an object file");

enum { MAGIC = 0xba55ed50, KIND_PTX = 1 };

bool fatbin_is(const void *image)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    return magic == (uint32_t)MAGIC;
}

static char *copied(const char *from, size_t bytes)
{
    char *text = malloc(bytes + 1);
    if (!text) abort();
    memcpy(text, from, bytes);
    text[bytes] = '\0';
    return text;
}

static char *expanded(const char *from, const entry *e)
{
    static const unsigned char zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (!e->compressed) return copied(from, e->size);
    if (memcmp(from, zstd, sizeof zstd) != 0)
        call_lacks("fat binary", "PTX that is not compressed by zstd");
    char *text = malloc(e->expanded + 1);
    if (!text) abort();
    if (ZSTD_decompress(text, e->expanded, from, e->compressed) != e->expanded)
        call_lacks("fat binary", "PTX that zstd does not decompress");
    text[e->expanded] = '\0';
    return text;
}

char *fatbin_ptx(const void *image, int capability)
{
    const char *best = NULL;
    header h;
    entry e, found = {.capability = 0};
    memcpy(&h, image, sizeof h);
    const char *at = (const char *)image + h.bytes, *end = at + h.size;
    for (; at < end; at += e.bytes + e.size) {
        memcpy(&e, at, sizeof e);
        if (e.kind != KIND_PTX || e.capability > (uint32_t)capability ||
            e.capability <= found.capability)
            continue;
        found = e;
        best = at + e.bytes;
    }
    return best ? expanded(best, &found) : NULL;
}
