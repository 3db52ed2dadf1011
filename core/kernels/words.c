/* SPDX-License-Identifier: BSD-3-Clause */
/** @file words.c
 *  See words.h. */
#include "kernels/words.h"

#include <string.h>

/* Letters and blanks are C's, in every locale. */
static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void step(meta_words *w)
{
    w->line += *w->at == '\n';
    ++w->at;
}

/* Past what ends with @p end, or the text. */
static void skip_to(meta_words *w, const char *end)
{
    while (*w->at && strncmp(w->at, end, strlen(end)) != 0) step(w);
    for (size_t k = 0; *w->at && k < strlen(end); ++k) step(w);
}

/* Past the comment that begins here. A backslash continues one of // on the next line. */
static void skip_comment(meta_words *w)
{
    const bool is_line = w->at[1] == '/';
    step(w);
    step(w);
    if (!is_line) skip_to(w, "*/");
    for (bool more = is_line; more;) {
        skip_to(w, "\n");
        more = *w->at && w->at[-2] == '\\';
    }
}

static bool is_comment(const meta_words *w)
{
    return w->at[0] == '/' && (w->at[1] == '*' || w->at[1] == '/');
}

/* Past a string or character whose quote is @p quote. */
static void skip_quoted(meta_words *w, char quote)
{
    step(w);
    while (*w->at && *w->at != quote && *w->at != '\n') {
        if (*w->at == '\\' && w->at[1]) step(w);
        step(w);
    }
    if (*w->at == quote) step(w);
}

/* Up to the end of the directive's last line. */
static void skip_directive(meta_words *w)
{
    while (*w->at && *w->at != '\n') {
        if (is_comment(w)) {
            const bool is_last = w->at[1] == '/';
            skip_comment(w);
            if (is_last) return;
        } else if (*w->at == '"' || *w->at == '\'') {
            skip_quoted(w, *w->at);
        } else {
            if (*w->at == '\\' && w->at[1]) step(w);
            step(w);
        }
    }
}

static void read_word(meta_words *w)
{
    w->word = w->at;
    w->word_line = w->line;
    while (is_of_name(*w->at)) ++w->at;
    w->length = (size_t)(w->at - w->word);
}

static void read_word_or_other(meta_words *w)
{
    read_word(w);
    if (w->length == 0 && *w->at) ++w->at, w->length = 1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The name of the directive that begins here; false: it has none. */
static bool read_directive(meta_words *w)
{
    step(w);
    while (is_blank(*w->at)) step(w);
    read_word(w);
    return w->is_directive = w->length > 0;
}

void meta_words_next_or_directive(meta_words *w)
{
    if (w->is_directive) skip_directive(w);
    w->is_directive = false;
    for (;;) {
        if (is_space(*w->at)) step(w);
        else if (is_comment(w)) skip_comment(w);
        else if (*w->at == '"' || *w->at == '\'') skip_quoted(w, *w->at);
        else if (*w->at != '#') break;
        else if (read_directive(w)) return;
        else skip_directive(w);
    }
    read_word_or_other(w);
}

bool meta_words_next_of_directive(meta_words *w)
{
    bool has_ended = false;
    while (!has_ended) {
        if (is_blank(*w->at) || *w->at == '\r') {
            step(w);
        } else if (w->at[0] == '\\' && w->at[1]) { /* the next line continues it */
            step(w);
            step(w);
        } else if (is_comment(w)) {
            has_ended = w->at[1] == '/';
            skip_comment(w);
        } else if (*w->at == '"' || *w->at == '\'') {
            skip_quoted(w, *w->at);
        } else {
            break;
        }
    }
    w->is_directive = !has_ended && *w->at && *w->at != '\n';
    if (w->is_directive) read_word_or_other(w);
    return w->is_directive;
}

void meta_words_next_everywhere(meta_words *w)
{
    if (!w->is_directive || !meta_words_next_of_directive(w)) meta_words_next_or_directive(w);
}

void meta_words_next(meta_words *w)
{
    do meta_words_next_or_directive(w);
    while (w->is_directive);
}

bool meta_words_directive_has(const meta_words *w, const char *text)
{
    const char *at = w->at;
    while (is_blank(*at)) ++at;
    if (strncmp(at, text, strlen(text)) != 0) return false;
    for (at += strlen(text); is_blank(*at) || *at == '\r';) ++at;
    return *at == '\0' || *at == '\n' || (*at == '/' && (at[1] == '*' || at[1] == '/'));
}

bool meta_words_is(const meta_words *w, const char *text)
{
    return w->length == strlen(text) && strncmp(w->word, text, w->length) == 0;
}
