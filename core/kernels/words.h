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
    bool is_directive; /**< the word is the name of a preprocessor directive, without its # */
} meta_words;

/** Read the next word, or other character, that is no comment, string or directive. */
void meta_words_next(meta_words *w);
/** The same, but stop at a directive, too: at its name. The next call skips the rest of it. */
void meta_words_next_or_directive(meta_words *w);
/** Read the next word, or other character, of the directive at which the last call has stopped.
 *  @return false: it has no more of them */
bool meta_words_next_of_directive(meta_words *w);
/** Read the next word, or other character, also of directives. */
void meta_words_next_everywhere(meta_words *w);
/** Whether the word is @p text. */
bool meta_words_is(const meta_words *w, const char *text);
/** Whether @p text, and no more than a comment behind it, follows a directive's name. */
bool meta_words_directive_has(const meta_words *w, const char *text);

#endif
