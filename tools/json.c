/* SPDX-License-Identifier: BSD-3-Clause */
/** @file json.c
 *  Writing JSON documents to a stream. */
#include "config.h"

#include "json.h"

#include <inttypes.h>
#include <math.h>

/* The length of the UTF-8 sequence at @p s, 0 if there is none: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
static int sequence_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    const int length = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;
    if (length == 4 && (s[0] < 0xf0 || s[0] > 0xf4)) return 0;
    for (int i = 1; i < length; ++i)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
    if (s[0] == 0xed && s[1] > 0x9f) return 0;
    if (s[0] == 0xf0 && s[1] < 0x90) return 0;
    if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
    return length;
}

static void put_text(FILE *to, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', to);
    while (*s != '\0') {
        const int length = sequence_length(s);
        if (*s == '"' || *s == '\\') fprintf(to, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f) fprintf(to, "\\u%04x", *s);
        else if (length == 0) fputs("\\ufffd", to);
        else fwrite(s, 1, (size_t)length, to);
        s += length > 0 ? length : 1;
    }
    fputc('"', to);
}

static void start_line(const json *j)
{
    if (!j->line) fprintf(j->to, "\n%*s", 2 * j->depth, "");
}

static void start_value(json *j, const char *key)
{
    if (j->comma) fputc(',', j->to);
    if (j->depth > 0) start_line(j);
    if (key != NULL) {
        put_text(j->to, key);
        fputs(j->line ? ":" : ": ", j->to);
    }
    j->comma = true;
}

void json_open(json *j, const char *key, char bracket)
{
    start_value(j, key);
    fputc(bracket, j->to);
    j->comma = false;
    ++j->depth;
}

void json_close(json *j, char bracket)
{
    --j->depth;
    if (j->comma) start_line(j);
    fputc(bracket, j->to);
    if (j->depth == 0) fputc('\n', j->to);
    j->comma = true;
}

void json_string(json *j, const char *key, const char *value)
{
    start_value(j, key);
    if (value == NULL) fputs("null", j->to);
    else put_text(j->to, value);
}

void json_number(json *j, const char *key, int64_t value)
{
    start_value(j, key);
    fprintf(j->to, "%" PRId64, value);
}

void json_size(json *j, const char *key, uint64_t value)
{
    start_value(j, key);
    fprintf(j->to, "%" PRIu64, value);
}

void json_bool(json *j, const char *key, bool value)
{
    start_value(j, key);
    fputs(value ? "true" : "false", j->to);
}

static void put_number(json *j, const char *key, int digits, double value)
{
    start_value(j, key);
    if (isfinite(value)) fprintf(j->to, "%.*g", digits, value);
    else fputs("null", j->to);
}

void json_real(json *j, const char *key, double value)
{
    put_number(j, key, 6, value);
}

void json_exact(json *j, const char *key, double value)
{
    put_number(j, key, 17, value);
}
