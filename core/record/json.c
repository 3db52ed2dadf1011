/* SPDX-License-Identifier: BSD-3-Clause */
/** @file json.c
 *  Text in JSON files. */
#include "record/record.h"

#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 character at @p s; 0 where it is malformed. */
static size_t character(const unsigned char *s)
{
    const size_t length = s[0] < 0x80                    ? 1
                          : s[0] >= 0xc2 && s[0] <= 0xdf ? 2
                          : s[0] >= 0xe0 && s[0] <= 0xef ? 3
                          : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                                         : 0;
    for (size_t k = 1; k < length; ++k)
        if ((s[k] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return length;
}

const char *meta_json_quote(const char *from, char *to, size_t room)
{
    size_t at = 0;
    for (const unsigned char *s = (const unsigned char *)from; *s && at + 7 < room;) {
        const size_t length = character(s);
        if (length == 0 || *s < 0x20 || *s == 0x7f) {
            at += (size_t)snprintf(to + at, room - at, "\\u%04x", length == 0 ? 0xfffdu : *s);
            ++s;
            continue;
        }
        if (*s == '"' || *s == '\\') to[at++] = '\\';
        memcpy(to + at, s, length);
        at += length;
        s += length;
    }
    to[at] = '\0';
    return to;
}
