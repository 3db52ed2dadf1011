/* SPDX-License-Identifier: BSD-3-Clause */
/** @file names.c
 *  Names of files, with and without numbers. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/files.h"

char *io_path(const char *path, const char *end)
{
    const size_t room = strlen(path) + strlen(end) + 1;
    char *name = malloc(room);
    if (name) snprintf(name, room, "%s%s", path, end);
    return name;
}

char *io_path_number(const char *path, int64_t number)
{
    char end[32];
    snprintf(end, sizeof end, ".%" PRId64, number);
    return io_path(path, end);
}

/* The number that makes @p name of @p base, or -1. */
static int64_t number_of(const char *name, const char *base)
{
    const size_t length = strlen(base);
    char *end;
    if (strncmp(name, base, length) != 0 || name[length] != '.') return -1;
    const char *digits = name + length + 1;
    const size_t count = strspn(digits, "0123456789");
    if (count == 0 || digits[count] != '\0' || (digits[0] == '0' && count > 1)) return -1;
    errno = 0;
    const long long number = strtoll(digits, &end, 10);
    return errno == 0 ? number : -1;
}

meta_err io_last_number(const char *path, int64_t *number)
{
    meta_err error = META_OK;
    char *folder = strdup(path), *file = strdup(path);
    *number = -1;
    if (!folder || !file) error = io_no_memory(2 * strlen(path));
    if (error == META_OK) {
        const char *base = basename(file), *where = dirname(folder);
        DIR *list = opendir(where);
        if (!list)
            error =
                core->fail(META_ERR_FILE, "argument 'path': the folder of %s cannot be read: %s",
                           path, strerror(errno));
        for (const struct dirent *entry; list && (entry = readdir(list)) != NULL;) {
            const int64_t found = number_of(entry->d_name, base);
            if (found > *number) *number = found;
        }
        if (list) closedir(list);
    }
    free(folder);
    free(file);
    return error;
}
