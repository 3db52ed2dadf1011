/* SPDX-License-Identifier: BSD-3-Clause */
/** @file crash.c
 *  Preloaded, it counts system calls on files named *.partial. Call number CRASH_AT kills the
 * process; from number FULL_AT on they fail as on a full disk. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { FILES = 4096 };
static bool ours[FILES];
static long calls;

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static long setting(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? atol(text) : 0;
}

static bool is_ours(const char *path)
{
    static const char end[] = ".partial";
    const size_t length = strlen(path), size = sizeof end - 1;
    return length >= size && strcmp(path + length - size, end) == 0;
}

/* Count a call. @return whether it fails. */
static bool count(bool concerned)
{
    if (!concerned) return false;
    ++calls;
    if (calls == setting("CRASH_AT")) raise(SIGKILL);
    const long full = setting("FULL_AT");
    return full > 0 && calls >= full;
}

static bool count_file(int file)
{
    return count(file >= 0 && file < FILES && ours[file]);
}

#define OPEN(name)                                                                                 \
    EXPORT int name(const char *path, int flags, ...)                                              \
    {                                                                                              \
        int (*const real)(const char *, int, ...) =                                                \
            (int (*)(const char *, int, ...))next_of(#name);                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;                       \
        va_end(arguments);                                                                         \
        count(is_ours(path));                                                                      \
        const int file = real(path, flags, mode);                                                  \
        if (file >= 0 && file < FILES) ours[file] = is_ours(path);                                 \
        return file;                                                                               \
    }
OPEN(open)
OPEN(open64)

#define FORWARD(type, name, full, parameters, arguments)                                           \
    EXPORT type name parameters                                                                    \
    {                                                                                              \
        type(*const real) parameters = (type(*) parameters)next_of(#name);                         \
        if (full) {                                                                                \
            errno = ENOSPC;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        return real arguments;                                                                     \
    }
FORWARD(ssize_t, write, count_file(to), (int to, const void *data, size_t bytes), (to, data, bytes))
FORWARD(ssize_t, pwrite, count_file(to), (int to, const void *data, size_t bytes, off_t at),
        (to, data, bytes, at))
FORWARD(ssize_t, pwrite64, count_file(to), (int to, const void *data, size_t bytes, off64_t at),
        (to, data, bytes, at))
FORWARD(int, ftruncate, count_file(to), (int to, off_t bytes), (to, bytes))
FORWARD(int, ftruncate64, count_file(to), (int to, off64_t bytes), (to, bytes))
FORWARD(int, fsync, count_file(to), (int to), (to))
FORWARD(int, close, count_file(to) && false, (int to), (to))
FORWARD(int, rename, count(is_ours(from)) && false, (const char *from, const char *to), (from, to))
FORWARD(int, unlink, count(is_ours(path)) && false, (const char *path), (path))
