/* SPDX-License-Identifier: BSD-3-Clause */
/** @file native.c
 *  Bodies in a back end's own language: whether a kernel file has one, which its text says. */
#include <stdbool.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/words.h"

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

bool meta_user_has_native(const meta_kernel *kernel, meta_mode mode)
{
    const language *l = language_of(mode);
    meta_words w = {.at = kernel->text, .line = 1};
    if (!l || !kernel->text || !strstr(kernel->text, l->word)) return false;
    for (meta_words_next(&w); w.length > 0; meta_words_next(&w)) {
        if (!meta_words_is(&w, l->word)) continue;
        meta_words_next(&w);
        if (!meta_words_is(&w, "(")) continue;
        meta_words_next(&w);
        if (meta_words_is(&w, kernel->name)) return true;
    }
    return false;
}
