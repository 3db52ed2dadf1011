/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_mistake.c
 *  See kernel_mistake.h. gcc's and clang's messages are lines `FILE:LINE:COLUMN: error: TEXT`, each
 * followed by the line of the file and a mark below it. */
#include "config.h"

#include "kernel_mistake.h"

#include <stdbool.h>
#include <string.h>

static const char *end_of(const char *line)
{
    return line + strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
    const char *end = end_of(line);
    return *end ? end + 1 : NULL;
}

/* Where @p what begins in the line; NULL: it is not there. */
static const char *in_line(const char *line, const char *what)
{
    const char *found = strstr(line, what);
    return found && found < end_of(line) ? found : NULL;
}

static const char *error_in(const char *line)
{
    const char *found = in_line(line, ": error: ");
    return found ? found : in_line(line, ": fatal error: ");
}

/* Whether the line begins with a place in the file. */
static bool is_at(const char *line, const char *file)
{
    const size_t length = strlen(file);
    return strncmp(line, file, length) == 0 && line[length] == ':' && line[length + 1] >= '0' &&
           line[length + 1] <= '9';
}

static const char *first_error(const char *said)
{
    for (const char *line = said; line; line = next_line(line))
        if (error_in(line)) return line;
    return NULL;
}

/* An error inside a macro of libmeta's: the first place in the file that led there, before the next
 * error. NULL: none is named. */
static const char *place_of(const char *error, const char *file)
{
    for (const char *line = next_line(error); line && !error_in(line); line = next_line(line))
        if (is_at(line, file)) return line;
    return NULL;
}

static void put(FILE *to, const char *from, const char *end)
{
    fprintf(to, "%.*s", (int)(end - from), from);
}

/* The file's line and the marks below it, which begin with a blank. */
static void put_source(FILE *to, const char *line)
{
    for (int n = 0; n < 3 && (line = next_line(line)) && *line == ' '; ++n) {
        put(to, line, end_of(line));
        fputc('\n', to);
    }
}

void kernel_mistake_write(const char *file, const char *said, FILE *to)
{
    const char *error = first_error(said);
    const char *place = error && !is_at(error, file) ? place_of(error, file) : error;
    if (!error) {
        put(to, said, end_of(said));
        fputc('\n', to);
        return;
    }
    if (!place) place = error;
    const char *text = error_in(error);
    if (place != error) {
        const char *note = in_line(place, ": note: ");
        put(to, place, note ? note : end_of(place));
    } else {
        put(to, error, text);
    }
    put(to, text, end_of(error));
    fputc('\n', to);
    put_source(to, place);
}
