/* SPDX-License-Identifier: BSD-3-Clause */
/** @file output.c
 *  A file written by one rank, under a temporary name until it is complete and on the disk. */
#include "config.h"

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.h"
#include "standard_output.h"

/* Beside the file, so that giving it its name is one step. */
char *output_temporary(const char *path, long id)
{
    const size_t room = strlen(path) + 32;
    char *name = malloc(room);
    if (name == NULL) failure_note_memory((double)room);
    else snprintf(name, room, "%s.partial-%ld", path, id);
    return name;
}

int output_create(const char *option, const char *path, const char *temporary)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        failure_note("%s %s: is there already and not a regular file", option, path);
        return -1;
    }
    const bool locked = access(path, F_OK) == 0 && access(path, W_OK) != 0;
    const int descriptor = locked ? -1 : open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor < 0) failure_note("%s %s: cannot be written: %s", option, path, strerror(errno));
    return descriptor;
}

static void forget(output *o)
{
    free(o->path);
    free(o->temporary);
    o->path = o->temporary = NULL;
    o->descriptor = -1;
}

bool output_open(output *o, const char *option, const char *path)
{
    *o = (output){.option = option, .path = strdup(path), .descriptor = -1};
    if (o->path == NULL) failure_note_memory((double)strlen(path) + 1);
    else o->temporary = output_temporary(path, (long)getpid());
    if (o->temporary != NULL) o->descriptor = output_create(option, path, o->temporary);
    if (o->descriptor >= 0) return true;
    forget(o);
    return false;
}

static bool note(const output *o, const char *what)
{
    failure_note("%s %s: cannot be %s: %s", o->option, o->path, what, strerror(errno));
    return false;
}

bool output_write(output *o, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes > 0) {
        const ssize_t written = write(o->descriptor, next, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return note(o, "written");
        next += written;
        bytes -= (size_t)written;
    }
    return true;
}

bool output_rewrite(output *o, const void *data, size_t bytes, long long at)
{
    const char *next = data;
    while (bytes > 0) {
        const ssize_t written = pwrite(o->descriptor, next, bytes, (off_t)at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return note(o, "written");
        next += written;
        at += written;
        bytes -= (size_t)written;
    }
    return true;
}

/* The new name itself is on the disk only when its folder is. File systems that cannot do this say
 * so, and lose nothing by it. */
void output_sync_folder(const char *path)
{
    char *copy = strdup(path);
    if (copy == NULL) return;
    const int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY);
    if (folder >= 0) {
        fsync(folder);
        close(folder);
    }
    free(copy);
}

static bool sync_file(output *o)
{
    bool right = fsync(o->descriptor) == 0 || errno == EINVAL || note(o, "written");
    if (close(o->descriptor) != 0 && right) right = note(o, "written");
    o->descriptor = -1;
    return right;
}

bool output_close(output *o)
{
    bool right = sync_file(o);
    if (right && rename(o->temporary, o->path) != 0) right = note(o, "written");
    if (right) output_sync_folder(o->path);
    else unlink(o->temporary);
    forget(o);
    return right;
}

void output_discard(output *o)
{
    if (o->temporary == NULL) return;
    close(o->descriptor);
    unlink(o->temporary);
    forget(o);
}

bool output_whole(const char *option, const char *path, const void *data, size_t bytes)
{
    output o;
    if (!output_open(&o, option, path)) return false;
    if (output_write(&o, data, bytes)) return output_close(&o);
    output_discard(&o);
    return false;
}

void output_check(const char *option, const char *path)
{
    output o;
    if (output_open(&o, option, path)) output_discard(&o);
}

int output_end(int status)
{
    const char *error = standard_output_error();
    if (error != NULL) failure_note("%s", error);
    return failure_agree(MPI_COMM_WORLD) ? STATUS_UNUSABLE : status;
}
