/* SPDX-License-Identifier: BSD-3-Clause */
/** @file env.c
 *  The META_* environment variables: the table, their values, and a warning for unknown names. */
#include "base/base.h"

#include "base/secure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

extern char **environ;

typedef struct variable {
    const char *name, *values, *initial, *description;
} variable;

static const variable table[] = {
#define META_VARIABLE(name, values, initial, description) {#name, values, initial, description},
#include "base/env.def"
#undef META_VARIABLE
};
enum { VARIABLES = sizeof table / sizeof *table };

bool meta_is_secure(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *meta_variable(const char *name)
{
    const char *value = meta_is_secure() ? NULL : getenv(name);
    if (!value || !*value) return NULL;
    for (const variable *v = table; v < table + VARIABLES; ++v)
        if (strcmp(v->name, name) == 0) return meta_value_of(value, v->values);
    return value;
}

meta_err meta_variable_switch(const char *name, bool *on)
{
    static const char *const words[] = {"off", "0", "on", "1"};
    const char *value = meta_variable(name);
    int k = 0;
    while (value && k < 4 && strcmp(value, words[k]) != 0) ++k;
    if (k == 4) return meta_fail(META_ERR_ENVIRONMENT, "%s=%s: give on or off", name, value);
    *on = k >= 2;
    return META_OK;
}

meta_err meta_variable_count(int *count)
{
    meta_call_name(__func__);
    META_NEED(count);
    *count = VARIABLES;
    return META_OK;
}

meta_err meta_variable_info(int index, meta_variable_desc *desc)
{
    meta_call_name(__func__);
    META_NEED_DESC(desc, value, META_VARIABLE_DESC_INIT);
    if (index < 0 || index >= VARIABLES)
        return meta_fail(META_ERR_ARGUMENT, "argument 'index' is %d, there are %d variables", index,
                         VARIABLES);
    const meta_variable_desc found = {.name = table[index].name,
                                      .values = table[index].values,
                                      .initial = table[index].initial,
                                      .description = table[index].description,
                                      .value = meta_variable(table[index].name)};
    meta_sized_put(desc, &found, sizeof found);
    return META_OK;
}

/* Levenshtein distance between two names, truncated to LONGEST characters. */
static size_t distance(const char *a, size_t length, const char *b)
{
    enum { LONGEST = 64 };
    size_t row[LONGEST + 1];
    const size_t width = strlen(b) < LONGEST ? strlen(b) : LONGEST;
    for (size_t j = 0; j <= width; ++j) row[j] = j;
    for (size_t i = 0; i < length; ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < width; ++j) {
            const size_t replaced = diagonal + (a[i] != b[j]);
            const size_t changed = (row[j] < row[j + 1] ? row[j] : row[j + 1]) + 1;
            diagonal = row[j + 1];
            row[j + 1] = replaced < changed ? replaced : changed;
        }
    }
    return row[width];
}

static void warn_if_unknown(const char *entry)
{
    const size_t length = strcspn(entry, "=");
    const variable *nearest = table;
    size_t least = (size_t)-1;
    /* META_TEST_* belong to the test suite. */
    if (strncmp(entry, "META_", 5) != 0 || strncmp(entry, "META_TEST_", 10) == 0) return;
    for (const variable *v = table; v < table + VARIABLES; ++v) {
        const size_t d = distance(entry, length, v->name);
        if (d < least) least = d, nearest = v;
    }
    if (least > 0)
        meta_log(META_LOG_WARN,
                 "the environment variable %.*s is not one of libmeta's; the nearest is %s"
                 " (meta-info --env lists them)",
                 (int)length, entry, nearest->name);
}

/* Whether @p value is of the form that one alternative of a variable's values has. */
static bool is_like(const char *value, const char *form, size_t length)
{
    char *end;
    if (length == 5 && strncmp(form, "bytes", length) == 0) {
        errno = 0;
        const long long number = strtoll(value, &end, 10);
        return errno == 0 && end != value && !*end && number >= 0;
    }
    return strlen(value) == length && strncmp(value, form, length) == 0;
}

/* Back ends read these when they are opened, which may be late. */
static meta_err check_value_for_back_ends(const variable *v)
{
    static const char *const names[] = {"META_CPU", "META_STREAM_BYTES", "META_GPU_POOL",
                                        "META_TEST_OPENCL_DOUBLE", "META_TEST_OPENCL_ATOMICS"};
    const char *value = meta_variable(v->name);
    bool theirs = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        theirs |= strcmp(v->name, names[k]) == 0;
    if (!value || !theirs) return META_OK;
    for (const char *form = v->values; *form; form += strspn(form, " |")) {
        const size_t length = strcspn(form, " |");
        if (is_like(value, form, length)) return META_OK;
        form += length;
    }
    return meta_fail(META_ERR_ENVIRONMENT, "%s=%s: give %s", v->name, value, v->values);
}

meta_err meta_env_read(void)
{
    static const char *const words[] = {"off", "warn", "info", "debug"};
    const char *level = meta_variable("META_LOG");
    meta_log_file(meta_variable("META_LOG_FILE"));
    meta_log_set(META_LOG_WARN);
    if (level) {
        int k = 0;
        while (k < 4 && strcmp(level, words[k]) != 0) ++k;
        if (k == 4)
            return meta_fail(META_ERR_ENVIRONMENT, "META_LOG=%s: give off, warn, info or debug",
                             level);
        meta_log_set((meta_log_level)k);
    }
    for (char **entry = environ; !meta_is_secure() && entry && *entry; ++entry)
        warn_if_unknown(*entry);
    for (const variable *v = table; v < table + VARIABLES; ++v)
        META_TRY(check_value_for_back_ends(v));
    return META_OK;
}
