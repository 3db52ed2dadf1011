/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_cache.c
 *  Files of compiled code with arbitrary bytes: loaded when header, key, length and checksum are
 * right, as this file computes them from the format; else refused with the reason. */
/* TEST: labels=core,fuzz */
#include "cache/cache.h"
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* magic, key (three words), bytes, checksum (three words) */
enum { MAGIC = 8, KEY = 24, HEAD = MAGIC + KEY + 8 + KEY };

static const meta_cache_key key = {{UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)},
                                   77};
static int folder;
static char path[256];

static void put_head(uint8_t *data, size_t size)
{
    const uint64_t bytes = size - HEAD;
    memcpy(data, "meta-kc1", MAGIC);
    memcpy(data + MAGIC, &key, KEY);
    memcpy(data + MAGIC + KEY, &bytes, sizeof bytes);
}

static meta_cache_key sum_of(const uint8_t *data, size_t size)
{
    meta_cache_key sum = META_CACHE_KEY_INIT;
    meta_cache_key_add(&sum, data + HEAD, size - HEAD);
    return sum;
}

static size_t seed(int n, uint8_t *data, size_t room)
{
    static const size_t lengths[] = {1, 8, 13, 4000};
    const size_t size = HEAD + lengths[n];
    if (size > room) return 0;
    for (size_t k = HEAD; k < size; ++k) data[k] = (uint8_t)(k * 37 + k / 8);
    put_head(data, size);
    const meta_cache_key sum = sum_of(data, size);
    memcpy(data + HEAD - KEY, &sum, KEY);
    return size;
}

/* The checksum, the length, both or neither. */
static void repair(uint8_t *data, size_t size, uint64_t how)
{
    if (size < HEAD) return;
    const uint64_t bytes = size - HEAD;
    const meta_cache_key sum = sum_of(data, size);
    if (how & 1) memcpy(data + HEAD - KEY, &sum, KEY);
    if (how & 2) memcpy(data + MAGIC + KEY, &bytes, sizeof bytes);
}

const fuzz_target fuzz_here = {"cache", 4, seed, repair, NULL};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *where = fuzz_folder();
    (void)argc, (void)argv;
    chmod(where, 0700);
    folder = open(where, O_RDONLY | O_DIRECTORY);
    snprintf(path, sizeof path, "%s/code-%016llx%016llx.bin", where,
             (unsigned long long)key.part[0], (unsigned long long)key.part[1]);
    umask(077);
    meta_log_set(META_LOG_DEBUG);
    return folder < 0;
}

/* Whether the format says that this is the code of `key`. */
static bool is_right(const uint8_t *data, size_t size)
{
    uint8_t head[HEAD];
    if (size <= HEAD) return false;
    memcpy(head, data, HEAD);
    put_head(head, size);
    const meta_cache_key sum = sum_of(data, size);
    memcpy(head + HEAD - KEY, &sum, KEY);
    return memcmp(head, data, HEAD) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[META_CACHE_WHY] = "";
    size_t bytes = 0;
    fuzz_write(path, data, size);
    void *code = meta_cache_read(folder, META_THIS_USER, "code", &key, &bytes, why);
    if ((code != NULL) != is_right(data, size))
        fuzz_fail("it is %s: %s", code != NULL ? "loaded, and wrong" : "refused, and right", why);
    if (code != NULL && (bytes != size - HEAD || memcmp(code, data + HEAD, bytes) != 0))
        fuzz_fail("%zu bytes are loaded, and not those of the file", bytes);
    if (code == NULL && strstr(why, " is not loaded: ") == NULL)
        fuzz_fail("the reason is missing: %s", why);
    free(code);
    if (code != NULL) fuzz_accept();
    return 0;
}
