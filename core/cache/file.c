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

/* Ends with the version of the format. */
static const char file_magic[8] = {'m', 'e', 't', 'a', '-', 'k', 'c', '1'};
enum { VERSION = sizeof file_magic - 1 };
#define TEMPORARY ".tmp."

enum { NAME = 128, TEMPORARY_NAME = 256, REASON = 160 };

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

/* Whether a file with this header may have the code; otherwise @p reason says why not. */
static bool is_header_of(const header *head, const meta_cache_key *key, uint64_t code_bytes,
                         char reason[REASON])
{
    const char version = head->magic[VERSION];
    if (memcmp(head->magic, file_magic, VERSION) != 0)
        snprintf(reason, REASON, "it is no code that libmeta wrote");
    else if (version != file_magic[VERSION])
        snprintf(reason, REASON,
                 "it is of version %c of the file format, and this libmeta reads version %c: build "
                 "it again",
                 version > ' ' && version <= '~' ? version : '?', file_magic[VERSION]);
    else if (!meta_cache_key_same(&head->key, key))
        snprintf(reason, REASON, "it is the code of something else");
    else return head->bytes > 0 && head->bytes == code_bytes;
    return false;
}

/* The code in an open file; NULL with the reason unless it is complete and intact. */
static void *read_code(int file, const meta_cache_key *key, size_t *bytes, char reason[REASON])
{
    struct stat about;
    header head;
    meta_cache_key sum;
    snprintf(reason, REASON, "it is damaged");
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return NULL;
    if (!read_all(file, &head, sizeof head)) return NULL;
    if (!is_header_of(&head, key, (uint64_t)about.st_size - sizeof head, reason)) return NULL;
    void *code = malloc(head.bytes);
    if (!code || !read_all(file, code, head.bytes)) return free(code), NULL;
    sum = checksum_of(code, head.bytes);
    if (!meta_cache_key_same(&sum, &head.checksum)) return free(code), NULL;
    *bytes = head.bytes;
    return code;
}

void *meta_cache_read(int folder, meta_owners owners, const char *kind, const meta_cache_key *key,
                      size_t *bytes, char why[META_CACHE_WHY])
{
    char name[NAME], reason[REASON];
    void *code = NULL;
    name_of(name, kind, key);
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0) return NULL;
    const bool safe = meta_file_is_safe(file, owners, reason, sizeof reason);
    if (safe) code = read_code(file, key, bytes, reason);
    close(file);
    if (code) return code;
    snprintf(why, META_CACHE_WHY, "file %s is not loaded: %s", name, reason);
    /* A cache is filled again; what was made ahead of time was put there to be used. */
    if (safe && owners == META_THIS_USER) meta_log(META_LOG_INFO, "cache: %s; it is replaced", why);
    else meta_log(META_LOG_WARN, "%s", why);
    return NULL;
}

char *meta_file_read(int folder, const char *name, meta_owners owners, size_t most, size_t *bytes,
                     char *reason, size_t room)
{
    struct stat about;
    char *text = NULL;
    *reason = '\0';
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        if (errno != ENOENT) snprintf(reason, room, "it cannot be opened: %s", strerror(errno));
        return NULL;
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        snprintf(reason, room, "it is no regular file");
    } else if ((uint64_t)about.st_size > most) {
        snprintf(reason, room, "it has %lld bytes, more than %zu", (long long)about.st_size, most);
    } else if (meta_file_is_safe(file, owners, reason, room)) {
        *bytes = (size_t)about.st_size;
        text = malloc(*bytes + 1);
        if (!text || !read_all(file, text, *bytes)) {
            snprintf(reason, room, text ? "it cannot be read" : "the host has no memory for it");
            free(text);
            text = NULL;
        }
    }
    close(file);
    if (text) text[*bytes] = '\0';
    return text;
}

/* Create a file of a name that nobody uses. */
static int create(int folder, char *name, const char *final)
{
    static atomic_uint number;
    int file = -1;
    for (int k = 0; k < 100 && file < 0; ++k) {
        snprintf(name, TEMPORARY_NAME, "%.200s" TEMPORARY "%lx.%x", final, (unsigned long)getpid(),
                 atomic_fetch_add(&number, 1));
        file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                      meta_cache_file_mode());
        if (file < 0 && errno != EEXIST) break;
    }
    return file;
}

/* In a place of its own, then under its name: readers see a complete file. */
static int write_file(int folder, const char *name, const meta_file_part *part, int parts)
{
    char temporary[TEMPORARY_NAME];
    int error = 0;
    const int file = create(folder, temporary, name);
    if (file < 0) return errno;
    for (int k = 0; k < parts && !error; ++k) error = write_all(file, part[k].bytes, part[k].count);
    if (close(file) != 0 && !error) error = errno;
    if (!error && renameat(folder, temporary, folder, name) != 0) error = errno;
    if (error) unlinkat(folder, temporary, 0);
    return error;
}

int meta_file_replace(int folder, const char *name, const meta_file_part *part, int parts)
{
    char temporaries[TEMPORARY_NAME];
    snprintf(temporaries, sizeof temporaries, "%.200s" TEMPORARY, name);
    meta_folder_sweep(folder, temporaries);
    return write_file(folder, name, part, parts);
}

int meta_cache_write(int folder, const char *kind, const meta_cache_key *key, const void *code,
                     size_t bytes)
{
    char name[NAME];
    header head = {.key = *key, .bytes = bytes, .checksum = checksum_of(code, bytes)};
    const meta_file_part part[] = {{&head, sizeof head}, {code, bytes}};
    memcpy(head.magic, file_magic, sizeof head.magic);
    meta_folder_sweep(folder, TEMPORARY);
    name_of(name, kind, key);
    return write_file(folder, name, part, 2);
}
