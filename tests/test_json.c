/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_json.c
 *  Text in JSON files: every character of Unicode stays as it is, and what is none is replaced. */
/* TEST: labels=core */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "record/record.h"

/* @return how many bytes the character takes */
static size_t encode(uint32_t code, unsigned char *to)
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t k = length; k-- > 1; code >>= 6) to[k] = (unsigned char)(0x80 | (code & 0x3f));
    to[0] = (unsigned char)(first[length] | code);
    to[length] = '\0';
    return length;
}

static bool is_character(uint32_t code)
{
    return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

static void every_character_stays_as_it_is(void)
{
    long wrong = 0;
    for (uint32_t code = 0x20; code <= 0x10ffff; ++code) {
        unsigned char text[8];
        char quoted[64], expected[16];
        if (!is_character(code) || code == 0x7f) continue;
        encode(code, text);
        snprintf(expected, sizeof expected, "%s%s", code == '"' || code == '\\' ? "\\" : "", text);
        if (strcmp(meta_json_quote((char *)text, quoted, sizeof quoted), expected) != 0 && !wrong++)
            FAIL("U+%04X became %s", (unsigned)code, quoted);
    }
    CHECK_INT(wrong, 0);
}

static void control_characters_are_escaped(void)
{
    char quoted[64];
    CHECK_STRING(meta_json_quote("a\tb\x7f", quoted, sizeof quoted), "a\\u0009b\\u007f");
}

/* Whether the bytes begin with the encoding of a character, by encoding what they would be. */
static bool begins_with_character(const unsigned char *s, size_t *length)
{
    *length = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t code = *length == 1 ? s[0] : s[0] & (0x7fu >> *length);
    unsigned char again[8];
    if (s[0] >= 0x80 && s[0] < 0xc0) return false;
    for (size_t k = 1; k < *length; ++k) code = code << 6 | (s[k] & 0x3f);
    if (!is_character(code)) return false;
    return encode(code, again) == *length && memcmp(again, s, *length) == 0;
}

/* The oracle: characters one after the other; a byte that begins none is replaced. */
static void expect(const unsigned char *s, char *to)
{
    size_t length;
    *to = '\0';
    while (*s) {
        const bool is_one = begins_with_character(s, &length);
        if (!is_one) length = 1;
        to += sprintf(to, "%.*s", is_one ? (int)length : 6, is_one ? (const char *)s : "\\ufffd");
        s += length;
    }
}

/* All sequences of bytes next to a bound. */
static void what_is_no_character_is_replaced(void)
{
    static const unsigned char bound[] = {0x41, 0x7e, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                          0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
                                          0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
    enum { BOUNDS = sizeof bound };
    long wrong = 0;
    for (long number = 0; number < (long)BOUNDS * BOUNDS * BOUNDS * BOUNDS; ++number) {
        unsigned char text[8] = {0}; /* the oracle looks three bytes ahead */
        char quoted[64], expected[64];
        long rest = number;
        for (int k = 0; k < 4; ++k, rest /= BOUNDS) text[k] = bound[rest % BOUNDS];
        expect(text, expected);
        if (strcmp(meta_json_quote((char *)text, quoted, sizeof quoted), expected) != 0 && !wrong++)
            FAIL("bytes %02x %02x %02x %02x became %s instead of %s", text[0], text[1], text[2],
                 text[3], quoted, expected);
    }
    CHECK_INT(wrong, 0);
}

/* Cut off between characters, never within one or within what stands for one. */
static void a_text_without_room_is_cut_between_characters(void)
{
    static const char text[] = "a\xf4\x8f\xbf\xbf\"\x01";
    static const char *const whole[] = {"", "a", "a\xf4\x8f\xbf\xbf", "a\xf4\x8f\xbf\xbf\\\"",
                                        "a\xf4\x8f\xbf\xbf\\\"\\u0001"};
    for (size_t room = 1; room < 24; ++room) {
        char quoted[32];
        bool found = false;
        memset(quoted, 'x', sizeof quoted);
        meta_json_quote(text, quoted, room);
        test_case("room for %zu", room);
        for (size_t k = 0; k < sizeof whole / sizeof *whole; ++k)
            found |= strcmp(quoted, whole[k]) == 0;
        CHECK(found);
        CHECK(strlen(quoted) < room && quoted[room] == 'x');
    }
}

TEST_MAIN(PROMISE(every_character_stays_as_it_is), PROMISE(control_characters_are_escaped),
          PROMISE(what_is_no_character_is_replaced),
          PROMISE(a_text_without_room_is_cut_between_characters))
