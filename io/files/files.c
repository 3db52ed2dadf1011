/* SPDX-License-Identifier: BSD-3-Clause */
/** @file files.c
 *  Files of the operating system: whole transfers, and names given when a file is complete. */
#include "config.h" /* for sync_file_range() */

#include "files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

meta_err io_file_error(const char *path, const char *what)
{
    return core->fail(META_ERR_FILE, "argument 'path': %s cannot be %s: %s", path, what,
                      strerror(errno));
}

meta_err io_file_may_be(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) return META_OK; /* creating it says why it cannot be */
    if (!S_ISREG(status.st_mode))
        return core->fail(META_ERR_FILE,
                          "argument 'path': %s is there already, and is not a regular file: give "
                          "another name",
                          path);
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0) return io_file_error(path, "written");
    return META_OK;
}

meta_err io_file_create(const char *path, const char *partial, int *file)
{
    META_TRY(io_file_may_be(path));
    unlink(partial);
    *file = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *file >= 0 ? META_OK : io_file_error(path, "written");
}

meta_err io_file_open(const char *path, bool writes, int *file)
{
    /* A named pipe, or what is in its place meanwhile, is not waited for. */
    *file = open(path, (writes ? O_WRONLY : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return *file >= 0 ? META_OK : io_file_error(path, writes ? "written" : "opened");
}

meta_err io_file_size(const char *path, int file, int64_t *bytes)
{
    struct stat status;
    if (fstat(file, &status) != 0) return io_file_error(path, "read");
    if (!S_ISREG(status.st_mode))
        return core->fail(META_ERR_FILE, "argument 'path': %s is not a regular file", path);
    *bytes = status.st_size;
    return META_OK;
}

/* The disk begins with a long transfer while the next is made; a hint, so its errors do not count.
 */
static void begin_writing(int file, int64_t at, size_t bytes)
{
#ifdef SYNC_FILE_RANGE_WRITE
    enum { LONG = 1 << 20 };
    if (bytes >= LONG) sync_file_range(file, (off_t)at, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
#else
    (void)file, (void)at, (void)bytes;
#endif
}

meta_err io_write_at(const char *path, int file, const void *data, size_t bytes, int64_t at)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t part =
            pwrite(file, (const char *)data + done, bytes - done, (off_t)(at + (int64_t)done));
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return io_file_error(path, "written");
        done += (size_t)part;
    }
    begin_writing(file, at, bytes);
    return META_OK;
}

meta_err io_read_at(const char *path, int file, void *data, size_t bytes, int64_t at)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t part =
            pread(file, (char *)data + done, bytes - done, (off_t)(at + (int64_t)done));
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return io_file_error(path, "read");
        if (part == 0)
            return core->fail(META_ERR_FILE,
                              "argument 'path': %s ends at byte %" PRId64
                              ", in the middle of its data: it is cut off",
                              path, at + (int64_t)done);
        done += (size_t)part;
    }
    return META_OK;
}

meta_err io_file_close(const char *path, int *file, meta_err error)
{
    if (*file < 0) return error;
    /* EINVAL: not for this kind of file */
    if (error == META_OK && fsync(*file) != 0 && errno != EINVAL)
        error = io_file_error(path, "written");
    if (close(*file) != 0 && error == META_OK) error = io_file_error(path, "written");
    *file = -1;
    return error;
}

/* The name is on the disk only when its folder is. File systems that cannot do that lose nothing.
 */
static void sync_folder(const char *path)
{
    char *copy = strdup(path);
    if (!copy) return;
    const int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
    free(copy);
}

meta_err io_file_rename(const char *partial, const char *path)
{
    if (rename(partial, path) != 0) return io_file_error(path, "written");
    sync_folder(path);
    return META_OK;
}

meta_err io_file_whole(const char *path, const void *data, size_t bytes)
{
    int file = -1;
    char *partial = io_path(path, ".partial");
    if (!partial) return io_no_memory(strlen(path));
    meta_err error = io_file_create(path, partial, &file);
    const bool created = file >= 0;
    if (error == META_OK)
        error = io_file_close(path, &file, io_write_at(path, file, data, bytes, 0));
    if (error == META_OK) error = io_file_rename(partial, path);
    if (error != META_OK && created) unlink(partial);
    free(partial);
    return error;
}
