/* SPDX-License-Identifier: BSD-3-Clause */
/** @file words.c
 *  Translates messages of the C functions into Fortran's terms: members of a descriptor become
 *  arguments, and dimensions and elements count from 1. The reverse mapping covers only names
 *  that are the same in both. */
#include "support.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What C says and Fortran says; # is a number, which becomes one more. */
static const struct {
    const char *c, *fortran;
} terms[] = {
    {"desc->field[#].type", "fields(#)"},
    {"field[#].box", "box(#)"},
    {"field[#].stagger", "field(#)%stagger"},
    {"field[#].from_box", "from_box(#)"},
    {"field[#].to_box", "to_box(#)"},
    {"field[#].from", "from(#)"},
    {"field[#].to", "to(#)"},
    {"field[#].type", "from(#)"},
    {"desc->", ""},
    {"->at[#]", "%dimension(#)%at"},
    {"[#]", "(#)"},
    {"dimension #", "dimension #"},
    {"axis #", "dimension #"},
    {"level #", "level #"},
    {": field # ", ": field # "},
};
enum { TERMS = sizeof terms / sizeof *terms };

/* How many bytes of @p text are @p term; 0 where it does not begin so. */
static size_t match(const char *text, const char *term, long *number)
{
    const char *at = text;
    for (; *term; ++term) {
        if (*term != '#') {
            if (*at++ != *term) return 0;
        } else {
            char *end;
            if (!isdigit((unsigned char)*at)) return 0;
            *number = strtol(at, &end, 10);
            at = end;
        }
    }
    return (size_t)(at - text);
}

static size_t put_term(char *to, size_t room, const char *term, long number)
{
    const char *mark = strchr(term, '#');
    const int length =
        mark ? snprintf(to, room, "%.*s%ld%s", (int)(mark - term), term, number, mark + 1)
             : snprintf(to, room, "%s", term);
    return (size_t)length < room ? (size_t)length : room - 1;
}

static bool has_term(int k, bool to_c, const char *text, size_t *length, long *number)
{
    if (to_c && strcmp(terms[k].c, terms[k].fortran) != 0) return false;
    *length = match(text, terms[k].c, number);
    return *length > 0;
}

static void translate(char *to, size_t room, const char *text, bool to_c)
{
    size_t used = 0;
    bool quoted = false; /* what the program calls its buffers is left alone */
    while (*text && used + 1 < room) {
        size_t length = 0;
        int k = 0;
        long number = 0;
        quoted ^= *text == '"';
        while (!quoted && k < TERMS && !has_term(k, to_c, text, &length, &number)) ++k;
        if (length > 0) {
            number += to_c ? -1 : 1;
            used += put_term(to + used, room - used, terms[k].fortran, number);
            text += length;
        } else {
            to[used++] = *text++;
        }
    }
    to[used] = '\0';
}

void metaf_in_fortran(char *to, size_t room, const char *text)
{
    translate(to, room, text, false);
}

void metaf_in_c(char *to, size_t room, const char *text)
{
    translate(to, room, text, true);
}
