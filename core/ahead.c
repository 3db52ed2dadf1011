/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ahead.c
 *  What the core offers meta-kernel, as one table. */
#include "ahead.h"

#include "cache/cache.h"
#include "kernels/kernels.h"

static meta_err source(meta_kernel *kernel, meta_mode mode, meta_kernel_source *of, char **text)
{
    meta_call_name("meta-kernel");
    META_TRY(meta_user_open(kernel));
    *text =
        meta_user_text(kernel->state, meta_user_has_native(kernel, mode) ? META_USER_NATIVE : 0);
    if (!*text)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for the text of kernel %s",
                         kernel->name);
    *of = (meta_kernel_source){.size = sizeof *of,
                               .desc = &kernel->state->desc,
                               .type = (uint32_t)kernel->type,
                               .text = *text,
                               .user = kernel};
    return META_OK;
}

static meta_err check(meta_check_language language, const char *file, const char *text,
                      char *command, char **said)
{
    meta_call_name("meta-kernel");
    return meta_compiler_check(language, file, text, command, said);
}

static meta_err only(const char *folder)
{
    meta_call_name("meta-kernel");
    return meta_cache_only(folder);
}

static meta_err compile(const char *file, const char *text, int set)
{
    meta_call_name("meta-kernel");
    return meta_compile_ahead(file, text, set);
}

static meta_err prepare_built_in(void)
{
    meta_device *device;
    meta_call_name("meta-kernel");
    META_TRY(meta_device_current(&device));
    for (int k = 0; k < META_KERNEL_COUNT; ++k) {
        const meta_kernel_desc *desc = &meta_kernel_table[k];
        for (uint32_t type = 0; type < META_TYPE_COUNT; ++type) {
            meta_plugin_kernel *object;
            if (!(desc->types >> type & 1)) continue;
            const meta_err error = meta_kernel_object(device, desc, type, &object);
            if (error != META_OK && error != META_ERR_TYPE && error != META_ERR_UNSUPPORTED)
                return error;
        }
    }
    return META_OK;
}

const meta_ahead meta_ahead_table = {.version = META_AHEAD_VERSION,
                                     .size = sizeof(meta_ahead),
                                     .host = meta_plugin_host,
                                     .source = source,
                                     .ready = meta_user_ready,
                                     .check = check,
                                     .only = only,
                                     .put = meta_cached_put,
                                     .compile = compile,
                                     .set_named = meta_compiler_set_named,
                                     .prepare_built_in = prepare_built_in};
