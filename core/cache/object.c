/* SPDX-License-Identifier: BSD-3-Clause */
/** @file object.c
 *  Opening a shared object whose bytes are in memory: what was checked is what is loaded, whatever
 * happens to the file that it came from, and no folder need allow to execute files. */
#include "cache/cache.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool write_all(int file, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t put = write(file, bytes, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        count -= (size_t)put;
    }
    return true;
}

/* The path of an open file. The dynamic linker takes a path that it has seen for the object that it
 * opened then, and descriptors are used again: so each path is spelled in its own way, which leads
 * to the same file. */
static void spell(char *path, size_t room, int file, unsigned number)
{
    size_t used = (size_t)snprintf(path, room, "/proc/self");
    for (int bit = 0; bit < 32; ++bit) {
        path[used++] = '/';
        path[used++] = number >> bit & 1 ? '/' : '.';
    }
    snprintf(path + used, room - used, "/fd/%d", file);
}

static void *open_memory(const char *name, const void *code, size_t bytes)
{
    static atomic_uint opened;
    char path[128];
    void *object = NULL;
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0) return NULL;
    if (write_all(file, code, bytes)) {
        spell(path, sizeof path, file, atomic_fetch_add(&opened, 1));
        object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    close(file);
    return object;
}

/* Where such files cannot be executed: from a folder, whose name is never used again. */
static void *open_file(const void *code, size_t bytes, char *reason, size_t room)
{
    static atomic_uint opened;
    char folder[PATH_MAX], path[PATH_MAX + 64];
    void *object = NULL;
    if (meta_build_folder(folder) != META_OK) {
        snprintf(reason, room, "%s", meta_last_error());
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%ld-%u.so", folder, (long)getpid(),
             atomic_fetch_add(&opened, 1));
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    const bool written = file >= 0 && write_all(file, code, bytes);
    if (!written) snprintf(reason, room, "cannot write %s: %s", path, strerror(errno));
    if (file >= 0) close(file);
    if (written && !(object = dlopen(path, RTLD_NOW | RTLD_LOCAL)))
        snprintf(reason, room, "%s", dlerror());
    meta_build_folder_remove(folder);
    return object;
}

void *meta_object_open(const char *name, const void *code, size_t bytes, char *reason, size_t room)
{
    void *object = open_memory(name, code, bytes);
    return object ? object : open_file(code, bytes, reason, room);
}
