/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ptx_text.h
 *  The tokens of PTX text, read one at a time. The first error is kept and ends the text: after it
 *  every token is the end, so that a parser's loops end by themselves. */
#ifndef META_TEST_PTX_TEXT_H
#define META_TEST_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ptx_kind { PTX_END, PTX_WORD, PTX_NUMBER, PTX_STRING, PTX_MARK } ptx_kind;

/** How a number is written. */
typedef enum ptx_literal { PTX_INTEGER, PTX_BITS_OF_F32, PTX_BITS_OF_F64 } ptx_literal;

typedef struct ptx_token {
    ptx_kind kind;
    const char *text;
    size_t length;
    int line;
} ptx_token;

typedef struct ptx_error {
    bool failed, unsupported; /**< the latter: the text may be valid */
    char text[512];
} ptx_error;

typedef struct ptx_reader {
    const char *at;
    int line;
    ptx_token token; /**< the current one */
    ptx_error *error;
} ptx_reader;

/** Start at @p text, which is at @p line, and read the first token. */
void ptx_read(ptx_reader *reader, const char *text, int line, ptx_error *error);
void ptx_next(ptx_reader *reader);

bool ptx_token_is(const ptx_token *token, const char *text);
bool ptx_at(const ptx_reader *reader, const char *text);
/** Whether the current token is @p text, which is then passed. */
bool ptx_accept(ptx_reader *reader, const char *text);
/** Pass @p text; an error where something else is there. */
void ptx_expect(ptx_reader *reader, const char *text);
/** Pass a word or a number and return it. */
ptx_token ptx_word(ptx_reader *reader);
uint64_t ptx_number(ptx_reader *reader, ptx_literal *literal);
/** Whether the current word is followed by a colon, as a label is. */
bool ptx_at_label(const ptx_reader *reader);
/** Pass a group in brackets or braces, at whose opening one the reader is. */
void ptx_skip_group(ptx_reader *reader, char open, char close);
/** Pass the rest of the line. */
void ptx_skip_line(ptx_reader *reader);

/** An error at the current token, or at @p token. */
void ptx_bad(ptx_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ptx_bad_at(ptx_reader *reader, const ptx_token *token, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** An error at the current token: what is there is valid, or may be, and not supported. */
void ptx_unsupported(ptx_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
