/* SPDX-License-Identifier: BSD-3-Clause */
/** @file test_values.c
 *  Values of META_* variables as people and job scripts write them: blanks, capital letters, units.
 *  meta_variable_info() tells what the library understands. */
/* TEST: labels=core smoke=yes */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What variable @p k means by @p value; NULL: it is as if it were not set. */
static const char *understood(int k, const char *value)
{
    meta_variable_desc desc = META_VARIABLE_DESC_INIT;
    CHECK_OK(meta_variable_info(k, &desc));
    char *before = desc.value ? strdup(desc.value) : NULL;
    setenv(desc.name, value, 1);
    CHECK_OK(meta_variable_info(k, &desc));
    if (before) setenv(desc.name, before, 1);
    else unsetenv(desc.name);
    free(before);
    return desc.value;
}

static int variable_called(const char *name)
{
    int count = 0, found = -1;
    CHECK_OK(meta_variable_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_variable_desc desc = META_VARIABLE_DESC_INIT;
        CHECK_OK(meta_variable_info(k, &desc));
        if (strcmp(desc.name, name) == 0) found = k;
    }
    CHECK(found >= 0);
    return found;
}

static void check_value(const char *name, const char *given, const char *meant)
{
    const char *value = understood(variable_called(name), given);
    test_case("%s='%s'", name, given);
    if (CHECK(value != NULL)) CHECK_STRING(value, meant);
}

/* Each word that the table lists, of each variable. */
static void words_have_blanks_around_them_and_capital_letters(void)
{
    int count = 0, words = 0;
    CHECK_OK(meta_variable_count(&count));
    for (int k = 0; k < count; ++k) {
        meta_variable_desc desc = META_VARIABLE_DESC_INIT;
        CHECK_OK(meta_variable_info(k, &desc));
        for (const char *form = desc.values; *form; form += strspn(form, " |")) {
            char word[32] = "", given[64];
            const size_t length = strcspn(form, " |");
            if (length < sizeof word) memcpy(word, form, length);
            form += length;
            if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz")] || !*word) continue;
            if (strncmp(desc.values, "DIR", 3) == 0 && strcmp(word, "off") != 0) continue;
            snprintf(given, sizeof given, "\t %s \r\n", word);
            for (char *c = given; *c; ++c)
                if ((c - given) % 2 == 0 && *c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
            const char *value = understood(k, given);
            test_case("%s='%s'", desc.name, given);
            if (CHECK(value != NULL)) CHECK_STRING(value, word);
            ++words;
        }
    }
    CHECK(words > 40);
}

static void sizes_have_units(void)
{
    static const struct {
        const char *given;
        uint64_t bytes;
    } sizes[] = {{"0", 0},
                 {" 4096 ", 4096},
                 {"65536b", 65536},
                 {"64K", 65536},
                 {"64 k", 65536},
                 {"64kB", 65536},
                 {"64 KiB", 65536},
                 {"3m", 3u << 20},
                 {"3MiB", 3u << 20},
                 {"2G", UINT64_C(2) << 30},
                 {"1tib", UINT64_C(1) << 40},
                 {"18446744073709551615", UINT64_MAX},
                 {"16777215T", UINT64_C(16777215) << 40}};
    static const char *const wrong[] = {"1.5G",
                                        "1e9",
                                        "-1",
                                        "+1K",
                                        "0x10",
                                        "1KK",
                                        "1 Ki",
                                        "1iB",
                                        "K",
                                        "16777216T",
                                        "18446744073709551616",
                                        "1G x",
                                        "1 000"};
    static const char *const names[] = {"META_POOL", "META_GPU_POOL", "META_STREAM_BYTES",
                                        "META_PIPELINE", "META_TEST_CHUNK"};
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        char meant[32];
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
            snprintf(meant, sizeof meant, "%" PRIu64, sizes[k].bytes);
            check_value(names[n], sizes[k].given, meant);
        }
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k)
            check_value(names[n], wrong[k], wrong[k]);
    }
}

static void entries_of_lists_have_blanks_around_them(void)
{
    check_value("META_PROFILE", "Summary , JSON:My File, trace:t", "summary,json:My File,trace:t");
    check_value("META_RANK_MAP", " 0 : openmp , *:opencl:1", "0 : openmp,*:opencl:1");
    check_value("META_AUTO_DEVICES", "openmp, opencl:0 ", "openmp,opencl:0");
    check_value("META_AUTO_DEVICES", ",,", ",,");
    check_value("META_MODE", "OpenCL:1", "opencl:1");
    check_value("META_LEARN", "ON:My File", "on:My File");
    check_value("META_POLICY", "Type:GPU", "type:GPU");
}

static void names_of_files_and_commands_are_as_given(void)
{
    static const char *const names[] = {"META_BACKEND_PATH", "META_LOG_FILE", "META_CACHE_DIR",
                                        "META_KERNEL_PATH", "META_CC"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        check_value(names[k], " A b", " A b");
        check_value(names[k], "Off:x ", "Off:x ");
    }
}

static void blanks_alone_are_no_value(void)
{
    int count = 0;
    CHECK_OK(meta_variable_count(&count));
    for (int k = 0; k < count; ++k) CHECK(understood(k, " \t ") == NULL);
    CHECK(understood(0, "") == NULL);
}

TEST_MAIN(PROMISE(words_have_blanks_around_them_and_capital_letters), PROMISE(sizes_have_units),
          PROMISE(entries_of_lists_have_blanks_around_them),
          PROMISE(names_of_files_and_commands_are_as_given), PROMISE(blanks_alone_are_no_value))
