/* SPDX-License-Identifier: BSD-3-Clause */
/** @file file.c
 *  Reading and writing a file of the cache: a header with key and checksum, then the code. */
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct header {
    char magic[8];
    meta_cache_key key;
    uint64_t bytes;
    meta_cache_key checksum;
} header;

static const char file_magic[8] = {'m', 'e', 't', 'a', '-', 'k', 'c', '1'};
#define TEMPORARY ".tmp."

enum { NAME = 128 };

static void name_of(char *name, const char *kind, const meta_cache_key *key)
{
    snprintf(name, NAME, "%.32s-%016llx%016llx.bin", kind, (unsigned long long)key->part[0],
             (unsigned long long)key->part[1]);
}

static meta_cache_key checksum_of(const void *bytes, size_t count)
{
    meta_cache_key sum = META_CACHE_KEY_INIT;
    meta_cache_key_add(&sum, bytes, count);
    return sum;
}

static bool read_all(int file, void *bytes, size_t count)
{
    unsigned char *at = bytes;
    while (count > 0) {
        const ssize_t got = read(file, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        count -= (size_t)got;
    }
    return true;
}

static int write_all(int file, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        const ssize_t put = write(file, at, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put < 0 ? errno : ENOSPC;
        at += put;
        count -= (size_t)put;
    }
    return 0;
}

/* The code in an open file; NULL unless it is complete and intact. */
static void *read_code(int file, const meta_cache_key *key, size_t *bytes)
{
    struct stat about;
    header head;
    meta_cache_key sum;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return NULL;
    if (!read_all(file, &head, sizeof head)) return NULL;
    if (memcmp(head.magic, file_magic, sizeof head.magic) != 0 ||
        !meta_cache_key_same(&head.key, key) || head.bytes == 0 ||
        head.bytes != (uint64_t)about.st_size - sizeof head)
        return NULL;
    void *code = malloc(head.bytes);
    if (!code || !read_all(file, code, head.bytes)) return free(code), NULL;
    sum = checksum_of(code, head.bytes);
    if (!meta_cache_key_same(&sum, &head.checksum)) return free(code), NULL;
    *bytes = head.bytes;
    return code;
}

void *meta_cache_read(int folder, meta_owners owners, const char *kind, const meta_cache_key *key,
                      size_t *bytes)
{
    char name[NAME], reason[160];
    void *code = NULL;
    name_of(name, kind, key);
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0) return NULL;
    if (!meta_file_is_safe(file, owners, reason, sizeof reason)) {
        meta_log(META_LOG_WARN, "file %s of the cache is not loaded: %s", name, reason);
    } else {
        code = read_code(file, key, bytes);
        if (!code)
            meta_log(META_LOG_INFO, "file %s of the cache is damaged or of other code%s", name,
                     owners == META_THIS_USER ? ": it is replaced" : "");
    }
    close(file);
    return code;
}

/* Create a file of a name that nobody uses. */
static int create(int folder, char *name, const char *final)
{
    static atomic_uint number;
    int file = -1;
    for (int k = 0; k < 100 && file < 0; ++k) {
        snprintf(name, NAME, "%.80s" TEMPORARY "%lx.%x", final, (unsigned long)getpid(),
                 atomic_fetch_add(&number, 1));
        file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                      meta_cache_file_mode());
        if (file < 0 && errno != EEXIST) break;
    }
    return file;
}

int meta_cache_write(int folder, const char *kind, const meta_cache_key *key, const void *code,
                     size_t bytes)
{
    char name[NAME], temporary[NAME];
    header head = {.key = *key, .bytes = bytes, .checksum = checksum_of(code, bytes)};
    memcpy(head.magic, file_magic, sizeof head.magic);
    meta_folder_sweep(folder, TEMPORARY);
    name_of(name, kind, key);
    const int file = create(folder, temporary, name);
    if (file < 0) return errno;
    int error = write_all(file, &head, sizeof head);
    if (!error) error = write_all(file, code, bytes);
    if (close(file) != 0 && !error) error = errno;
    if (!error && renameat(folder, temporary, folder, name) != 0) error = errno;
    if (error) unlinkat(folder, temporary, 0);
    return error;
}
