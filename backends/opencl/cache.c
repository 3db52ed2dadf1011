/* SPDX-License-Identifier: BSD-3-Clause */
/** @file cache.c
 *  The on-disk cache of compiled programs, shared by many processes at once.
 *
 *  A file is written under a temporary name and then renamed, so readers see a complete one or
 * none; a damaged file fails its checksum and is replaced. Without a writable folder everything
 * works, only slower. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "opencl.h"

#define FILE_VERSION    1
#define LOCK_TIMEOUT_MS 120000 /* then compile without the lock, as its holder may hang */

/* File header. */
typedef struct header {
    char magic[8];
    uint64_t version;
    ocl_key key;
    uint64_t bytes;
    ocl_key checksum;
} header;

static const char file_magic[8] = {'m', 'e', 't', 'a', '-', 'o', 'c', 'l'};

/* ------------------------------------------------------------------ keys */

/* Two hashes side by side: FNV-1a, and a multiply-and-rotate hash. */
static void mix(ocl_key *key, const unsigned char *bytes, size_t count)
{
    uint64_t a = key->part[0], b = key->part[1];
    for (size_t k = 0; k < count; ++k) {
        a = (a ^ bytes[k]) * UINT64_C(0x100000001b3);
        b = (b + bytes[k]) * UINT64_C(0x9e3779b97f4a7c15);
        b = (b << 23 | b >> 41) ^ a;
    }
    key->part[0] = a;
    key->part[1] = b;
}

void ocl_key_add(ocl_key *key, const char *text)
{
    mix(key, (const unsigned char *)text, strlen(text) + 1);
}

static ocl_key checksum_of(const void *bytes, size_t count)
{
    ocl_key sum = OCL_KEY_INIT;
    mix(&sum, bytes, count);
    return sum;
}

static int same_key(const ocl_key *a, const ocl_key *b)
{
    return a->part[0] == b->part[0] && a->part[1] == b->part[1];
}

/* ------------------------------------------------------------------ the folder */

/* The cache's folder. @return 0 if the cache is off. */
static int folder_of_cache(char *folder, size_t room)
{
    const char *chosen = ocl_host->variable("META_CACHE_DIR");
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (chosen && chosen[0]) {
        if (strcmp(chosen, "off") != 0) length = snprintf(folder, room, "%s", chosen);
    } else if (base && base[0] == '/') {
        length = snprintf(folder, room, "%s/libmeta", base);
    } else if (home && home[0] == '/') {
        length = snprintf(folder, room, "%s/.cache/libmeta", home);
    }
    return length > 0 && (size_t)length < room;
}

static int path_in_cache(const ocl_key *key, const char *ending, char *path, size_t room)
{
    char folder[PATH_MAX];
    int length;
    if (!folder_of_cache(folder, sizeof folder)) return 0;
    length = snprintf(path, room, "%s/opencl-%016llx%016llx%s", folder,
                      (unsigned long long)key->part[0], (unsigned long long)key->part[1], ending);
    return length > 0 && (size_t)length < room;
}

/* Create the missing parent folders of @p path. */
static void make_folders(const char *path)
{
    char part[PATH_MAX];
    for (size_t k = 0; path[k] && k < sizeof part - 1; ++k) {
        if (path[k] == '/' && k > 0) {
            part[k] = '\0';
            mkdir(part, 0700);
        }
        part[k] = path[k];
    }
}

/* Logged once per process: the reason is the same for every program. */
static void log_unwritable(int error)
{
    static atomic_flag logged = ATOMIC_FLAG_INIT;
    char folder[PATH_MAX];
    if (atomic_flag_test_and_set(&logged) || !folder_of_cache(folder, sizeof folder)) return;
    ocl_host->log(META_LOG_INFO,
                  "compiled OpenCL programs are not kept: folder %s cannot be written: %s; set "
                  "META_CACHE_DIR to one that can",
                  folder, strerror(error));
}

/* ------------------------------------------------------------------ files */

static int read_all(int file, void *bytes, size_t count)
{
    unsigned char *at = bytes;
    while (count > 0) {
        const ssize_t got = read(file, at, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        at += got;
        count -= (size_t)got;
    }
    return 1;
}

static int write_all(int file, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        const ssize_t put = write(file, at, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return 0;
        at += put;
        count -= (size_t)put;
    }
    return 1;
}

/* The binary in an open file; NULL unless it is complete and intact. */
static void *read_binary(int file, const ocl_key *key, size_t *bytes)
{
    struct stat about;
    header head;
    ocl_key sum;
    void *binary;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return NULL;
    if (!read_all(file, &head, sizeof head)) return NULL;
    if (memcmp(head.magic, file_magic, sizeof head.magic) != 0 || head.version != FILE_VERSION ||
        !same_key(&head.key, key))
        return NULL;
    if (head.bytes == 0 || head.bytes != (uint64_t)about.st_size - sizeof head) return NULL;
    binary = malloc(head.bytes);
    if (!binary || !read_all(file, binary, head.bytes)) {
        free(binary);
        return NULL;
    }
    sum = checksum_of(binary, head.bytes);
    if (!same_key(&sum, &head.checksum)) {
        free(binary);
        return NULL;
    }
    *bytes = head.bytes;
    return binary;
}

void *ocl_cache_read(const ocl_key *key, size_t *bytes)
{
    char path[PATH_MAX];
    void *binary;
    int file;
    if (!path_in_cache(key, ".bin", path, sizeof path)) return NULL;
    file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return NULL;
    binary = read_binary(file, key, bytes);
    close(file);
    if (!binary)
        ocl_host->log(META_LOG_INFO, "%s is damaged or of another program; it is replaced", path);
    return binary;
}

void ocl_cache_write(const ocl_key *key, const void *binary, size_t bytes)
{
    char path[PATH_MAX], temporary[PATH_MAX];
    header head = {.version = FILE_VERSION, .key = *key, .bytes = bytes};
    int file, complete;
    if (!path_in_cache(key, ".bin", path, sizeof path)) return;
    if (!path_in_cache(key, ".tmp.XXXXXX", temporary, sizeof temporary)) return;
    make_folders(path);
    file = mkostemp(temporary, O_CLOEXEC);
    if (file < 0) {
        log_unwritable(errno);
        return;
    }
    memcpy(head.magic, file_magic, sizeof head.magic);
    head.checksum = checksum_of(binary, bytes);
    errno = EIO;
    complete = write_all(file, &head, sizeof head) && write_all(file, binary, bytes);
    complete = close(file) == 0 && complete;
    if (complete && rename(temporary, path) == 0) return;
    log_unwritable(errno);
    unlink(temporary);
}

/* ------------------------------------------------------------------ the lock */

/* Wait for the lock on @p file; give up on an error or after LOCK_TIMEOUT_MS. */
static void lock_with_timeout(int file)
{
    const struct timespec nap = {0, 10 * 1000 * 1000};
    for (int waited = 0; waited < LOCK_TIMEOUT_MS; waited += 10) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0) return;
        if (errno != EWOULDBLOCK && errno != EINTR) return;
        nanosleep(&nap, NULL);
    }
}

int ocl_cache_lock(const ocl_key *key)
{
    char path[PATH_MAX];
    int file;
    if (!path_in_cache(key, ".lock", path, sizeof path)) return -1;
    make_folders(path);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) lock_with_timeout(file);
    return file;
}

void ocl_cache_unlock(int lock)
{
    if (lock >= 0) close(lock);
}
