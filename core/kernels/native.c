/* SPDX-License-Identifier: BSD-3-Clause */
/** @file native.c
 *  Bodies in a back end's own language: whether a kernel file has one, which its text says. */
#include <stdbool.h>
#include <string.h>

#include "kernels/kernels.h"

typedef struct language {
    const char *word; /* with which a body begins, META_NATIVE_OPENCL(heat) */
    const char *name;
} language;

static const language *language_of(meta_mode mode)
{
    static const language opencl = {"META_NATIVE_OPENCL", "OpenCL C"};
    static const language gpu = {"META_NATIVE_GPU", "CUDA or HIP"};
    switch (mode) {
    case META_OPENCL:
        return &opencl;
    case META_CUDA:
    case META_HIP:
        return &gpu;
    default:
        return NULL;
    }
}

const char *meta_user_language(const meta_device *device)
{
    const language *l = language_of(device->backend->mode);
    return l ? l->name : "C";
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n\f\v");
}

/* Behind the comment or quoted text that begins here; where none does, @p at. */
static const char *skip_aside(const char *at)
{
    const char quote = *at;
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (quote != '"' && quote != '\'') return at;
    for (++at; *at && *at != quote && *at != '\n'; ++at)
        if (at[0] == '\\' && at[1]) ++at;
    return *at ? at + 1 : at;
}

/* Whether the word at @p at is called with @p name. */
static bool begins_body(const char *at, size_t letters, const language *l, const char *name)
{
    const size_t length = strlen(name);
    if (letters != strlen(l->word) || memcmp(at, l->word, letters) != 0) return false;
    at = skip_blanks(at + letters);
    if (*at++ != '(') return false;
    at = skip_blanks(at);
    if (strncmp(at, name, length) != 0) return false;
    return *skip_blanks(at + length) == ')';
}

bool meta_user_has_native(const meta_kernel *kernel, meta_mode mode)
{
    const language *l = language_of(mode);
    if (!l || !kernel->text || !strstr(kernel->text, l->word)) return false;
    for (const char *at = kernel->text; *at;) {
        const char *behind = skip_aside(at);
        if (behind == at && is_letter(*at)) {
            while (is_letter(*behind)) ++behind;
            if (begins_body(at, (size_t)(behind - at), l, kernel->name)) return true;
        }
        at = behind == at ? at + 1 : behind;
    }
    return false;
}
