/* SPDX-License-Identifier: BSD-3-Clause */
/** @file words.h
 *  The words of a kernel file. */
#ifndef META_KERNELS_WORDS_H
#define META_KERNELS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/** A place in a text, and the word or other character that was read last. Begin with
 *  {.at = text, .line = 1}. */
typedef struct meta_words {
    const char *at;
    int line;
    const char *word;
    size_t length; /**< 0: the text has ended */
    int word_line;
} meta_words;

/** Read the next word, or other character, that is no comment, string or directive. */
void meta_words_next(meta_words *w);
/** Whether it is @p text. */
bool meta_words_is(const meta_words *w, const char *text);

#endif
