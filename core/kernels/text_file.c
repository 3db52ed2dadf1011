/* SPDX-License-Identifier: BSD-3-Clause */
/** @file text_file.c
 *  The kernel file within the text for a device: as C reads it. Names that the device's language
 * reserves begin with meta_word_ there, and no macro of the file reaches what follows it. */
#include <string.h>

#include "kernels/reserved.h"
#include "kernels/text.h"
#include "kernels/words.h"

bool meta_text_renames(const meta_kernel *kernel, uint32_t form)
{
    static const char *const means_theirs[] = {"__OPENCL", "__CUDA", "__HIP", "__cplusplus"};
    for (size_t k = 0; k < sizeof means_theirs / sizeof *means_theirs; ++k)
        if (strstr(kernel->text, means_theirs[k])) return false;
    return !(form & META_USER_NATIVE);
}

/* What a word of the file begins with in the text, which it does not in the file. */
static const char *own(const meta_text *w, const char *word, size_t length)
{
    return w->renames && meta_is_reserved(word, length) ? "meta_word_" : "";
}

const char *meta_text_own(const meta_text *w, const char *name)
{
    return own(w, name, strlen(name));
}

/* As it is in C, but that compilers of devices need not read more than ASCII. */
static void put_between(FILE *p, const char *from, const char *to)
{
    for (; from < to; ++from) putc((unsigned char)*from < 0x80 ? *from : '?', p);
}

static void put_word(const meta_text *w, const char *word, size_t length)
{
    fprintf(w->p, "%s%.*s", own(w, word, length), (int)length, word);
}

void meta_text_type(const meta_text *w, const char *type)
{
    meta_words words = {.at = type, .line = 1};
    for (meta_words_next(&words); words.length > 0; meta_words_next(&words)) {
        put_word(w, words.word, words.length);
        putc(' ', w->p);
    }
}

/* The library's own macros are in capitals. */
static bool is_in_capitals(const char *name, size_t length)
{
    for (size_t k = 0; k < length; ++k)
        if (name[k] >= 'a' && name[k] <= 'z') return false;
    return true;
}

/* Forget macros of the file, of which the text behind it may have variables of the same name. */
static void put_undefined(const meta_text *w, const char *text)
{
    meta_words words = {.at = text, .line = 1};
    for (meta_words_next_or_directive(&words); words.length > 0;
         meta_words_next_or_directive(&words)) {
        if (!words.is_directive || !meta_words_is(&words, "define")) continue;
        if (!meta_words_next_of_directive(&words)) continue;
        if (is_in_capitals(words.word, words.length)) continue;
        fprintf(w->p, "#undef ");
        put_word(w, words.word, words.length);
        putc('\n', w->p);
    }
}

/* A word, and what stands between it and the one before, which ends at @p done.
 * @return where it ends */
static const char *put_next(const meta_text *w, const meta_words *words, const char *done)
{
    put_between(w->p, done, words->word);
    put_word(w, words->word, words->length);
    return words->word + words->length;
}

/* What the file includes is ahead of it already. */
static void put_words(const meta_text *w, const char *text)
{
    meta_words words = {.at = text, .line = 1};
    const char *done = text;
    for (;;) {
        meta_words_next_or_directive(&words);
        if (words.length == 0) break;
        if (words.is_directive && meta_words_is(&words, "include")) {
            put_between(w->p, done, words.word);
            done = words.word + strcspn(words.word, "\n");
            continue;
        }
        done = put_next(w, &words, done);
        if (!words.is_directive) continue;
        while (meta_words_next_of_directive(&words)) done = put_next(w, &words, done);
    }
    put_between(w->p, done, done + strlen(done));
}

void meta_text_file(const meta_text *w)
{
    static const char mark[] = "\xef\xbb\xbf"; /* begins files alone */
    const meta_kernel *kernel = w->state->kernel;
    const char *text = kernel->text + (strncmp(kernel->text, mark, 3) == 0 ? 3 : 0);
    const char *folder = strrchr(kernel->file, '/'); /* where it was built is not part of a text */
    fprintf(w->p, "#line 1 \"%s\"\n", folder ? folder + 1 : kernel->file);
    put_words(w, text);
    putc('\n', w->p);
    put_undefined(w, text);
}
