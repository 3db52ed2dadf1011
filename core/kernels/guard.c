/* SPDX-License-Identifier: BSD-3-Clause */
/** @file guard.c
 *  Kernel files that compilers would read once: their passes include them again. */
#include <stdio.h>
#include <string.h>

#include "kernels/compiler.h"
#include "kernels/words.h"

enum { LEVELS = 32 };

/* A name behind #ifndef or #define; of length 0 behind other directives. */
typedef struct name {
    const char *text;
    size_t length;
    int line;
} name;

static name name_behind(const meta_words *w)
{
    meta_words next = *w;
    const bool has_one = meta_words_next_of_directive(&next);
    return (name){next.word, has_one ? next.length : 0, w->word_line};
}

static bool is_same(const name *a, const name *b)
{
    return a->length > 0 && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static meta_err refuse(const char *file, int line, int length, const char *what)
{
    return meta_fail(META_ERR_ARGUMENT,
                     "%s:%d: %.*s keeps the kernel file from including itself, once for each "
                     "element type and instruction set: remove it",
                     file, line, length, what);
}

meta_err meta_compiler_check_guard(const char *file, const char *text)
{
    name level[LEVELS];
    bool defines[LEVELS] = {false};
    int levels = 0;
    meta_words w = {.at = text, .line = 1};
    do {
        meta_words_next_or_directive(&w);
        if (!w.is_directive) continue;
        const name behind = name_behind(&w);
        if (meta_words_is(&w, "pragma") && meta_words_directive_has(&w, "once"))
            return refuse(file, w.word_line, 12, "#pragma once");
        if (meta_words_is(&w, "if") || meta_words_is(&w, "ifdef") || meta_words_is(&w, "ifndef")) {
            if (levels == LEVELS) return META_OK;
            defines[levels] = false;
            level[levels++] = meta_words_is(&w, "ifndef") ? behind : (name){.line = w.word_line};
        } else if (meta_words_is(&w, "endif") && levels > 0) {
            --levels;
        } else if (meta_words_is(&w, "define")) {
            for (int k = 0; k < levels; ++k) defines[k] |= is_same(&level[k], &behind);
        } else if (meta_words_is(&w, "include") && meta_words_directive_has(&w, "META_AGAIN")) {
            char said[128];
            for (int k = 0; k < levels; ++k)
                if (defines[k]) {
                    const int length =
                        snprintf(said, sizeof said, "the include guard #ifndef %.*s",
                                 (int)(level[k].length < 96 ? level[k].length : 96), level[k].text);
                    return refuse(file, level[k].line, length, said);
                }
        }
    } while (w.length > 0);
    return META_OK;
}
