/* SPDX-License-Identifier: BSD-3-Clause */
/** @file note.c
 *  Records a failure on any rank until all ranks agree on it. */
#include "config.h"

#include "note.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

static char noted[NOTE_ROOM];

void note(const char *format, ...)
{
    if (note_seen()) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(noted, sizeof noted, format, arguments);
    va_end(arguments);
    if (noted[0] == '\0') strcpy(noted, "a failure without a message");
}

bool note_meta(meta_err err)
{
    if (err != META_OK)
        note("%s", *meta_last_error() != '\0' ? meta_last_error() : meta_strerror(err));
    return err == META_OK;
}

bool note_seen(void)
{
    return noted[0] != '\0';
}

/* Whether the library has named a rank in front. */
static bool is_named(const char *text)
{
    int rank, length = 0;
    return sscanf(text, "rank %d: %n", &rank, &length) == 1 && length > 0;
}

bool note_agree(char *text)
{
    const job *j = job_here();
    char first[NOTE_ROOM];
    double order = note_seen() ? j->size - j->rank : 0;
    job_most(&order, 1);
    if (order == 0) return false;
    const int from = j->size - (int)order;
    memcpy(first, noted, sizeof first);
    job_tell(first, sizeof first, from);
    if (from == 0 || is_named(first)) snprintf(text, NOTE_ROOM, "%s", first);
    else snprintf(text, NOTE_ROOM, "rank %d: %.*s", from, NOTE_ROOM - 32, first);
    noted[0] = '\0';
    return true;
}

static void print_line(const char *text)
{
    if (job_here()->rank != 0) return;
    fflush(stdout);
    fprintf(stderr, "meta-bench: %s\n", text);
}

void note_print(const char *format, ...)
{
    char text[NOTE_ROOM + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_line(text);
}

void note_print_once(const char *format, ...)
{
    static char *printed[64];
    static size_t count;
    char text[NOTE_ROOM + 256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t k = 0; k < count; ++k)
        if (strcmp(printed[k], text) == 0) return;
    print_line(text);
    if (count < sizeof printed / sizeof *printed && (printed[count] = strdup(text)) != NULL)
        ++count;
}
