/* SPDX-License-Identifier: BSD-3-Clause */
/** @file value.c
 *  A variable's value as those who read it expect it: without blanks around it and its entries,
 * words in the letters of env.def, a size with a unit as a number of bytes. */
#include "base/base.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a value became stays until the process ends, since readers keep its address. */
typedef struct kept {
    struct kept *next;
    char text[];
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept *all;

static const char *keep(const char *text, size_t length)
{
    pthread_mutex_lock(&lock);
    kept *k = all;
    while (k && (strlen(k->text) != length || memcmp(k->text, text, length) != 0)) k = k->next;
    if (!k && (k = malloc(sizeof *k + length + 1))) {
        memcpy(k->text, text, length);
        k->text[length] = '\0';
        k->next = all;
        all = k;
    }
    pthread_mutex_unlock(&lock);
    return k ? k->text : NULL;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool meta_same_word(const char *a, const char *b, size_t length)
{
    size_t k = 0;
    while (k < length && small(a[k]) == small(b[k])) ++k;
    return k == length;
}

static void trim(const char **text, size_t *length)
{
    while (*length > 0 && is_blank(**text)) ++*text, --*length;
    while (*length > 0 && is_blank((*text)[*length - 1])) --*length;
}

/* What stands before the colon of an entry in the letters of @p forms, if it is among them. */
static void spell(char *entry, size_t length, const char *forms)
{
    const char *colon = memchr(entry, ':', length);
    const size_t letters = colon ? (size_t)(colon - entry) : length;
    for (const char *form = forms; *form; form += strspn(form, " |")) {
        if (strcspn(form, " |:[") == letters && meta_same_word(form, entry, letters)) {
            memcpy(entry, form, letters);
            return;
        }
        form += strcspn(form, " |");
    }
}

/* Each entry of @p text as it should be, to @p to, which has room for them. */
static size_t spell_entries(char *to, const char *text, size_t length, const char *forms)
{
    const bool is_list = strchr(forms, ',') != NULL;
    size_t used = 0;
    for (const char *end = text + length;; ++text) {
        const char *comma = is_list ? memchr(text, ',', (size_t)(end - text)) : NULL;
        const char *entry = text;
        size_t letters = (size_t)((comma ? comma : end) - text);
        text += letters;
        trim(&entry, &letters);
        memcpy(to + used, entry, letters);
        spell(to + used, letters, forms);
        used += letters;
        if (!comma) return used;
        to[used++] = ',';
    }
}

/* "4 GiB", "4G" and "4gb" are 4294967296 bytes; false: it is no whole number and a unit. */
static bool read_size(const char *text, size_t length, uint64_t *bytes)
{
    static const char units[] = "kmgt";
    const char *end = text + length, *unit;
    unsigned shift = 0;
    for (*bytes = 0; text < end && *text >= '0' && *text <= '9'; ++text) {
        const unsigned digit = (unsigned)(*text - '0');
        if (*bytes > (UINT64_MAX - digit) / 10) return false;
        *bytes = 10 * *bytes + digit;
    }
    if (text == end || text == end - length) return false;
    while (is_blank(*text)) ++text;
    if ((unit = memchr(units, small(*text), sizeof units - 1))) {
        shift = 10 * (unsigned)(unit - units + 1);
        if (++text < end - 1 && small(*text) == 'i') ++text;
    }
    if (text < end && small(*text) == 'b') ++text;
    if (text < end || *bytes > UINT64_MAX >> shift) return false;
    *bytes <<= shift;
    return true;
}

/* Forms of values in which blanks and capital letters count. */
static bool is_path(const char *forms)
{
    static const char *const names[] = {"DIR", "FILE", "COMMAND"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (strncmp(forms, names[k], strlen(names[k])) == 0) return true;
    return false;
}

const char *meta_value_of(const char *value, const char *forms)
{
    const char *text = value, *result = NULL;
    size_t length = strlen(value);
    uint64_t bytes;
    char digits[24];
    trim(&text, &length);
    if (length == 0) return NULL;
    if (strstr(forms, "bytes") && read_size(text, length, &bytes)) {
        result = keep(digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, bytes));
    } else if (is_path(forms)) {
        const bool is_off =
            length == 3 && meta_same_word(text, "off", length) && strstr(forms, "off");
        return is_off ? "off" : value;
    } else {
        char *spelt = malloc(length + 1);
        if (spelt) result = keep(spelt, spell_entries(spelt, text, length, forms));
        free(spelt);
    }
    return result ? result : value;
}
