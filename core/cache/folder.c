/* SPDX-License-Identifier: BSD-3-Clause */
/** @file folder.c
 *  The folders of the cache, of locks and of compilers at work.
 *
 *  Folders of META_KERNEL_PATH hold code that was made ahead of time, and are only read.
 *
 *  The cache's first folder is META_CACHE_DIR or the user's cache; where that cannot be used, the
 * user's private folder in TMPDIR or /tmp keeps what the node's processes compile. */
#include "cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE_SECONDS = 3600 };

/* ------------------------------------------------------------------ whose they are */

/* What belongs to root, and can be written by no other, is as safe as the system's libraries. */
bool meta_file_is_safe(int file, meta_owners owners, char *reason, size_t room)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        snprintf(reason, room, "it cannot be examined: %s", strerror(errno));
        return false;
    }
    if (about.st_uid != geteuid() && (owners == META_THIS_USER || about.st_uid != 0)) {
        snprintf(reason, room, "it belongs to user %u, %sthis process to user %u",
                 (unsigned)about.st_uid, owners == META_THIS_USER ? "" : "who is not root, and ",
                 (unsigned)geteuid());
        return false;
    }
    if (about.st_mode & (S_IWGRP | S_IWOTH)) {
        snprintf(reason, room, "others can write to it (mode %03o): chmod go-w",
                 (unsigned)about.st_mode & 0777);
        return false;
    }
    return true;
}

/* Create the missing folders of @p path. */
static void make_folders(const char *path, mode_t mode)
{
    char part[PATH_MAX];
    size_t k = 0;
    for (; path[k] && k < sizeof part - 1; ++k) {
        part[k] = path[k];
        part[k + 1] = '\0';
        if (k > 0 && path[k] != '/' && path[k + 1] == '/') mkdir(part, mode);
    }
    mkdir(path, mode);
}

/* Open a folder. One whose name others can guess must not be a link. */
static int open_own(const char *path, bool make, bool may_be_link)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (may_be_link ? 0 : O_NOFOLLOW);
    char reason[160];
    int folder = open(path, flags);
    if (folder < 0 && errno == ENOENT && make) {
        make_folders(path, 0700);
        folder = open(path, flags);
    }
    if (folder < 0) {
        if (make || errno != ENOENT)
            meta_log(META_LOG_INFO, "compiled code is not kept in %s: %s", path, strerror(errno));
        return -1;
    }
    if (meta_file_is_safe(folder, META_THIS_USER, reason, sizeof reason)) return folder;
    meta_log(META_LOG_WARN,
             "compiled code is neither loaded from nor kept in %s: %s; META_CACHE_DIR can name "
             "another folder",
             path, reason);
    close(folder);
    return -1;
}

/* ------------------------------------------------------------------ which they are */

static const char *temporary(void)
{
    const char *chosen = meta_variable("TMPDIR");
    return chosen && chosen[0] == '/' ? chosen : "/tmp";
}

static bool fits(int length, size_t room)
{
    return length > 0 && (size_t)length < room;
}

static char only[PATH_MAX]; /* the folder of meta_cache_only() */

bool meta_cache_folder_path(int index, char *path, size_t room)
{
    if (*only) return index == 0 && fits(snprintf(path, room, "%s", only), room);
    const char *chosen = meta_variable("META_CACHE_DIR");
    const char *base = meta_variable("XDG_CACHE_HOME"), *home = meta_variable("HOME");
    if (chosen && strcmp(chosen, "off") == 0) return false;
    if (index == 1)
        return fits(snprintf(path, room, "%s/libmeta-%u", temporary(), (unsigned)geteuid()), room);
    if (chosen) return fits(snprintf(path, room, "%s", chosen), room);
    if (base && base[0] == '/') return fits(snprintf(path, room, "%s/libmeta", base), room);
    if (home && home[0] == '/') return fits(snprintf(path, room, "%s/.cache/libmeta", home), room);
    return false;
}

int meta_cache_folder(int index, bool make)
{
    char path[PATH_MAX];
    if (!meta_cache_folder_path(index, path, sizeof path)) return -1;
    return open_own(path, make, index == 0);
}

/* The path of folder @p index of META_KERNEL_PATH. @return false if it has fewer */
static bool kernel_folder_path(int index, char *path, size_t room)
{
    const char *at = meta_variable("META_KERNEL_PATH");
    for (int k = 0; at && *at; at += *at == ':') {
        const size_t length = strcspn(at, ":");
        if (length > 0 && k++ == index)
            return fits(snprintf(path, room, "%.*s", (int)length, at), room);
        at += length;
    }
    return false;
}

