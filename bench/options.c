/* SPDX-License-Identifier: BSD-3-Clause */
/** @file options.c
 *  The command line of meta-bench. */
#include "config.h"

#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "group.h"
#include "note.h"

enum { BACKEND = 1000, SIZE, TYPE, ROUNDS, JSON, HELP, VERSION, GROUP = 1 };
enum { MOST_ROUNDS = 10000 };

static const struct option list[] = {
    {"backend", required_argument, NULL, BACKEND},
    {"size", required_argument, NULL, SIZE},
    {"type", required_argument, NULL, TYPE},
    {"rounds", required_argument, NULL, ROUNDS},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {NULL, 0, NULL, 0},
};

static void list_groups(char *text, size_t room)
{
    size_t used = 0;
    for (int k = 0; k < group_count && used < room; ++k)
        used += (size_t)snprintf(text + used, room - used, "%s%s",
                                 k == 0                 ? ""
                                 : k == group_count - 1 ? " and "
                                                        : ", ",
                                 groups[k].name);
}

static bool set_group(options *o, const char *name)
{
    char all[256];
    for (int k = 0; k < group_count; ++k)
        if (strcmp(groups[k].name, name) == 0) {
            o->wanted[k] = true;
            return true;
        }
    list_groups(all, sizeof all);
    note("%s: is no group of measurements; they are %s (--help explains them)", name, all);
    return false;
}

static bool add_size(options *o, const char *text, const char *all)
{
    int64_t size;
    if (!number_parse(text, &size) || size < 1 || size > MOST_SIZE) {
        note("--size %s: must be whole numbers from 1 to %d with commas between them", all,
             MOST_SIZE);
        return false;
    }
    for (int k = 0; k < o->size_count; ++k)
        if (o->sizes[k] == size) {
            note("--size %s: %" PRId64 " is there twice", all, size);
            return false;
        }
    if (o->size_count == MOST_SIZES) {
        note("--size %s: more than %d sizes", all, MOST_SIZES);
        return false;
    }
    o->sizes[o->size_count++] = size;
    return true;
}

static bool set_sizes(options *o, const char *text)
{
    o->size_count = 0;
    for (const char *at = text;; ++at) {
        char one[24];
        const size_t length = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : 0, at);
        if (!add_size(o, one, text)) return false;
        at += length;
        if (*at == '\0') return true;
    }
}

static bool set_type(options *o, const char *name)
{
    if (number_find(name, NUMBER_COUNT, &o->type)) return true;
    note("--type %s: must be f64, f32, i64, u64, i32 or u32", name);
    return false;
}

static bool set_rounds(options *o, const char *text)
{
    int64_t rounds;
    if (!number_parse(text, &rounds) || rounds < 1 || rounds > MOST_ROUNDS) {
        note("--rounds %s: must be a whole number from 1 to %d", text, MOST_ROUNDS);
        return false;
    }
    o->rounds = (int)rounds;
    return true;
}

static bool set(options *o, int code, const char *value)
{
    switch (code) {
    case GROUP:
        return set_group(o, value);
    case BACKEND:
        o->backend = value;
        return true;
    case SIZE:
        return set_sizes(o, value);
    case TYPE:
        return set_type(o, value);
    case ROUNDS:
        return set_rounds(o, value);
    default:
        o->json = true;
        return true;
    }
}

/* getopt_long() accepts unambiguous prefixes of option names, but not misspellings. */
static bool is_abbreviated(const char *argument, int code)
{
    return code >= BACKEND && strncmp(argument, "--", 2) == 0 &&
           strcspn(argument + 2, "=") != strlen(list[code - BACKEND].name);
}

options_result options_parse(options *o, bool *wanted, int argc, char **argv)
{
    *o = (options){.wanted = wanted, .type = NUMBER_F64, .rounds = 9};
    opterr = 0;
    for (;;) {
        const int first = optind;
        /* The leading - returns groups in any position as arguments of an option GROUP. */
        const int code = getopt_long(argc, argv, "-:", list, NULL);
        if (code == -1) break;
        if (code == ':') {
            note("%s: its value is missing", argv[first]);
            return OPTIONS_WRONG;
        }
        if (code == '?' || is_abbreviated(argv[first], code)) {
            note("unknown option or needless value: %s (--help lists the options)", argv[first]);
            return OPTIONS_WRONG;
        }
        if (code == HELP) return OPTIONS_HELP;
        if (code == VERSION) return OPTIONS_VERSION;
        if (!set(o, code, optarg)) return OPTIONS_WRONG;
    }
    for (int k = optind; k < argc; ++k)
        if (!set_group(o, argv[k])) return OPTIONS_WRONG;
    return OPTIONS_RUN;
}
