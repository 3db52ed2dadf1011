/* SPDX-License-Identifier: BSD-3-Clause */
/** @file ahead.c
 *  What the core offers meta-kernel, as one table. */
#include "ahead.h"

#include "cache/cache.h"
#include "kernels/kernels.h"

/* Whether it has sums that can be made reproducible, and can run then. */
static bool can_be_reproducible(const meta_kernel *kernel)
{
    bool has_sum = false;
    for (uint32_t n = 0; n < kernel->parameters; ++n) {
        const meta_kernel_parameter *p = &kernel->parameter[n];
        if (meta_parameter_is_real_addition(p)) return false;
        if (meta_parameter_is_real_sum(p)) has_sum = true;
    }
    return has_sum;
}

static int codes(const meta_kernel *kernel, meta_mode mode, bool plain, meta_ahead_code *code)
{
    static const char *const plainly[2] = {"", " with META_REPRODUCIBLE=on"};
    static const char *const checked[2] = {" with META_CHECK=on",
                                           " with META_CHECK=on and META_REPRODUCIBLE=on"};
    const uint32_t own = meta_user_has_native(kernel, mode) ? META_USER_NATIVE : 0;
    const int modes = !plain && can_be_reproducible(kernel) ? 2 : 1;
    int count = 0;
    for (int exact = 0; exact < modes; ++exact) {
        code[count++] = (meta_ahead_code){own, exact, plainly[exact]};
        if (plain) break;
        code[count++] = (meta_ahead_code){META_USER_CHECKED | own, exact, checked[exact]};
        /* With which a body in the device's own language is compared. */
        if (own) code[count++] = (meta_ahead_code){META_USER_CHECKED, exact, checked[exact]};
    }
    return count;
}

static meta_err source(meta_kernel *kernel, const meta_ahead_code *code, meta_kernel_source *of,
                       char **text)
{
    struct meta_kernel_state *state;
    meta_call_name("meta-kernel");
    META_TRY(meta_user_open(kernel));
    META_TRY(meta_user_state(kernel, code->reproducible, &state));
    *text = meta_user_text(state, code->form);
    if (!*text)
        return meta_fail(META_ERR_NO_MEMORY, "the host has no memory for the text of kernel %s",
                         kernel->name);
    *of = (meta_kernel_source){.size = sizeof *of,
                               .desc =
                                   code->form & META_USER_CHECKED ? &state->checked : &state->desc,
                               .type = (uint32_t)kernel->type,
                               .text = *text,
                               .user = kernel};
    return META_OK;
}

static meta_err prepare(meta_kernel *kernel, const meta_ahead_code *code)
{
    struct meta_kernel_state *state;
    meta_device *device;
    meta_plugin_kernel *object;
    meta_call_name("meta-kernel");
    META_TRY(meta_device_current(&device));
    META_TRY(meta_user_open(kernel));
    META_TRY(meta_user_state(kernel, code->reproducible, &state));
    return meta_user_object_as(device, state, code->form, &object);
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
                                     .codes = codes,
                                     .source = source,
                                     .prepare = prepare,
                                     .ready = meta_user_ready,
                                     .check = check,
                                     .only = only,
                                     .put = meta_cached_put,
                                     .compile = compile,
                                     .set_named = meta_compiler_set_named,
                                     .prepare_built_in = prepare_built_in,
                                     .record = meta_compiler_record};