int meta_kernel_folder(int index)
{
    char path[PATH_MAX], reason[160];
    if (*only || !kernel_folder_path(index, path, sizeof path)) return -2;
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        meta_log(META_LOG_WARN, "META_KERNEL_PATH: %s cannot be opened: %s", path, strerror(errno));
        return -1;
    }
    if (meta_file_is_safe(folder, META_THIS_USER_OR_ROOT, reason, sizeof reason)) return folder;
    meta_log(META_LOG_WARN, "META_KERNEL_PATH: no code is loaded from %s: %s", path, reason);
    close(folder);
    return -1;
}

meta_err meta_cache_only(const char *path)
{
    char reason[160];
    make_folders(path, 0755);
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || !realpath(path, only)) {
        const int error = errno;
        *only = '\0';
        if (folder >= 0) close(folder);
        return meta_fail(META_ERR_UNSUPPORTED, "folder %s cannot be opened: %s", path,
                         strerror(error));
    }
    const bool is_safe = meta_file_is_safe(folder, META_THIS_USER, reason, sizeof reason);
    close(folder);
    if (is_safe) return META_OK;
    *only = '\0';
    return meta_fail(META_ERR_UNSUPPORTED, "no program would load code from folder %s: %s", path,
                     reason);
}

bool meta_cache_is_only(void)
{
    return *only != '\0';
}

unsigned meta_cache_file_mode(void)
{
    return *only ? 0644 : 0600;
}

/* Memory that the node's processes share comes first: it is never on another machine, where locks
 * may hang, and has room where disks are full. */
static int node_folder(int place, char *path)
{
    const char *base = place == 0 ? "/dev/shm" : temporary();
    if (faccessat(AT_FDCWD, base, W_OK, AT_EACCESS) != 0) return -1;
    if (!fits(snprintf(path, PATH_MAX, "%s/libmeta-%u", base, (unsigned)geteuid()), PATH_MAX))
        return -1;
    return open_own(path, true, false);
}

int meta_lock_folder(void)
{
    char path[PATH_MAX];
    int folder = -1;
    for (int place = 0; place < 2 && folder < 0; ++place) folder = node_folder(place, path);
    return folder;
}

/* ------------------------------------------------------------------ to compile in */

#define BUILD "build-"

meta_err meta_build_folder(char *path)
{
    int reason = 0;
    for (int place = 1; place >= 0; --place) { /* a compiler needs room: the disk comes first */
        const int folder = node_folder(place, path);
        if (folder < 0) continue;
        meta_folder_sweep(folder, BUILD);
        close(folder);
        const size_t used = strlen(path);
        if (!fits(snprintf(path + used, PATH_MAX - used, "/" BUILD "XXXXXX"), PATH_MAX - used))
            continue;
        if (mkdtemp(path)) return META_OK;
        reason = errno;
    }
    return meta_fail(META_ERR_UNSUPPORTED,
                     "there is no folder to compile in: neither %s/libmeta-%u nor /dev/shm can be "
                     "written%s%s; set TMPDIR",
                     temporary(), (unsigned)geteuid(), reason ? ": " : "",
                     reason ? strerror(reason) : "");
}

/* Remove what is in @p folder, which is closed, and below it. */
static void empty(int folder, int depth)
{
    enum { DEEPEST = 8 };
    DIR *entries = fdopendir(folder);
    struct dirent *entry;
    if (!entries) {
        close(folder);
        return;
    }
    while ((entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (unlinkat(dirfd(entries), name, 0) == 0) continue;
        const int inner =
            openat(dirfd(entries), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0) continue;
        if (depth < DEEPEST) empty(inner, depth + 1);
        else close(inner);
        unlinkat(dirfd(entries), name, AT_REMOVEDIR);
    }
    closedir(entries);
}

void meta_build_folder_remove(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) empty(folder, 0);
    rmdir(path);
}

/* "KIND-32 hexadecimal digits.bin.tmp.…" of the cache's folder, where the user may have files of
 * other programs as well; of a private folder, what begins with @p part. */
static bool is_temporary(const char *name, const char *part)
{
    const char *end = strstr(name, ".bin.tmp.");
    if (strcmp(part, ".tmp.") != 0) return strncmp(name, part, strlen(part)) == 0;
    return end && end - name > 33 && end[-33] == '-' && strspn(end - 32, "0123456789abcdef") == 32;
}

void meta_folder_sweep(int folder, const char *part)
{
    const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = again >= 0 ? fdopendir(again) : NULL;
    struct dirent *entry;
    struct stat about;
    if (!entries && again >= 0) close(again);
    while (entries && (entry = readdir(entries)) != NULL) {
        const char *name = entry->d_name;
        if (!is_temporary(name, part) || fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            (double)(time(NULL) - about.st_mtime) < STALE_SECONDS + meta_jit_timeout())
            continue;
        if (!S_ISDIR(about.st_mode)) {
            unlinkat(folder, name, 0);
            continue;
        }
        if (strcmp(part, BUILD) != 0) continue; /* only these are folders */
        const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0) empty(inner, 0);
        unlinkat(folder, name, AT_REMOVEDIR);
    }
    if (entries) closedir(entries);
}
