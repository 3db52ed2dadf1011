/* SPDX-License-Identifier: BSD-3-Clause */
/** @file fuzz_rank_map.c
 *  META_RANK_MAP with arbitrary text, and META_MODE as its fallback: an error names the
 *  variable, or each rank gets the device that an independent parser, written from the
 *  documentation, expects. The text that this parser prints gives the same result. */
/* TEST: labels=core,fuzz */
#include "fuzz.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meta.h"

enum { RANKS = 6, ENTRIES = 256, NAME = 31 };

typedef struct entry {
    int first, last, index; /* index -1: not given */
    char name[NAME + 1];
} entry;

/* ------------------------------------------------------------------ the oracle */

/* A whole number of digits that an int can hold; false if there is none. */
static bool whole(const char **at, int *value)
{
    long long sum = 0;
    if (**at < '0' || **at > '9') return false;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        sum = sum * 10 + (**at - '0');
        if (sum > INT_MAX) return false;
    }
    *value = (int)sum;
    return true;
}

static bool is_blank(char c)
{
    return c != '\0' && strchr(" \t\n\v\f\r", c) != NULL;
}

static void skip_blanks(const char **at)
{
    while (is_blank(**at)) ++*at;
}

/* RANKS:MODE or RANKS:MODE:N, up to a comma or the end, with blanks around it. */
static bool read_entry(const char **at, entry *e)
{
    size_t length = 0;
    char name[4096];
    *e = (entry){.first = 0, .last = INT_MAX, .index = -1};
    skip_blanks(at);
    if (**at == '*') ++*at;
    else {
        if (!whole(at, &e->first)) return false;
        e->last = e->first;
        if (**at == '-' && (++*at, !whole(at, &e->last) || e->last < e->first)) return false;
    }
    if (*(*at)++ != ':') return false;
    for (; **at != '\0' && **at != ',' && **at != ':'; ++*at) name[length++] = **at;
    while (**at != ':' && length > 0 && is_blank(name[length - 1])) --length;
    if (length == 0 || length > NAME || memchr(name, '/', length) != NULL) return false;
    memcpy(e->name, name, length);
    if (**at != ':') return true;
    ++*at;
    if (!whole(at, &e->index)) return false;
    skip_blanks(at);
    return (**at == ',' || **at == '\0') && strcmp(e->name, "spread") != 0 &&
           strcmp(e->name, "auto") != 0;
}

/* How many entries; -1 if it is no map. */
static int read_map(const char *text, entry *entries)
{
    int count = 0;
    for (;; ++text) {
        if (count == ENTRIES || !read_entry(&text, &entries[count++])) return -1;
        if (*text == '\0') return count;
    }
}

static const entry *entry_of(const entry *entries, int count, int rank)
{
    for (int k = 0; k < count; ++k)
        if (rank >= entries[k].first && rank <= entries[k].last) return &entries[k];
    return NULL;
}

static void print_map(char *text, size_t room, const entry *entries, int count)
{
    size_t used = 0;
    *text = '\0';
    for (int k = 0; k < count; ++k) {
        const entry *e = &entries[k];
        used += (size_t)snprintf(text + used, room - used, "%s%d-%d:%s", k > 0 ? "," : "", e->first,
                                 e->last, e->name);
        if (e->index >= 0) used += (size_t)snprintf(text + used, room - used, ":%d", e->index);
    }
}

/* ------------------------------------------------------------------ the library's answer */

typedef struct answer {
    meta_err err;
    meta_mode mode;
    int index;
} answer;

static answer ask(int rank)
{
    answer a = {META_OK, -1, -1};
    a.err = meta_rank_device(rank, RANKS, rank, RANKS, &a.mode, &a.index, NULL);
    return a;
}

static void check_message(const char *what)
{
    const char *message = meta_last_error();
    if (strstr(message, "META_RANK_MAP") == NULL)
        fuzz_fail("%s, and the message does not name META_RANK_MAP: %s", what, message);
}

