/* SPDX-License-Identifier: BSD-3-Clause */
/** @file series.c
 *  A series of VTK's files with their times (.pvd), to which each new file is added. A line of the
 *  file has one of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/formats.h"

static const char first[] =
    "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  <Collection>\n";
static const char last[] = "  </Collection>\n</VTKFile>\n";
static const char line_begin[] = "    <DataSet timestep=\"";

/* The whole file and a '\0'; *text stays NULL if there is none. */
static meta_err load(const char *series, char **text)
{
    int64_t bytes;
    int file = open(series, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return errno == ENOENT ? META_OK : io_file_error(series, "read");
    meta_err error = io_file_size(series, file, &bytes);
    if (error == META_OK) {
        *text = calloc(1, (size_t)bytes + 1);
        error = *text ? io_read_at(series, file, *text, (size_t)bytes, 0)
                      : io_no_memory((uint64_t)bytes);
    }
    close(file);
    return error;
}

/* The lines of earlier times: a run that goes on from an earlier step writes the later ones anew.
 */
static void keep_earlier(FILE *to, const char *text, double time)
{
    for (const char *line = text; line && *line;) {
        const char *end = strchr(line, '\n');
        const size_t length = end ? (size_t)(end - line) + 1 : strlen(line);
        if (strncmp(line, line_begin, sizeof line_begin - 1) == 0 &&
            strtod(line + sizeof line_begin - 1, NULL) < time)
            fwrite(line, 1, length, to);
        line += length;
    }
}

/* The file's name as seen from the folder of the series, which must be its own. */
static const char *name_of(const char *series, const char *path)
{
    const char *slash = strrchr(series, '/');
    const size_t folder = slash ? (size_t)(slash - series) + 1 : 0;
    return strncmp(series, path, folder) == 0 ? path + folder : path;
}

meta_err io_series_add(const char *series, const char *path, double time)
{
    char *before = NULL, *after = NULL;
    size_t bytes = 0;
    META_TRY(load(series, &before));
    if (before && strncmp(before, first, sizeof first - 1) != 0) {
        free(before);
        return core->fail(
            META_ERR_FILE,
            "argument 'desc->series': %s is there already, and was not written by this "
            "library: remove it, or give another name",
            series);
    }
    FILE *to = open_memstream(&after, &bytes);
    const locale_t plain = meta_plain_begin();
    if (to) {
        fputs(first, to);
        keep_earlier(to, before, time);
        fprintf(to, "%s%.17g\" file=\"", line_begin, time);
        io_xml_text(to, name_of(series, path));
        fprintf(to, "\"/>\n%s", last);
    }
    meta_plain_end(plain);
    const meta_err error =
        to && fclose(to) == 0 ? io_file_whole(series, after, bytes) : io_no_memory(bytes);
    free(before);
    free(after);
    return error;
}
