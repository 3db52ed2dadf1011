/* SPDX-License-Identifier: BSD-3-Clause */
/** @file kernel_target.c
 *  Reading the option --for. */
#include "config.h"

#include "kernel_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kernel_target_capability(const kernel_target *target)
{
    char *end;
    if (strncmp(target->detail, "sm_", 3) != 0) return 0;
    const long capability = strtol(target->detail + 3, &end, 10);
    return *end == '\0' && capability >= 10 && capability < 1000 ? (int)capability : 0;
}

static bool is_number(const char *text)
{
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0' && strlen(text) < 6;
}

/* What is wrong with the part behind the colon. */
static const char *wrong_detail(const kernel_target *t)
{
    static const char *const sets[] = {"baseline", "avx2", "avx512", "sve", "native"};
    if (*t->detail == '\0') return NULL;
    switch (t->language) {
    case LANGUAGE_CPU:
        for (size_t k = 0; k < sizeof sets / sizeof *sets; ++k)
            if (strcmp(t->detail, sets[k]) == 0) return NULL;
        return "an instruction set: baseline, avx2, avx512, sve or native";
    case LANGUAGE_CUDA:
        return kernel_target_capability(t) > 0 ? NULL : "a GPU's architecture, such as sm_90";
    case LANGUAGE_HIP:
        return strncmp(t->detail, "gfx", 3) == 0 ? NULL : "a GPU's architecture, such as gfx90a";
    case LANGUAGE_OPENCL:
        return is_number(t->detail) ? NULL : "the number of an OpenCL device, see meta-info";
    default:
        return "nothing behind it";
    }
}

static const struct {
    const char *name;
    kernel_language language;
} names[] = {{"cpu", LANGUAGE_CPU},       {"c", LANGUAGE_CPU},     {"c++", LANGUAGE_CXX},
             {"opencl", LANGUAGE_OPENCL}, {"cuda", LANGUAGE_CUDA}, {"hip", LANGUAGE_HIP}};

void kernel_target_text(const kernel_target *target, char *text, size_t room)
{
    size_t k = 0;
    while (names[k].language != target->language) ++k;
    snprintf(text, room, "%s%s%s", names[k].name, *target->detail != '\0' ? ":" : "",
             target->detail);
}

static bool read_one(const char *text, size_t length, kernel_target *t, const char **wrong)
{
    const char *colon = memchr(text, ':', length);
    const size_t name = colon ? (size_t)(colon - text) : length;
    *wrong = "one of cpu, c++, opencl, cuda and hip";
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        if (strlen(names[k].name) != name || strncmp(names[k].name, text, name) != 0) continue;
        t->language = names[k].language;
        *wrong = "a shorter one";
        const size_t detail = colon ? length - name - 1 : 0;
        if (detail >= sizeof t->detail) return false;
        snprintf(t->detail, sizeof t->detail, "%.*s", (int)detail, colon ? colon + 1 : "");
        return (*wrong = wrong_detail(t)) == NULL;
    }
    return false;
}

const char *kernel_targets_read(const char *text, kernel_targets *targets)
{
    static char message[256];
    targets->count = 0;
    for (const char *at = text;; ++at) {
        const size_t length = strcspn(at, ",");
        const char *wrong = "fewer targets";
        if (targets->count == MOST_TARGETS ||
            !read_one(at, length, &targets->target[targets->count], &wrong)) {
            snprintf(message, sizeof message, "--for: '%.*s': give %s",
                     length < 80 ? (int)length : 80, at, wrong);
            return message;
        }
        ++targets->count;
        at += length;
        if (*at == '\0') return NULL;
    }
}