/* For ranks that the map names: the device is the one it names, or the message names it. */
static void check_answer(const answer *a, const entry *e)
{
    static const char *const kinds[] = {"openmp", "auto"};
    if (e == NULL) return;
    if (a->err == META_OK) {
        if (strcmp(e->name, kinds[0]) == 0 && (a->mode != META_OPENMP || a->index != 0))
            fuzz_fail("openmp was asked for and mode %d came", a->mode);
        if (strcmp(e->name, kinds[1]) == 0 && (a->mode != META_AUTO || a->index != 0))
            fuzz_fail("auto was asked for and mode %d came", a->mode);
        return;
    }
    check_message("a device was refused");
    if (a->err != META_ERR_NO_DEVICE) fuzz_fail("%s gives %s", e->name, meta_strerror(a->err));
    if (strstr(meta_last_error(), e->name) == NULL)
        fuzz_fail("the message does not name %s: %s", e->name, meta_last_error());
}

/* Whether the library starts under the map; it takes the map of rank 0 to be that of all. */
static void ask_all(const char *map, answer *answers, const entry *entries, int count)
{
    setenv("META_RANK_MAP", map, 1);
    const meta_err started = meta_init();
    if ((started == META_OK) != (count >= 0))
        fuzz_fail("meta_init() gives %s for the map \"%s\", which is %s", meta_strerror(started),
                  map, count >= 0 ? "right" : "wrong");
    for (int r = 0; r < RANKS; ++r) answers[r] = (answer){started, -1, -1};
    if (started != META_OK) {
        if (started != META_ERR_ENVIRONMENT) fuzz_fail("a wrong map is %s", meta_strerror(started));
        check_message("a map was refused");
        return;
    }
    for (int r = 0; r < RANKS; ++r) {
        answers[r] = ask(r);
        check_answer(&answers[r], entry_of(entries, count, r));
    }
    meta_finalize();
}

/* ------------------------------------------------------------------ the target */

static const char *const seeds[] = {
    "0:openmp",
    "*:openmp",
    "0:openmp,1-3:openmp:0,*:spread",
    "0-5:openmp,2:cuda:1",
    "5:openmp,*:nobody",
    "1-2147483647:x:9",
    "0:spread,*:openmp:0",
    "3:auto,*:openmp",
};
static const char *const words[] = {"openmp",
                                    "spread",
                                    "auto",
                                    ":",
                                    ",",
                                    "*",
                                    "-",
                                    "0",
                                    "1",
                                    "5",
                                    "2147483647",
                                    "2147483648",
                                    "99999999999999999999",
                                    "/",
                                    "..",
                                    " ",
                                    ":0",
                                    "0-5:",
                                    "*:openmp",
                                    NULL};

static size_t seed(int n, uint8_t *data, size_t room)
{
    const size_t length = strlen(seeds[n]);
    memcpy(data, seeds[n], length < room ? length : room);
    return length;
}

const fuzz_target fuzz_here = {"rank_map", sizeof seeds / sizeof *seeds, seed, NULL, words};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    unsetenv("META_MODE");
    setenv("META_LOG", "off", 1);
    setenv("META_BACKEND_PATH", fuzz_built(".libs/libmeta"), 1);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static entry entries[ENTRIES];
    static char map[4096], printed[ENTRIES * 64];
    answer first[RANKS], second[RANKS];
    const size_t length = size < sizeof map ? size : sizeof map - 1;
    memcpy(map, data, length);
    map[length] = '\0';
    const char *first_word = map;
    skip_blanks(&first_word);
    if (*first_word == '\0') return 0; /* as good as not set */
    const int count = read_map(map, entries);
    ask_all(map, first, entries, count);
    if (count >= 0) {
        print_map(printed, sizeof printed, entries, count);
        ask_all(printed, second, entries, count);
        for (int r = 0; r < RANKS; ++r)
            if (first[r].err != second[r].err || first[r].mode != second[r].mode ||
                first[r].index != second[r].index)
                fuzz_fail("\"%s\" and \"%s\" differ for rank %d", map, printed, r);
        fuzz_accept();
    }
    fuzz_check_heap();
    return 0;
}
