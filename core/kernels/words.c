/* SPDX-License-Identifier: BSD-3-Clause */
/** @file words.c
 *  See words.h. */
#include "kernels/words.h"

#include <ctype.h>
#include <string.h>

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

/* Past the comment that begins here. */
static void skip_comment(meta_words *w)
{
    const char *end = w->at[1] == '*' ? "*/" : "\n";
    step(w);
    step(w);
    skip_to(w, end);
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
    if (*w->at) step(w);
}

static void skip_directive(meta_words *w)
{
    while (*w->at && *w->at != '\n') {
        if (w->at[0] == '/' && w->at[1] == '*') {
            skip_comment(w);
            continue;
        }
        if (*w->at == '\\' && w->at[1]) step(w);
        step(w);
    }
}

void meta_words_next(meta_words *w)
{
    for (;;) {
        if (isspace((unsigned char)*w->at)) step(w);
        else if (*w->at == '#') skip_directive(w);
        else if (is_comment(w)) skip_comment(w);
        else if (*w->at == '"' || *w->at == '\'') skip_quoted(w, *w->at);
        else break;
    }
    w->word = w->at;
    w->word_line = w->line;
    while (isalnum((unsigned char)*w->at) || *w->at == '_') ++w->at;
    if (w->at == w->word && *w->at) ++w->at;
    w->length = (size_t)(w->at - w->word);
}

bool meta_words_is(const meta_words *w, const char *text)
{
    return w->length == strlen(text) && strncmp(w->word, text, w->length) == 0;
}
