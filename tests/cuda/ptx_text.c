/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_text.c
 *  Reads the tokens of PTX text. */
#include "ptx_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool starts_word(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

static bool goes_on_word(const char *p)
{
    return isalnum((unsigned char)*p) || *p == '_' || *p == '$' || *p == '.';
}

/* Pass blanks and comments. */
static void skip_blanks(ptx_reader *r)
{
    for (;;) {
        if (*r->at == '\n') {
            ++r->line;
            ++r->at;
        } else if (isspace((unsigned char)*r->at)) {
            ++r->at;
        } else if (r->at[0] == '/' && r->at[1] == '/') {
            while (*r->at && *r->at != '\n') ++r->at;
        } else if (r->at[0] == '/' && r->at[1] == '*') {
            for (r->at += 2; *r->at && !(r->at[0] == '*' && r->at[1] == '/'); ++r->at)
                r->line += *r->at == '\n';
            if (*r->at) r->at += 2;
        } else {
            return;
        }
    }
}

void ptx_next(ptx_reader *r)
{
    if (r->error->failed) return;
    skip_blanks(r);
    const char *from = r->at;
    ptx_kind kind = PTX_MARK;
    if (!*from) {
        kind = PTX_END;
    } else if (*from == '"') {
        kind = PTX_STRING;
        for (++r->at; *r->at && *r->at != '"'; ++r->at) r->line += *r->at == '\n';
        if (*r->at) ++r->at;
    } else if (isdigit((unsigned char)*from)) {
        kind = PTX_NUMBER;
        while (isalnum((unsigned char)*r->at) || *r->at == '.') ++r->at;
    } else if (starts_word(*from)) {
        kind = PTX_WORD;
        for (++r->at; goes_on_word(r->at) || (r->at[0] == ':' && r->at[1] == ':');)
            r->at += *r->at == ':' ? 2 : 1;
    } else {
        ++r->at;
    }
    r->token = (ptx_token){kind, from, (size_t)(r->at - from), r->line};
}

void ptx_read(ptx_reader *r, const char *text, int line, ptx_error *error)
{
    *r = (ptx_reader){.at = text, .line = line, .error = error};
    r->token = (ptx_token){PTX_END, "", 0, line};
    ptx_next(r);
}

bool ptx_token_is(const ptx_token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->text, text, token->length) == 0;
}

bool ptx_at(const ptx_reader *r, const char *text)
{
    return r->token.kind != PTX_END && ptx_token_is(&r->token, text);
}

bool ptx_accept(ptx_reader *r, const char *text)
{
    if (!ptx_at(r, text)) return false;
    ptx_next(r);
    return true;
}

void ptx_expect(ptx_reader *r, const char *text)
{
    if (!ptx_accept(r, text)) ptx_bad(r, "'%s' is expected", text);
}

ptx_token ptx_word(ptx_reader *r)
{
    const ptx_token token = r->token;
    if (token.kind != PTX_WORD) ptx_bad(r, "a name is expected");
    ptx_next(r);
    return token;
}

uint64_t ptx_number(ptx_reader *r, ptx_literal *literal)
{
    char text[32], *end = text;
    const ptx_token *t = &r->token;
    if (t->kind != PTX_NUMBER || t->length >= sizeof text) {
        ptx_bad(r, "a number is expected");
        return 0;
    }
    memcpy(text, t->text, t->length);
    text[t->length] = '\0';
    const bool hex = text[0] == '0' && text[1];
    const char kind = (char)tolower((unsigned char)text[hex]);
    ptx_literal found = PTX_INTEGER;
    if (hex && kind == 'f' && t->length == 10) found = PTX_BITS_OF_F32;
    if (hex && kind == 'd' && t->length == 18) found = PTX_BITS_OF_F64;
    errno = 0;
    const uint64_t value = found != PTX_INTEGER ? strtoull(text + 2, &end, 16)
                           : hex && kind == 'b' ? strtoull(text + 2, &end, 2)
                                                : strtoull(text, &end, 0);
    if (found == PTX_INTEGER && *end == 'U') ++end;
    if (*end || errno || (found != PTX_INTEGER && !literal)) ptx_bad(r, "this is no number here");
    if (literal) *literal = found;
    ptx_next(r);
    return value;
}

bool ptx_at_label(const ptx_reader *r)
{
    const char *p = r->at;
    while (*p == ' ' || *p == '\t') ++p;
    return r->token.kind == PTX_WORD && p[0] == ':' && p[1] != ':';
}

void ptx_skip_group(ptx_reader *r, char open, char close)
{
    const ptx_token first = r->token;
    int depth = 0;
    do {
        const char mark = r->token.kind == PTX_MARK ? *r->token.text : '\0';
        depth += (mark == open) - (mark == close);
        if (r->token.kind == PTX_END) {
            ptx_bad_at(r, &first, "it is not closed");
            return;
        }
        ptx_next(r);
    } while (depth > 0);
}

void ptx_skip_line(ptx_reader *r)
{
    const int line = r->token.line;
    while (r->token.kind != PTX_END && r->token.line == line) ptx_next(r);
}

static void fail(ptx_reader *r, const ptx_token *token, const char *format, va_list list)
{
    ptx_error *e = r->error;
    if (e->failed) return;
    e->failed = true;
    const int head = snprintf(e->text, sizeof e->text, "PTX line %d: ", token->line);
    vsnprintf(e->text + head, sizeof e->text - (size_t)head, format, list);
    const size_t used = strlen(e->text);
    snprintf(e->text + used, sizeof e->text - used, ", at '%.*s'", (int)token->length, token->text);
    r->token = (ptx_token){PTX_END, "", 0, token->line};
}

void ptx_bad(ptx_reader *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const ptx_token token = r->token;
    fail(r, &token, format, list);
    va_end(list);
}

void ptx_unsupported(ptx_reader *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const ptx_token token = r->token;
    r->error->unsupported = !r->error->failed;
    fail(r, &token, format, list);
    va_end(list);
}

void ptx_bad_at(ptx_reader *r, const ptx_token *token, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fail(r, token, format, list);
    va_end(list);
}
