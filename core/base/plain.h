/* SPDX-License-Identifier: BSD-3-Clause */
/** @file plain.h
 *  Numbers as text with a decimal point, whatever locale the program has set: for files that others
 *  read, variables of the environment, and messages. */
#ifndef META_PLAIN_H
#define META_PLAIN_H

#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/** From here to meta_plain_end() this thread writes and reads text in the locale "C".
 *  @return what meta_plain_end() gets */
static inline locale_t meta_plain_begin(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void meta_plain_end(locale_t before)
{
    const locale_t plain = uselocale(before);
    if (plain != before) freelocale(plain);
}

/** snprintf() there. */
__attribute__((format(printf, 3, 4))) static inline int meta_plain_print(char *text, size_t room,
                                                                         const char *format, ...)
{
    va_list arguments;
    const locale_t before = meta_plain_begin();
    va_start(arguments, format);
    const int length = vsnprintf(text, room, format, arguments);
    va_end(arguments);
    meta_plain_end(before);
    return length;
}

/** Whether @p text is a number and nothing more, in decimal digits. */
static inline bool meta_plain_number(const char *text, double *number)
{
    char *end;
    const locale_t before = meta_plain_begin();
    const bool decimal = (*text >= '0' && *text <= '9') || *text == '.';
    *number = strtod(text, &end);
    meta_plain_end(before);
    for (const char *c = text; *c; ++c)
        if (*c == 'x' || *c == 'X') return false;
    return decimal && end != text && *end == '\0';
}

#endif
