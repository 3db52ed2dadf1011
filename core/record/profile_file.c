/* SPDX-License-Identifier: BSD-3-Clause */
/** @file profile_file.c
 *  The file of a trace: a JSON array that one process writes event by event; viewers open it
 * without its end as well. A file that cannot be written is only worth a warning. */
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[PATH_MAX];
static int file = -1;
static off_t whole; /* bytes of complete events */

/* Made absolute now, because the program may change its working directory. */
meta_err meta_profile_path(const char *word, const char *name, size_t length, char to[PATH_MAX])
{
    char folder[PATH_MAX] = "";
    if (name[0] != '/' && !getcwd(folder, sizeof folder))
        return meta_fail(META_ERR_ENVIRONMENT, "META_PROFILE=%s:%.*s: there is no folder: %s", word,
                         (int)length, name, strerror(errno));
    const int used =
        snprintf(to, PATH_MAX, "%s%s%.*s", folder, *folder ? "/" : "", (int)length, name);
    if (length == 0 || used < 0 || used >= PATH_MAX)
        return meta_fail(META_ERR_ENVIRONMENT, "META_PROFILE=%s:%.*s: give a file's name", word,
                         (int)length, name);
    return META_OK;
}

meta_err meta_trace_path(const char *name, size_t length)
{
    return meta_profile_path("trace", name, length, path);
}

static void give_up(int error)
{
    meta_log(META_LOG_WARN, "the trace %s could not be written%s: %s", path,
             whole > 0 ? " to its end" : "", strerror(error));
    if (file < 0) return;
    /* The file ends with a complete event. */
    if (ftruncate(file, whole) != 0) errno = 0;
    close(file);
    file = -1;
}

void meta_trace_put(void *unused, const char *text, size_t bytes)
{
    size_t done = 0;
    (void)unused;
    if (file < 0) return;
    while (done < bytes) {
        const ssize_t more = write(file, text + done, bytes - done);
        if (more < 0 && errno == EINTR) continue;
        if (more == 0) errno = ENOSPC;
        if (more <= 0) break;
        done += (size_t)more;
    }
    const int error = errno;
    const bool all = done == bytes;
    while (done > 0 && text[done - 1] != '\n') --done;
    whole += (off_t)done;
    if (!all) give_up(error);
}

void meta_trace_path_of(int rank)
{
    const size_t length = strlen(path);
    if (length > 0) snprintf(path + length, sizeof path - length, ".%d", rank);
}

bool meta_trace_open(void)
{
    if (!*path) return false;
    whole = 0;
    file = meta_file_to_write(path, O_TRUNC);
    if (file < 0) give_up(errno);
    meta_trace_put(NULL, "[\n", 2);
    return file >= 0;
}

void meta_trace_close(void)
{
    static const char end[] = "{\"ph\":\"M\",\"pid\":0,\"name\":\"complete\",\"args\":{}}\n]\n";
    meta_trace_put(NULL, end, sizeof end - 1);
    if (file < 0) return;
    /* A full disk may be reported as late as this. */
    if (close(file) != 0) file = -1, give_up(errno);
    else meta_log(META_LOG_INFO, "the trace of this run is in %s", path);
    file = -1;
}
