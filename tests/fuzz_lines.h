/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_lines.h
 *  Inputs that have lines of NAME=VALUE, which become variables of the environment. */
#ifndef META_TEST_FUZZ_LINES_H
#define META_TEST_FUZZ_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MOST = 16, LINES_NAME = 40 };

typedef struct fuzz_lines {
    char name[LINES_MOST][LINES_NAME]; /* of the variables that are set */
    int count;
} fuzz_lines;

/* A seed of @p text. */
static inline size_t lines_seed(const char *text, uint8_t *data, size_t room)
{
    const size_t length = strlen(text);
    memcpy(data, text, length < room ? length : room);
    return length;
}

static inline void lines_set_one(fuzz_lines *lines, const char *name, char *value)
{
    for (char *c = value; *c; ++c)
        if (*c == '/') *c = '_'; /* files in the current folder only */
    setenv(name, value, 1);
    strcpy(lines->name[lines->count++], name);
}

/* Set the variables of which @p is_name says that they are meant. */
static inline void lines_set(fuzz_lines *lines, const uint8_t *data, size_t size,
                             bool (*is_name)(const char *name))
{
    static char text[1 << 14];
    char *rest = NULL;
    const size_t length = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, data, length);
    text[length] = '\0';
    lines->count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, '=');
        if (!value || value == line || value - line >= LINES_NAME || lines->count == LINES_MOST)
            continue;
        *value++ = '\0';
        if (is_name(line)) lines_set_one(lines, line, value);
    }
}

static inline void lines_unset(const fuzz_lines *lines)
{
    for (int k = 0; k < lines->count; ++k) unsetenv(lines->name[k]);
}

/* Whether @p message names a variable that is set. */
static inline bool lines_named(const fuzz_lines *lines, const char *message)
{
    for (int k = 0; k < lines->count; ++k)
        if (strstr(message, lines->name[k])) return true;
    return false;
}

#endif
