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

enum { BACKEND = 1000, SIZE, FIELDS, TYPE, ROUNDS, JSON, HELP, VERSION, GROUP = 1 };
enum { MOST_ROUNDS = 10000 };

static const struct option list[] = {
    {"backend", required_argument, NULL, BACKEND},
    {"size", required_argument, NULL, SIZE},
    {"fields", required_argument, NULL, FIELDS},
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

/* A list of whole numbers with commas between them. */
typedef struct number_list {
    const char *option;
    int64_t *values;
    int *count, room;
    int64_t most;
} number_list;

static bool add_number(const number_list *n, const char *text, const char *all)
{
    int64_t value;
    if (!number_parse(text, &value) || value < 1 || value > n->most) {
        note("%s %s: must be whole numbers from 1 to %" PRId64 " with commas between them",
             n->option, all, n->most);
        return false;
    }
    for (int k = 0; k < *n->count; ++k)
        if (n->values[k] == value) {
            note("%s %s: %" PRId64 " is there twice", n->option, all, value);
            return false;
        }
    if (*n->count == n->room) {
        note("%s %s: more than %d numbers", n->option, all, n->room);
        return false;
    }
    n->values[(*n->count)++] = value;
    return true;
}

static bool set_numbers(const number_list *n, const char *text)
{
    *n->count = 0;
    for (const char *at = text;; ++at) {
        char one[24];
        const size_t length = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : 0, at);
        if (!add_number(n, one, text)) return false;
        at += length;
        if (*at == '\0') return true;
    }
}

static bool set_sizes(options *o, const char *text)
{
    const number_list n = {"--size", o->sizes, &o->size_count, MOST_SIZES, MOST_SIZE};
    return set_numbers(&n, text);
}

static bool set_fields(options *o, const char *text)
{
    const number_list n = {"--fields", o->fields, &o->fields_count, MOST_COUNTS, MOST_FIELDS};
    return set_numbers(&n, text);
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
    case FIELDS:
        return set_fields(o, value);
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
    *o = (options){
        .wanted = wanted, .fields = {1}, .fields_count = 1, .type = NUMBER_F64, .rounds = 9};
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
